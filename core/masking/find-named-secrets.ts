import RE2 from 're2'
import { findAll, type MaskBudget } from './find-all.ts'
import type { HiddenRange } from './hidden-range.ts'
import { ORDINARY_WORDS } from './ordinary-words.ts'
import { SECRET_NAMES, type SecretName } from './secret-names.ts'

const KINDS = Object.keys(SECRET_NAMES) as readonly SecretName[]
const NAMES = KINDS.map((kind) => SECRET_NAMES[kind].join('|'))
/** One group per kind of name. A name may be the end of a longer one: `DB_PASSWORD`. */
const SEARCH = new RE2(`(?i)${NAMES.map((names) => `(${names})`).join('|')}`, 'g')
/** `hunter2 is my password`, `use hunter2 as the password`. */
const AFTERWARDS = new RE2(
  `(?i)\\b(?:is|was|as|ist|als|est|es)[ \\t]{1,4}(?:the|my|your|our|his|her|their|a|das|mein|dein|unser|le|mon|la|mi)[ \\t]{1,4}(?:\\w{1,20}[ \\t]{1,4}){0,2}(?:${NAMES.join('|')})`,
  'g',
)

const QUOTES = `"'\`“”„«»‘’`
/** A quote in JSON within JSON. */
const BACKSLASHES = '\\\\{0,4}'
/** `password"`, `user[password][]`, `**password**`, and the suffixes of some languages. */
const END_OF_NAME = `(?:[*_]{1,3}|\\](?:\\[\\])?|\\[\\])?${BACKSLASHES}[${QUOTES}]?(?:'s)?`
const IS = [
  'is|was|are|were|be|equals?|will be|becomes|should be|must be|has to be|remains',
  'ist|war|lautet|heißt|heisst|sei|est|es|son|era|é|è|to|je|jest|är|er|on|este|là|adalah|est[aá]',
  'это|есть|είναι|है|هي|هو|היא|הוא|คือ',
].join('|')
/** `password for the admin account is`, `password (admin):`. */
const WHOSE =
  '(?:\\s{1,4}(?:for|of|to|on|at|für|von|pour|de|para|per|для|от)(?:\\s{1,4}[^\\s:=]{1,32}){1,4}?|\\s{0,4}\\([^()\\n]{1,40}\\))?'
