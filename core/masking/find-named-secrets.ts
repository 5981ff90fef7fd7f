import RE2 from 're2'
import { findAll } from './find-all.ts'
import type { HiddenRange } from './hidden-range.ts'
import { ORDINARY_WORDS } from './ordinary-words.ts'
import { SECRET_NAMES, type SecretName } from './secret-names.ts'

const KINDS = Object.keys(SECRET_NAMES) as readonly SecretName[]
const NAMES = KINDS.map((kind) => SECRET_NAMES[kind].join('|'))
/** One group for each kind of name. A name may be the end of a longer one: `DB_PASSWORD`. */
const SEARCH = new RE2(`(?i)${NAMES.map((names) => `(${names})`).join('|')}`, 'g')
/** `hunter2 is my password`, `use hunter2 as the password`. */
const AFTERWARDS = new RE2(
  `(?i)\\b(?:is|was|as|ist|als|est|es)[ \\t]{1,4}(?:the|my|your|our|his|her|their|a|das|mein|dein|unser|le|mon|la|mi)[ \\t]{1,4}(?:\\w{1,20}[ \\t]{1,4}){0,2}(?:${NAMES.join('|')})`,
  'g',
)

const QUOTES = `"'\`“”„«»‘’`
/** Of a quote in JSON within JSON. */
const BACKSLASHES = '\\\\{0,4}'
const END_OF_NAME = `${BACKSLASHES}[${QUOTES}]?`
/** What links a name to its value. All of them begin where the name ends and are bounded. */
const LINKS = {
  /** `password: `, `"password": `, `<password>`, `password=`. Only a colon may end a line. */
  sign: new RegExp(
    `${END_OF_NAME}[ \\t]{0,8}(?:(?::|：)[ \\t]{0,8}(?:(?:\\r?\\n|(?:\\\\r)?\\\\n)[ \\t]{0,16})?|(?:=>|:=|->|=|＝|>)[ \\t]{0,8})`,
    'y',
  ),
  /** `password is `, `password has been changed to `, `密码是`. */
  word: new RegExp(
    `${END_OF_NAME}(?:\\s{1,8}(?:(?:is|was|will be|becomes|ist|war|lautet|sei|est|es|era|é|è|jest|är|er|on|je|это)(?:\\s{1,8}(?:now|still|currently|always|just|simply|jetzt|nun))?(?:\\s{1,8}set to)?|(?:has been |was |is |wurde )?(?:changed|set|reset|updated|rotated|geändert) (?:to|auf))[:：]?\\s{1,8}|\\s{0,4}(?:是|为|為|は|은|는)[:：]?\\s{0,4})`,
    'iy',
  ),
  /** `password hunter2`, `password (hunter2)`. */
  none: /\s{1,4}[([]?/y,
} as const
type Link = keyof typeof LINKS
const LINK_ORDER: readonly Link[] = ['sign', 'word', 'none']

/** A value that is said to be a password afterwards, with what closes its quotes. */
const BEFORE_LINK = /([^\s"'`“”„«»‘’]{5,256})["'`“”»’]?[ \t]{1,4}$/
const BEFORE_MAX = 264
/** A value is hidden up to here: no password is longer, and of a longer token the rest is of no use. */
const VALUE_MAX = 4_096
const OPENING = new RegExp(`${BACKSLASHES}[${QUOTES}]`, 'y')
const CLOSING = /[\n"`“”»]|\\+["'nr]|['’](?!\p{L})/u
/** Where a value ends that has no quotes around it. */
const END = /[\s"'`“”„«»,;&<>|()[\]{}\\]/

interface Value {
  readonly start: number
  readonly text: string
  readonly is_quoted: boolean
  /** A call or an index, as in code: `token = read(…)`. */
  readonly is_call: boolean
}

/** Where values stand that are said to be a password, a token or a code. Linear in the length of the text. */
export function findNamedSecrets(text: string): HiddenRange[] {
  const ranges: HiddenRange[] = []
  const hide = (start: number, length: number): void => {
    ranges.push({ start, end: start + length })
  }
  for (const { groups, end } of findAll(SEARCH, text)) {
    const name = KINDS[groups.findIndex((group) => group !== undefined)] ?? 'password'
    for (const link of LINK_ORDER) {
      const at = endOf(LINKS[link], text, end)
      if (at === null) continue
      const value = readValue(text, at)
      if (isSecret(value, name, link)) hide(value.start, value.text.length)
      break
    }
  }
  for (const { start } of findAll(AFTERWARDS, text)) {
    const before = BEFORE_LINK.exec(text.slice(Math.max(0, start - BEFORE_MAX), start))
    const value = before?.[1] ?? ''
    if (hasLettersAndDigits(value) && !isPlaceholder(value))
      hide(start - (before?.[0].length ?? 0), value.length)
  }
  return ranges
}

function endOf(sticky: RegExp, text: string, at: number): number | null {
  sticky.lastIndex = at
  return sticky.test(text) ? sticky.lastIndex : null
}

function readValue(text: string, at: number): Value {
  const inside = endOf(OPENING, text, at)
  const start = inside ?? at
  const left = text.slice(start, start + VALUE_MAX)
  const end = left.search(inside === null ? END : CLOSING)
  const value = end < 0 ? left : left.slice(0, end)
  const is_call = inside === null && /[([{]/.test(left[end] ?? '')
  return { start, text: value, is_quoted: inside !== null, is_call }
}

/** Whether it is a value, rather than the next word of a sentence or what stands for a value in documents and code. */
function isSecret(value: Value, name: SecretName, link: Link): boolean {
  const { is_quoted, is_call } = value
  const text = value.text.replace(/[.!?…:]+$/, '')
  if (text.length < 3 || is_call || isPlaceholder(text)) return false
  if (ORDINARY_WORDS.has(text.toLowerCase())) return false
  const isCode = is_quoted && /\s/.test(text) && /[({;=]/.test(text)
  if (isCode) return false
  if (link === 'none')
    return name === 'password' && text.length >= 5 && hasLettersAndDigits(text) && !is_quoted
  if (name === 'password') return is_quoted || link === 'sign' || text.length >= 4
  if (name === 'code') return /\d/.test(text) || (is_quoted && text.length >= 8)
  if (hasLettersAndDigits(text)) return text.length >= 4
  return link === 'sign' && is_quoted && text.length >= 12 && !/\s/.test(text)
}

const hasLettersAndDigits = (text: string): boolean => /\d/.test(text) && /\p{L}/u.test(text)

/** `***`, `xxxx`, `<password>`, `${PASSWORD}`, `{{ password }}`, `%s`, `your_password`. */
const isPlaceholder = (text: string): boolean =>
  /^(?:[*•x.…_-]+$|[<{$%[]|(?:your|my)[-_ ])/i.test(text)
