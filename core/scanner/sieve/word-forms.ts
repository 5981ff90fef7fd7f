import { foldCodePoint, KIND, KIND_SHIFT } from '../text/fold.ts'
import { KEY_LENGTH } from '../text/token-table.ts'

/**
 * What an expression says about the words of a text: beginnings of words in order, where words are runs of letters and digits, as
 * the tokeniser cuts them. A set has one beginning of each alternative, of at most `KEY_LENGTH` letters; `''` says that there
 * need be no word. Between two sets that follow one another is a border of words, and no other word; null is any text.
 */
export type WordForm = readonly (ReadonlySet<string> | null)[]

/** In a set: a word with letters beyond ASCII. */
export const BEYOND = '\u0080'

/** More forms or words than this are put together into fewer that say less. */
const FORMS = 48
const WORDS = 768

const NO_WORD: ReadonlySet<string> = new Set([''])
const NOTHING: readonly WordForm[] = [[NO_WORD]]
const BORDER: readonly WordForm[] = [[NO_WORD, NO_WORD]]
const ANY: readonly WordForm[] = [[null]]
const WORDS_BETWEEN: WordForm = [NO_WORD, NO_WORD, null, NO_WORD, NO_WORD]

const isNoWord = (piece: ReadonlySet<string> | null | undefined): boolean =>
  piece instanceof Set && piece.size === 1 && piece.has('')

const kindOf = (character: string): number =>
  (foldCodePoint(character.codePointAt(0) ?? 0) >> KIND_SHIFT) & 7

const isBeyond = (character: string): boolean => {
  const kind = kindOf(character)
  return character > '\u007f' && (kind === KIND.word || kind === KIND.ideograph)
}

const joinWords = (a: string, b: string): string => {
  if (a.endsWith(BEYOND) || b.startsWith(BEYOND)) return BEYOND
  return (a + b).slice(0, KEY_LENGTH)
}

/** Without what says nothing: no word between two borders, or within any text. */
const shortened = (form: WordForm): WordForm => {
  const kept: (ReadonlySet<string> | null)[] = []
  for (const [at, piece] of form.entries()) {
    const before = kept.at(-1)
    const after = form[at + 1]
    const isInner = before !== undefined && after !== undefined
    if (isInner && isNoWord(piece) && (before === null) === (after === null)) continue
    if (piece !== null || before !== null) kept.push(piece)
  }
  return kept
}

const touch = (a: WordForm, b: WordForm): WordForm => shortened(touching(a, b))

/** Two forms that touch: the last word of one goes on in the first of the other. */
const touching = (a: WordForm, b: WordForm): WordForm => {
  const last = a.at(-1) ?? null
  const first = b[0] ?? null
  const rest = b.slice(1)
  if (last === null && first === null) return [...a, ...rest]
  if (last === null || first === null) return [...a, ...b]
  if (isNoWord(last)) return [...a.slice(0, -1), first, ...rest]
  if (isNoWord(first)) return [...a, ...rest]
  if (last.size * first.size > WORDS) return [...a, null, ...b]
  const both = new Set<string>()
  for (const one of last) for (const other of first) both.add(joinWords(one, other))
  return [...a.slice(0, -1), both, ...rest]
}

const shapeOf = (form: WordForm): string =>
  form.map((piece) => (piece === null ? '*' : isNoWord(piece) ? '' : 'w')).join(' ')

const mergePieces = (
  a: ReadonlySet<string> | null,
  b: ReadonlySet<string> | null,
): ReadonlySet<string> | null => (a === null || b === null ? null : new Set([...a, ...b]))

/** Forms of the same shape as one. */
export const mergeByShape = (forms: readonly WordForm[]): readonly WordForm[] => {
  const shapes = new Map<string, WordForm>()
  for (const form of forms) {
    const shape = shapeOf(form)
    const held = shapes.get(shape)
    shapes.set(
      shape,
      held === undefined ? form : held.map((piece, i) => mergePieces(piece, form[i] ?? null)),
    )
  }
  return Array.from(shapes.values())
}

const inSequence = (
  before: readonly WordForm[],
  after: readonly WordForm[],
): readonly WordForm[] => {
  let [a, b] = [before, after]
  if (a.length * b.length > FORMS) b = mergeByShape(b)
  if (a.length * b.length > FORMS) a = mergeByShape(a)
  if (a.length * b.length > FORMS) b = [edges(b)]
  if (a.length * b.length > FORMS) a = [edges(a)]
  return a.flatMap((one) => b.map((other) => touch(one, other)))
}

const isEmpty = (form: WordForm): boolean => form.length === 1 && isNoWord(form[0])

const isBorder = (a: ReadonlySet<string> | null | undefined, b: typeof a): boolean =>
  isNoWord(a) && b instanceof Set

/** Any text, with what is sure about its two ends: a form that may be empty has no border of its own. */
const edges = (forms: readonly WordForm[]): WordForm => {
  const starts = forms.every((form) => isBorder(form[0], form[1]))
  const ends = forms.every((form) => isBorder(form.at(-1), form.at(-2)))
  return [...(starts ? [NO_WORD, NO_WORD] : []), null, ...(ends ? [NO_WORD, NO_WORD] : [])]
}

const repeated = (forms: readonly WordForm[], least: number, most: number): readonly WordForm[] => {
  if (least === 1 && most === 1) return forms
  if (least === 0 && most === 1) return [...forms, ...NOTHING]
  const full = forms.filter((form) => !isEmpty(form))
  if (full.length === 0) return NOTHING
  if (full.every((form) => form.every(isNoWord)))
    return least > 0 && full.length === forms.length ? BORDER : [...BORDER, ...NOTHING]
  const between = edges(full)
  if (least === 0) return [between, ...NOTHING]
  // The first one is known, and what follows ends like one.
  return [...forms, ...inSequence(forms, [between])]
}