/** Links a name to its value. Each begins where the name ends and is bounded. */
const LINKS = {
  /** `password: `, `"password": `, `<password>`, `password=`. Only a colon may end a line. */
  sign: new RegExp(
    `${END_OF_NAME}${WHOSE}[ \\t]{0,8}(?:(?::|：)[*_]{0,3}[ \\t]{0,8}(?:(?:\\r?\\n|(?:\\\\r)?\\\\n)[ \\t]{0,16})?|(?:=>|:=|->|={1,3}|＝|>|[|?]|\\.{2,3}|[-–—](?=[ \\t]))[ \\t]{0,8})`,
    'y',
  ),
  /** `{"name":"password","value":"`, `"password","`, `<input name="password" value="`, `<password type="x">`. */
  member: new RegExp(
    `${BACKSLASHES}[${QUOTES}][ \\t]{0,4}(?:,[ \\t]{0,4}(?:${BACKSLASHES}[${QUOTES}]\\w{0,8}(?:value|text|data)${BACKSLASHES}[${QUOTES}][ \\t]{0,4}:[ \\t]{0,4})?(?=${BACKSLASHES}[${QUOTES}])|[^<>\\n]{0,80}\\bvalue=(?=[${QUOTES}]))|(?: [a-z][-\\w:]{0,20}=${BACKSLASHES}"[^"<>]{0,80}"){1,4}>`,
    'iy',
  ),
  /** `password is `, `password has been changed to `, `密码是`. */
  word: new RegExp(
    `${END_OF_NAME}${WHOSE}(?:\\s{1,8}(?:(?:${IS})(?:\\s{1,8}(?:now|still|currently|always|just|simply|jetzt|nun))?(?:\\s{1,8}set to)?|(?:has been |was |is |wurde )?(?:changed|set|reset|updated|rotated|geändert) (?:to|auf))[:：]?\\s{1,8}| c['’]est |\\s{0,4}(?:是|为|為|は|은|는|คือ)[:：]?\\s{0,4})`,
    'iy',
  ),
  /** `password hunter2`, `password (hunter2)`. */
  none: /(?:'s)?\s{1,4}[([]?|(?<=[密码碼口令]|ผ่าน)/y,
} as const
type Link = keyof typeof LINKS
const LINK_ORDER: readonly Link[] = ['sign', 'member', 'word', 'none']

/** A value that is called a password afterwards, with its closing quotes. */
const BEFORE_LINK = /([^\s"'`“”„«»‘’]{5,256})["'`“”»’]?[ \t]{1,4}$/
const BEFORE_MAX = 264
/** A value is masked up to this length: no password is longer, and the rest of a longer token is useless. */
const VALUE_MAX = 4_096
const OPENING = new RegExp(`${BACKSLASHES}[${QUOTES}]`, 'y')
const CLOSING = /[\n"`“”»]|\\+["'nr]|['’](?!\p{L})/u
/** Ends a value without quotes. */
const END = /[\s"'`“”„«»,;&<>|()[\]{}\\]/

/** The longest seed phrases have 24 words. */
const WORDS = /(?:[ \t]{1,4}[^\s"'`“”„«»,;&<>|()[\]{}\\.]{1,64}){0,23}/y

interface Value {
  readonly start: number
  readonly text: string
  readonly is_quoted: boolean
  /** A call or an index, as in code: `token = read(…)`. */
  readonly is_call: boolean
}

/** The positions of values that are named as a password, token or code. Linear in the length of the text. */
export function findNamedSecrets(text: string, budget: MaskBudget): HiddenRange[] {
  const ranges: HiddenRange[] = []
  const hide = (start: number, length: number): void => {
    ranges.push({ start, end: start + length })
  }
  for (const { groups, end } of findAll(SEARCH, text, budget)) {
    const name = KINDS[groups.findIndex((group) => group !== undefined)] ?? 'password'
    for (const link of LINK_ORDER) {
      const at = endOf(LINKS[link], text, end)
      if (at === null) continue
      const value = readValue(text, at)
      if (isSecret(value, name, link)) hide(value.start, lengthOf(value, name, text))
      break
    }
  }
  for (const { start } of findAll(AFTERWARDS, text, budget)) {
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

/** All words of the line for a phrase without quotes. */
function lengthOf(value: Value, name: SecretName, text: string): number {
  if (name !== 'phrase' || value.is_quoted) return value.text.length
  const from = value.start + value.text.length
  return (endOf(WORDS, text, from) ?? from) - value.start
}

/** Whether it is a value, rather than the next word of a sentence or a placeholder. */
function isSecret(value: Value, name: SecretName, link: Link): boolean {
  const { is_quoted, is_call } = value
  const text = value.text.replace(/(?<![.!?…:])[.!?…:]+$/, '')
  if (text.length < 3 || is_call || isPlaceholder(text)) return false
  if (name === 'phrase' && link === 'sign') return true
  if (ORDINARY_WORDS.has(text.toLowerCase())) return false
  const isCode = is_quoted && /\s/.test(text) && /[({;=]/.test(text)
  if (isCode) return false
  if (link === 'member' && !hasLettersAndDigits(text)) return false
  if (link === 'none') return !is_quoted && isSecretWithoutLink(text, name)
  if (name === 'password' || name === 'phrase')
    return is_quoted || link === 'sign' || text.length >= 4
  if (name === 'code') return /\d/.test(text) || (is_quoted && text.length >= 8)
  if (hasLettersAndDigits(text)) return text.length >= 4
  return link === 'sign' && is_quoted && text.length >= 12 && !/\s/.test(text)
}

/** `password hunter2`, `api_key 4f5b…`, `OTP 123456`: an ordinary word after the name of a secret rarely looks like this. */
function isSecretWithoutLink(text: string, name: SecretName): boolean {
  if (name === 'code') return /^\d{4,8}$/.test(text)
  return text.length >= (name === 'password' ? 5 : 16) && hasLettersAndDigits(text)
}

const hasLettersAndDigits = (text: string): boolean => /\d/.test(text) && /\p{L}/u.test(text)

/** `***`, `xxxx`, `<password>`, `${PASSWORD}`, `{{ password }}`, `%s`, `your_password`. */
const isPlaceholder = (text: string): boolean =>
  /^(?:[*•x.…_-]+$|[<{$%[]|(?:your|my)[-_ ])/i.test(text)
