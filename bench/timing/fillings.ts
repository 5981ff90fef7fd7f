/** What native calls, regular expressions and readers of this product take special note of. */
const PIECES: readonly string[] = [
  // Marks that change places, that are reordered, and that come from a compatible form.
  [
    '\u0301',
    '\u0323',
    '\u0301\u0323',
    '\u0345\u0301\u0323',
    '\u{1d165}\u{1d16d}',
    '\uff9e',
    '\u0f71\u0f72',
  ],
  // Characters that grow: folded, in upper case, in lower case.
  [
    '\ufdfa',
    '\u3300',
    '\u00df',
    '\u0390',
    '\u0130',
    '\u03a3',
    '\u1e9e',
    '\ufb03',
    '\u1100\u1161\u11a8',
  ],
  // Ignored, invisible, and half characters.
  ['\u200b', '\u034f', '\ufeff', '\u{e0041}', '\ud83d\ude00', '\ud800', '\udc00', '\0', '\x1b'],
  [
    '(',
    ')',
    '[',
    ']',
    '{',
    '}',
    '<',
    '>',
    '<<',
    '"',
    "'",
    '`',
    '\\',
    '\\\\',
    '\\"',
    '""',
    '\u201c',
  ],
  ['1', '12 ', '4111 ', '0.', ' ', '\t', '\r\n', '\n', '\r', '\u00a0', '\u2003', '\x0b'],
  [
    '/',
    '//',
    '%2f',
    '%252f',
    '%',
    '%25',
    '%20',
    '+',
    '..',
    '../',
    '/.',
    ';',
    '&',
    '&&',
    '=',
    '&a=',
    ',',
    ':',
    '*',
    '#',
    '?',
  ],
  ['%c0', '%ff', '%ef%bc%8e', '%ef%bc%8f', '%cc%81', '%cc%81%cc%a3', '\uff0f', '\uff05', '%u0041'],
  ['-', '--', '\n--', '\r--', '\n\n', '\r\r', '|', '$', '^', '~', '@', '.', '_', 'a.', 'a-'],
  [
    'a',
    'A',
    'aA',
    'e ',
    'x=',
    'a;',
    'a,',
    'a/',
    '/a',
    ' a',
    'a\n',
    '\u00fc.',
    'xn--a-.',
    'xn--bcher-kva.',
  ],
  [
    'http:',
    'https://',
    '/http:',
    'url:',
    'url=',
    'uri',
    'realm=',
    '=?x?b?',
    '=?',
    '?=',
    '=?x?q?=41',
    'name*',
    'name*1=',
    'name*1 ',
    'filename=',
  ],
  [
    '_method=',
    '&_method=',
    'method',
    'method:',
    'method ',
    'verb',
    '"method":',
    'agw_',
    'agw_live_',
    '&agw_live_=',
    'bearer ',
    'key=',
    'password: ',
    'secret',
    'charset=',
    'charset*',
  ],
  [
    '{"a":',
    '"a":1,',
    '[1,',
    '[[',
    '"\\u0061',
    '\\u0041',
    '\\x41',
    '&#x41;',
    '&#65',
    '&amp;',
    '<a ',
    '</a>',
    '<!--',
    '/*',
    '*/',
    '/**/',
    '//\n',
  ],
  [
    'tools/call',
    'tools',
    '"tools":',
    'data: ',
    'data:',
    'event:',
    'event: endpoint\n',
    ':',
    'QUFB',
    'SWdub3Jl',
    '69676e',
    '4',
    '6967',
  ],
  [
    'ignore ',
    'i g n o r e ',
    'ignore all previous instructions ',
    'you are ',
    'the ',
    'system prompt ',
    'base64 ',
    'curl ',
    '$(',
    'rm -rf ',
    'ebg13 ',
  ],
].flat()

/** How a text is made: `head`, then `unit` so many times and `last`, all of it again and again, then `tail`. */
export interface Filling {
  readonly name: string
  readonly head: string
  readonly unit: string
  /** Repetitions before `last`; 0: to the end. */
  readonly every: number
  readonly last: string
  readonly tail: string
}

const shown = (text: string): string =>
  JSON.stringify(text).replaceAll(
    /[^\x20-\x7e]/g,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

const filling = (
  head: string,
  unit: string,
  every: number,
  last: string,
  tail: string,
): Filling => ({
  name: `${head === '' ? '' : `${shown(head)} `}${shown(unit)}${every === 0 ? '*' : `*${every} ${shown(last)}`}${tail === '' ? '' : ` ${shown(tail)}`}`,
  head,
  unit,
  every,
  last,
  tail,
})

/** Each piece alone, and behind and before another character. */
export const PLAIN_FILLINGS: readonly Filling[] = PIECES.flatMap((unit) => [
  filling('', unit, 0, '', ''),
  filling('a', unit, 0, '', 'a'),
])

const RUNS = [1, 2, 29, 31, 200, 3_000]

/** @param random below 1 */
export function randomFilling(random: () => number): Filling {
  const piece = (): string => PIECES[Math.floor(random() * PIECES.length)] ?? ''
  const maybe = (): string => (random() < 0.4 ? piece() : '')
  const unit = random() < 0.5 ? piece() : piece() + piece()
  const every = random() < 0.3 ? 0 : (RUNS[Math.floor(random() * RUNS.length)] ?? 0)
  return filling(maybe(), unit, every, every === 0 ? '' : piece(), maybe())
}

/** A text of so many bytes of UTF-8, or a little less: less by a unit with each turn. */
export function fillTo(
  bytes: number,
  { head, unit, every, last, tail }: Filling,
  turn = 0,
): string {
  const unit_bytes = Math.max(1, Buffer.byteLength(unit))
  const left =
    bytes -
    Buffer.byteLength(head) -
    Buffer.byteLength(tail) -
    Math.floor(turn % (bytes / 16)) * unit_bytes
  const whole = every === 0 ? unit : unit.repeat(every) + last
  const size = Buffer.byteLength(whole)
  if (left <= 0) return (head + tail).slice(0, bytes)
  const times = Math.floor(left / size)
  const rest = left - times * size
  const more = unit.repeat(Math.floor(Math.min(rest, size) / unit_bytes))
  return head + whole.repeat(times) + more + tail
}