const literal = (character: string): readonly WordForm[] => {
  if (/[a-z0-9]/.test(character)) return [[new Set([character])]]
  return isBeyond(character) ? [[new Set([BEYOND])]] : BORDER
}

/** What the forms of a list of words are, by its name in an expression. */
export type FormsOfList = (name: string) => readonly WordForm[]

/** Reads an expression that is folded, with its abbreviations. */
class Reader {
  readonly #text: string
  readonly #formsOfList: FormsOfList
  #at = 0

  constructor(text: string, formsOfList: FormsOfList) {
    this.#text = text
    this.#formsOfList = formsOfList
  }

  whole(): readonly WordForm[] {
    const forms = this.#alternatives()
    if (this.#at < this.#text.length) throw new Error(`unread: ${this.#text.slice(this.#at)}`)
    return forms
  }

  #alternatives(): readonly WordForm[] {
    let forms = this.#sequence()
    while (this.#text[this.#at] === '|') {
      this.#at += 1
      forms = [...forms, ...this.#sequence()]
    }
    return forms.length > 4 * FORMS ? mergeByShape(forms) : forms
  }

  #sequence(): readonly WordForm[] {
    let forms = NOTHING
    while (this.#at < this.#text.length && !'|)'.includes(this.#text[this.#at] as string))
      forms = inSequence(forms, this.#letters() ?? this.#repeated(this.#one()))
    return forms
  }

  #match(expression: RegExp): RegExpExecArray | null {
    expression.lastIndex = this.#at
    const match = expression.exec(this.#text)
    if (match !== null) this.#at += match[0].length
    return match
  }

  /** A run of letters none of which is repeated. */
  #letters(): readonly WordForm[] | null {
    const match = this.#match(/[a-z0-9]+(?![*+?{])/y)
    return match === null ? null : [[new Set([match[0].slice(0, KEY_LENGTH)])]]
  }

  #repeated(forms: readonly WordForm[]): readonly WordForm[] {
    const match = this.#match(/(?:\{(\d+)(?:(,)(\d*))?\}|([*+?]))\??/y)
    if (match === null) return forms
    const [, from, comma, to, sign] = match
    if (sign !== undefined) return repeated(forms, sign === '+' ? 1 : 0, sign === '?' ? 1 : 2)
    const least = Number(from)
    const most = comma === undefined ? least : to === '' ? 2 : Number(to)
    return repeated(forms, Math.min(least, 2), most)
  }

  #one(): readonly WordForm[] {
    const character = String.fromCodePoint(this.#text.codePointAt(this.#at) ?? 0)
    if (character === '{') {
      const list = this.#match(/\{([a-z][a-z_0-9]*)\}/y)?.[1]
      if (list !== undefined)
        return /^[gs]\d+$/.test(list) ? [WORDS_BETWEEN] : this.#formsOfList(list)
    }
    this.#at += character.length
    if (character === '(') {
      this.#match(/\?:/y)
      const forms = this.#alternatives()
      if (this.#text[this.#at] !== ')') throw new Error('a group without its end')
      this.#at += 1
      return forms
    }
    if (character === '[') return this.#class()
    if (character === '\\') return this.#escape()
    if (character === '.') return ANY
    return character === '^' || character === '$' ? BORDER : literal(character)
  }

  #class(): readonly WordForm[] {
    const match = this.#match(/(\^?)((?:\\.|[^\\\]])(?:\\.|[^\\\]])*)\]/suy)
    if (match === null) throw new Error('a class without its end')
    const [, negation, members = ''] = match
    if (negation === '^') return /a-z.*0-9|\\w/.test(members) ? BORDER : ANY
    if (/[^\\]-.|\\[wdSDW]/.test(members)) return ANY
    const characters = members.replace(/\\[nrtsvf]/g, ' ').replace(/\\(.)/gu, '$1')
    const forms = Array.from(new Set(characters)).flatMap(literal)
    return mergeByShape(forms)
  }

  #escape(): readonly WordForm[] {
    const character = this.#text[this.#at] as string
    this.#at += 1
    if ('bAznrtfvsW'.includes(character)) return BORDER
    return /[a-zA-Z0-9]/.test(character) ? ANY : literal(character)
  }
}

/** @param expression folded, with its abbreviations */
export const readForms = (expression: string, formsOfList: FormsOfList): readonly WordForm[] =>
  new Reader(expression, formsOfList).whole()

/**
 * A word that must stand in the text, and whether it directly follows the one before. `*` ends what is only the beginning of the
 * word, if it is shorter than what words are known by.
 */
export type NeededWord = { readonly words: ReadonlySet<string>; readonly isNext: boolean }

export const PREFIX = '*'

const sureWords = (form: WordForm, at: number): ReadonlySet<string> | null => {
  const piece = form[at]
  if (piece === null || piece === undefined || piece.has('')) return null
  if (!Array.from(piece).some((word) => word !== BEYOND)) return piece
  // The word may have letters before it.
  if (at === 0 || form[at - 1] === null) return null
  if (at + 1 < form.length && form[at + 1] !== null) return piece
  return new Set(
    Array.from(piece, (word) =>
      word === BEYOND || word.length === KEY_LENGTH ? word : word + PREFIX,
    ),
  )
}

/** The words that a text of this form has, in order. */
export const stepsOf = (form: WordForm): readonly NeededWord[] => {
  const steps: NeededWord[] = []
  let isNext = false
  for (const [at, piece] of form.entries()) {
    if (isNoWord(piece)) continue
    const words = sureWords(form, at)
    if (words !== null) steps.push({ words, isNext })
    isNext = words !== null
  }
  return steps
}
