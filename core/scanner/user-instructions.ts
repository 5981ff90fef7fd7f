import { CATEGORIES, type Category } from './categories.ts'
import { isDefended, isNamedCommand, withoutProtection } from './is-defended.ts'
import { modelFinds } from './model-finds.ts'
import { LEAST_WORDS, promptModel } from './model/learned-model.ts'
import { IN_LANGUAGES } from './patterns/built-in.ts'
import { isHidden } from './patterns/found-in.ts'
import type { Candidate, Place } from './placed-candidate.ts'
import type { SearchBudget } from './text/search-budget.ts'

/** Shorter texts are messages. */
const LEAST_BYTES = 1_500
/** A document shows what it is at its beginning. */
const READ_BYTES = 32_768

/** A heading, an item of a list, or a tag on its own line, but not one of HTML. */
const STRUCTURE =
  /^[ \t]*(?:#{1,6} |[-*•] |\d{1,2}[.)] |<\/?(?!(?:a|b|body|br|center|details|div|em|footer|form|h[1-6r]|head|header|html|i|img|li|main|nav|ol|p|pre|script|section|span|strong|style|summary|t[adhr]\w*|ul)\b)[a-z_][\w-]{0,40}>[ \t]*$|\*\*)/gim
/** How instructions speak. */
const DIRECTIVE =
  /\b(?:must|should|never|always|do not|don['’]t|avoid|ensure|make sure|only|use|when|if)\b/gi
/** Whom they speak to, and about whom. */
const ADDRESS =
  /\b(?:you (?:are|must|should|will|can|may|have|need)|your (?:task|role|goal|job|responses?|outputs?|answers?|purpose|capabilities|knowledge|tools?)|users?|assistants?|agents?|models?|claude|gpt)\b/gi

/** What a document has at least: in each thousand characters, and in all. */
const DIRECTIVES_PER_KB = 1.2
const STRUCTURE_PER_KB = 0.7
const LEAST_STRUCTURE = 6
const LEAST_ADDRESS = 3
/** Of prose without headings and lists. */
const ADDRESS_IN_PROSE_PER_KB = 4

const count = (text: string, expression: RegExp): number => text.match(expression)?.length ?? 0

/** JSON writes line breaks as escapes. */
const plain = (bytes: Buffer, start: number, end: number): string =>
  bytes
    .toString('utf8', start, end)
    .replaceAll('\\"', '"')
    .replaceAll('\\r', '')
    .replaceAll('\\n', '\n')
    .replaceAll('\\t', ' ')

/** Shorter texts are questions and orders. */
const LEAST_ADDRESSED_BYTES = 300
/** Prompts are shorter than other instructions. */
const LEAST_PROMPT_BYTES = 600
/** How a prompt speaks to the model that it is written for, and of its user. People speak to each other of no "the user". */
const PROMPT_ADDRESS =
  /\b(?:you (?:are (?!using|on|in\b|not|running|ready|welcome|looking|new|done)|must|should|will|never|always)|your (?:task|role|goal|job|responses?|outputs?|answers?|purpose|capabilities|knowledge|tools?|instructions?)|the user(?:['’]s)?|user (?:asks|requests|wants|says|provides)|(?:this|the) gpt|use this (?:skill|agent)|use when|as an? (?:ai|expert|assistant)|act as)\b/gi
const PROMPT_ADDRESS_PER_KB = 0.8

/** What a text is as a whole: a prompt for a model, other instructions such as a skill or rules for agents, one that speaks to a reader or of one at least, or none of these. */
export type Instructions = 'prompt' | 'instructions' | 'addressed' | 'none'

/**
 * What a text as a whole says: both kinds have many directives. A prompt speaks to one model, of its user; other instructions speak to a
 * model or about its users, and are laid out as a document.
 */
export const instructionsOf = (
  bytes: Buffer,
  { start, end }: Pick<Place, 'start' | 'end'>,
): Instructions => {
  if (end - start < LEAST_ADDRESSED_BYTES) return 'none'
  const text = plain(bytes, start, Math.min(end, start + READ_BYTES))
  const kilobytes = text.length / 1_000
  const addressed = count(text, PROMPT_ADDRESS)
  const address = count(text, ADDRESS)
  const least: Instructions = addressed + address > 0 ? 'addressed' : 'none'
  if (end - start < LEAST_PROMPT_BYTES) return least
  if (count(text, DIRECTIVE) < DIRECTIVES_PER_KB * kilobytes) return least
  if (addressed >= LEAST_ADDRESS && addressed >= PROMPT_ADDRESS_PER_KB * kilobytes) return 'prompt'
  if (end - start < LEAST_BYTES) return least
  if (address >= ADDRESS_IN_PROSE_PER_KB * kilobytes) return 'instructions'
  const lines = count(text, STRUCTURE)
  const isLaidOut =
    address >= LEAST_ADDRESS && lines >= LEAST_STRUCTURE && lines >= STRUCTURE_PER_KB * kilobytes
  return isLaidOut ? 'instructions' : least
}

/** What instructions say to a model without being an attack: the words around it show whether it is one. */
const SAID_IN_INSTRUCTIONS: ReadonlySet<Category> = new Set([
  'instruction_override',
  'system_prompt_extraction',
  'role_manipulation',
  'role_change',
  'jailbreak',
])

/** What instructions do not say, but notes to a model in data, and forged turns. */
const NOT_IN_INSTRUCTIONS: ReadonlySet<string> = new Set([
  'chat_delimiter',
  'disable_safety',
  'label_for_reader',
  'new_task_header',
  'note_to_agent',
  'note_to_ai',
  'reader_told_to_hide',
])

/** A line that begins with such a demand needs no support, but as the first one of a block of code. */
const isDemand = ({ category, name }: Candidate): boolean =>
  category === 'system_prompt_extraction' || name.startsWith('ignore_')
const LINE_START = /(?:^|(?<!```\w*)\n)[ \t]*$/

/** How much is read before and behind a match, and of its line. */
const BEFORE_BYTES = 2_000
const AFTER_BYTES = 120
const LINE_BYTES = 400
/** The same without what else a long line says. */
const NEAR_BYTES = 80
/** Matches of a source that are looked at; further ones are findings. */
const LOOKS = 32
/** What a text is decides how far the line of a match must look like one of a prompt, and all other lines where only a model found something. */
const LIMITS = {
  prompt: { line: -0.9, rest: 1 },
  instructions: { line: -1.2, rest: 0.7 },
  addressed: { line: -2.2, rest: -0.1 },
}
/** How much more a line must look like one where instructions hardly ever hold what was found. */
const UNUSUAL = 1.5
/** What prompts say no more than others. */
const NOT_IN_PROMPTS: ReadonlySet<Category> = new Set(['custom', 'shell_injection'])

const isShort = (line: Buffer): boolean =>
  (line.toString().match(/[\p{L}\p{N}]+/gu)?.length ?? 0) < LEAST_WORDS

const lineAround = (
  bytes: Buffer,
  place: Pick<Place, 'start' | 'end'>,
  { start, end }: Pick<Candidate, 'start' | 'end'>,
  reach: number,
): Buffer => {
  const before = plain(bytes, Math.max(place.start, start - reach), start)
  const after = plain(bytes, end, Math.min(place.end, end + reach))
  return Buffer.from(
    before.slice(before.lastIndexOf('\n') + 1) +
      plain(bytes, start, end) +
      (after.split('\n', 1)[0] ?? ''),
  )
}

/** Shorter lines are judged with those that follow. */
const LEAST_PART = 80

/** Lines, of which short ones are joined. */
const partsOf = (text: string): string[] => {
  const parts: string[] = []
  let part = ''
  for (const line of text.split('\n')) {
    part += `${line}\n`
    if (part.length < LEAST_PART) continue
    parts.push(part)
    part = ''
  }
  parts.push(part)
  return parts
}

/**
 * What counts in texts of users, and in passages of an operator's text, that are instructions for a model as a whole. They forbid, name and
 * quote what attacks ask for.
 */
export class UserInstructions {
  readonly #bytes: Buffer
  readonly #budget: SearchBudget
  readonly #kinds = new Map<number, Instructions>()
  readonly #clean = new Map<number, boolean>()
  readonly #recorded = new Set<string>()
  #looks = 0

  constructor(bytes: Buffer, budget: SearchBudget) {
    this.#bytes = bytes
    this.#budget = budget
  }

  /**
   * Whether a match is only recorded: it is forbidden or reported, or its line is usual in prompts.
   */
  mayContain(place: Place, candidate: Candidate): boolean {
    const { category, name, via } = candidate
    const isOperators = place.speaker === 'operator' || place.is_passage === true
    if (!(place.speaker === 'user' || isOperators) || isHidden(name, via)) return false
    const found = this.#kindOf(place)
    if (found === 'none') return false
    // What was put into the words of an operator is read more sharply than what a user says.
    const kind = isOperators ? 'instructions' : found
    if (category === 'learned') return this.#isRestClean(place, kind)
    const isPrompt = kind === 'prompt'
    const isShell = category === 'shell_injection'
    const isSaid = SAID_IN_INSTRUCTIONS.has(category)
    const mayBeUsual =
      name !== 'chat_delimiter' &&
      (isPrompt ? !NOT_IN_PROMPTS.has(category) : isSaid && !IN_LANGUAGES.has(name)) &&
      (kind !== 'addressed' || via.length === 0)
    const mayBeDefended = mayBeUsual || isShell || CATEGORIES[category].may_be_ruled_out
    if (!mayBeDefended || this.#looks >= LOOKS) return false
    this.#looks += 1
    const { start, end } = candidate
    const before = plain(this.#bytes, Math.max(place.start, start - BEFORE_BYTES), start)
    const match = plain(this.#bytes, start, end)
    const after = plain(this.#bytes, end, Math.min(place.end, end + AFTER_BYTES))
    if (kind !== 'addressed') {
      if (isDefended(before, match, after)) return true
      if (isShell && isNamedCommand(before, after)) return true
    }
    if (!mayBeUsual) return false
    if (isPrompt && (category === 'role_change' || name === 'stay_in_character')) return true
    const line = lineAround(this.#bytes, place, candidate, LINE_BYTES)
    if (isShort(line) && (kind === 'addressed' || (isDemand(candidate) && LINE_START.test(before))))
      return false
    const isUsual = isSaid && !NOT_IN_INSTRUCTIONS.has(name) && !IN_LANGUAGES.has(name)
    const model = { ...promptModel(), threshold: LIMITS[kind].line - (isUsual ? 0 : UNUSUAL) }
    const near = lineAround(this.#bytes, place, candidate, NEAR_BYTES)
    return ![line, near].some((text) => modelFinds(text, model, this.#budget))
  }

  /** Each kind of match is recorded once in a text. */
  isFirst(key: string): boolean {
    const isFirst = !this.#recorded.has(key)
    this.#recorded.add(key)
    return isFirst
  }

  #kindOf(place: Place): Instructions {
    const kind = this.#kinds.get(place.start) ?? instructionsOf(this.#bytes, place)
    this.#kinds.set(place.start, kind)
    return kind
  }

  /** Whether the learned model finds nothing besides what the instructions protect themselves with. */
  #isRestClean(place: Place, kind: Exclude<Instructions, 'none'>): boolean {
    let isClean = this.#clean.get(place.start)
    if (isClean === undefined) {
      const text = withoutProtection(plain(this.#bytes, place.start, place.end))
      const model = { ...promptModel(), threshold: LIMITS[kind].rest }
      isClean = !partsOf(text).some((part) => modelFinds(Buffer.from(part), model, this.#budget))
      this.#clean.set(place.start, isClean)
    }
    return isClean
  }
}
