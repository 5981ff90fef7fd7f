import { SEEN } from '../text/disguise-signs.ts'
import type { WindowView } from '../text/text-scanner.ts'
import { decodeAscii85, decodeUu } from './decode-base.ts'
import type { DerivedText } from './derived-text.ts'

/** Enough for an attack; more of one encoded text is not decoded. */
const LONGEST_SOURCE_BYTES = 4_096
/** Encoded texts of one window; each is bounded. */
const MOST_TEXTS = 8
const AROUND_BYTES = 600

/** The text of a JSON string without its usual escapes. */
const unescaped = (source: Buffer, start: number, end: number): string =>
  source
    .toString('latin1', start, end)
    .replace(/\\(["\\/nrt])/g, (_, one: string) =>
      one === 'n' || one === 'r' ? '\n' : one === 't' ? ' ' : one,
    )

const derived = (
  via: DerivedText['via'],
  text: Buffer,
  start: number,
  end: number,
): DerivedText => ({
  via,
  text,
  start,
  end,
})

/** Ascii85 in its marks. */
const ascii85 = (view: WindowView, window: Buffer): DerivedText[] => {
  const texts: DerivedText[] = []
  let at = window.indexOf('<~')
  while (at >= 0 && texts.length < MOST_TEXTS) {
    const start = view.offsets[at] as number
    const limit = Math.min(view.source.length, start + LONGEST_SOURCE_BYTES)
    const close = view.source.subarray(start, limit).indexOf('~>')
    const end = close < 0 ? limit : start + close
    texts.push(derived('base85', decodeAscii85(unescaped(view.source, start + 2, end)), start, end))
    at = window.indexOf('<~', at + 2)
  }
  return texts
}

const BEGIN = /^begin [0-7]{3,4} \S[^\n]{0,80}\n/

const uuencoded = (view: WindowView, window: Buffer): DerivedText[] => {
  const texts: DerivedText[] = []
  let at = window.indexOf('begin ')
  while (at >= 0 && texts.length < MOST_TEXTS) {
    const start = view.offsets[at] as number
    const end = Math.min(view.source.length, start + LONGEST_SOURCE_BYTES)
    const text = unescaped(view.source, start, end)
    const head = BEGIN.exec(text)
    if (head !== null)
      texts.push(derived('uuencode', decodeUu(text.slice(head[0].length).split(/\n+/)), start, end))
    at = window.indexOf('begin ', at + 6)
  }
  return texts
}

/** Words that most attacks have, in ROT47 and as the window holds them. */
const WORDS47 =
  /ac6g:@fd|:\?dec|djde6>|ac@>ae|8\?@c6|cf=6d|c6g62=|\bj@fc?\b|7@c86e|\?dh6c|c6dec:4|:=e6cd?\b|8f:56=|276ej|c6da@\?5|ac6e6\?5|a2ddh@c5|56g6=@|h:e9@fe/g
/** Fewer occur by chance. */
const LEAST_WORDS47 = 2

const rot47 = (view: WindowView, window: Buffer): DerivedText[] => {
  const places = Array.from(window.toString('latin1').matchAll(WORDS47), ({ index }) => index)
  const first = places[0]
  const last = places.at(-1)
  if (first === undefined || last === undefined || places.length < LEAST_WORDS47) return []
  const start = Math.max(0, (view.offsets[first] as number) - AROUND_BYTES)
  const end = Math.min(
    view.source.length,
    start + LONGEST_SOURCE_BYTES,
    (view.offsets[last] as number) + AROUND_BYTES,
  )
  const text = unescaped(view.source, start, end).replace(/[!-~]/g, (character) =>
    String.fromCharCode(33 + ((character.charCodeAt(0) - 33 + 47) % 94)),
  )
  return [derived('rot47', Buffer.from(text, 'latin1'), start, end)]
}

/** Texts in encodings that marks or telling words announce. */
export const deriveMarked = (view: WindowView): DerivedText[] => {
  const { seen, symbols } = view.signs
  const hasSymbols = symbols.length > 1
  const hasMarks = (seen & SEEN.tilde) !== 0 && (seen & SEEN.less_than) !== 0
  if (!hasSymbols && !hasMarks) return []
  const window = view.text.subarray(0, view.end)
  return [
    ...(hasMarks && window.includes('<~') ? ascii85(view, window) : []),
    ...(hasSymbols && window.includes('begin ') ? uuencoded(view, window) : []),
    ...(hasSymbols && (seen & SEEN.at) !== 0 && window.includes(0x40) ? rot47(view, window) : []),
  ]
}
