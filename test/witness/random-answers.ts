import type { SeededRandom } from '../kit/seeded-random.ts'

/** The places that a hostile API tries to lead a client to. */
export interface Places {
  /** `127.0.0.1:8080`: the gateway, as the client calls it. */
  readonly gateway: URL
  /** Base URL of the integration of another API. */
  readonly other: string
  /** Base path of another integration at the origin of the hostile API. */
  readonly neighbour: string
  /** Another port of the gateway's host, and another host, neither of which is an API of the gateway. */
  readonly same_host: string
  readonly other_host: string
}

export interface Answer {
  readonly status: number
  /** Lines of the head, one character per byte. */
  readonly lines: readonly string[]
  /** What the client should reach: nothing, or the page of the same API. */
  readonly kind: 'attack' | 'ordinary'
}

const STATUSES = [301, 302, 303, 307, 308, 302, 307, 300, 305, 200, 201, 202, 401, 404] as const
const SCHEMES = [
  'http://',
  'HTTP://',
  '//',
  '///',
  '\\\\',
  '/\\',
  '\\/',
  'http:',
  'http:/',
  'http:///',
  'http:\\\\',
  'hTTp:/\\',
  'http:\t//',
  'ht\ttp://',
  'http:\n //',
  ' http://',
  '\x0bhttp://',
  'url:http://',
  'URL:http://',
  'feed:http://',
  'view-source:http://',
  'x:http://',
  'http:http://',
  'ws://',
  '/\t/',
  'http://http://',
] as const
const USERS = [
  '',
  '',
  '',
  'user@',
  'a:b@',
  'good.test\\@',
  'good.test#@',
  'good.test%2f@',
  '@',
  'good.test:80@',
] as const
const HOSTS = [
  '127.0.0.1',
  'localhost',
  'LOCALHOST',
  'localhost.',
  'x.localhost',
  '127.0.0.1.',
  '127.1',
  '2130706433',
  '0x7f000001',
  '0x7f.1',
  '017700000001',
  '0177.0.0.1',
  '127.0.00000.1',
  '0127.0.0.1',
  '0',
  '0.0.0.0',
  '[::1]',
  '[::]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[::1%25lo]',
  '127。0。0。1',
  '１２７.0.0.1',
  'ⓛocalhost',
  'local\u00adhost',
  '%6cocalhost',
  '127.0.0.1%2e',
  'localtest.invalid',
] as const
const CLIMBS = [
  '',
  '/.',
  '/x/..',
  '/%2e',
  '/x/%2e%2e',
  '/x/.%2e',
  '/..',
  '/../..',
  '/..;',
  '/;x',
  '//',
  '/%2f',
  '/%5c',
  '\\..',
  '/.\t.',
  '/x/..\\..',
  '/%252e%252e',
  '/..%2f..',
  '/..%00',
] as const
const RELATIVE = [
  '..',
  '../..',
  '../../..',
  '../../../..',
  './../..',
  '..%2f..%2f',
  '%2e%2e/%2e%2e',
  '..\\..\\..',
  '.',
  'x/../../../..',
  '..;/..',
  '?/../..',
  '#/../..',
] as const

const latin1 = (text: string): string => Buffer.from(text, 'utf8').toString('latin1')

/** A hostile answer; every place it leads to has the number of the case in its path. */
export function randomAnswer(random: SeededRandom, places: Places, number: number): Answer {
  if (random.below(8) === 0) return ordinaryAnswer(random, number)
  const count = random.pick([1, 1, 1, 2, 3])
  const lines = Array.from({ length: count }, () =>
    headerLine(
      random,
      Array.from({ length: 3 }, () => reference(random, places, number)),
    ),
  ).flat()
  return { status: random.pick(STATUSES), lines: lines.map(latin1), kind: 'attack' }
}

/** Relative references of an API that means well. */
function ordinaryAnswer(random: SeededRandom, number: number): Answer {
  const page = `done-${number}`
  const text = random.pick([
    `/v1/r/${page}`,
    page,
    `./${page}`,
    `../r/${page}`,
    `../../v1/./r/${page}`,
    `/v1/r/${page}?next=/http://a.test/`,
    `/v1/r/${page}#part`,
    `/v1/r/${page}?a=b%2Fc&d=%20`,
    `/%761/r/${page}`,
  ])
  const status = random.pick([301, 302, 303, 307, 308])
  return { status, lines: [`Location: ${text}`], kind: 'ordinary' }
}

function reference(random: SeededRandom, places: Places, number: number): string {
  const tail = `s${number}${random.pick(['', '', '?a=b', '#c', '/..;/x'])}`
  switch (random.below(9)) {
    case 0:
      return `${random.pick(SCHEMES)}${random.pick(USERS)}${random.pick([places.other_host, places.same_host])}/k${tail}`
    case 1:
      return `${random.pick(RELATIVE)}${random.pick(['', '/'])}${spelled(random, targetOf(places, tail))}`
    case 2:
      return `${random.pick(['', '/x/..', '/.', '//'])}${places.neighbour}/${tail}`
    case 3:
    case 4:
      return `${random.pick(CLIMBS)}/${spelled(random, targetOf(places, tail))}`
    case 5: {
      // Up to the slashes of the gateway's own path, and another host behind it.
      const host = new URL(places.other).host
      return `${random.pick(RELATIVE)}/${random.pick(['', '/', 'http:/', 'http://'])}${host}/v1/${tail}`
    }
    case 6:
      return `${random.pick(['/..%2f', '/..;/', '/.%2e%5c', '/%2e%2e%2f..%2f'])}${new URL(places.other).host}/v1/${tail}`
    default: {
      const port = random.pick(['', '', '0', '+', ' ', '000'])
      const host = `${random.pick(USERS)}${random.pick(HOSTS)}:${port}${places.gateway.port}`
      const path = random.below(3) === 0 ? `${places.neighbour}/${tail}` : targetOf(places, tail)
      return `${random.pick(SCHEMES)}${host}${random.pick(CLIMBS)}/${spelled(random, path)}`
    }
  }
}

const targetOf = ({ other }: Places, tail: string): string => `${other}/${tail}`

/** The same path in one of the ways that some reader takes for it. */
function spelled(random: SeededRandom, path: string): string {
  const at = random.below(Math.min(8, path.length))
  const hex = (code: number): string => code.toString(16).padStart(2, '0')
  const escape = (sign: string): string =>
    `${path.slice(0, at)}${sign}${hex(path.charCodeAt(at))}${path.slice(at + 1)}`
  switch (random.below(14)) {
    case 0:
      return escape('%')
    case 1:
      return escape('%25')
    case 2:
      return escape('%u00')
    case 3:
      return `${path.slice(0, at)}${random.pick(['\t', '\n ', '\r', '\0', '%09', '%0a', '\u200b', '\u00ad'])}${path.slice(at)}`
    case 4:
      return path.replace('http', random.pick(['HTTP', 'hTtP', 'ｈttp', 'http%00']))
    case 5:
      return path.replace(
        '://',
        random.pick([':/', ':', ':\\\\', '%3A//', '%3a%2f%2f', '：//', ':///', ':/./', ';//']),
      )
    case 6:
      return path.replaceAll('/', random.pick(['\\', '%2f', '／', '//']))
    default:
      return path
  }
}

function headerLine(random: SeededRandom, [a = '', b = '', c = '']: readonly string[]): string[] {
  switch (random.below(16)) {
    case 0:
      return [
        `Refresh: ${random.pick(['0; url=', '0;URL=', '0 ; Url = ', '0;', '0,', '0 ', ';', '0; url="', "0; url='", '0; x=', '0;url=;url='])}${a}${random.pick(['', '"', "'"])}`,
      ]
    case 1:
      return [
        `Link: ${random.pick(['<', '< ', '', '<x<', '"<'])}${a}>; rel=next${random.pick(['', `, <${b}>; rel=prev`, `,<https://a.test/,<${c}>>`, `; anchor="${b}"`])}`,
      ]
    case 2:
      return [
        `WWW-Authenticate: ${random.pick(['Bearer realm="', 'Bearer resource_metadata="', 'Basic realm="x", Bearer error="x", realm="', 'Bearer resource_metadata='])}${a}${random.pick(['"', ''])}`,
      ]
    case 3:
      return [
        `${random.pick(['Content-Location', 'Operation-Location', 'Azure-AsyncOperation', 'X-Goog-Upload-URL', 'OData-EntityId', 'X-Storage-Url'])}: ${a}`,
      ]
    case 4:
      return [`Location: ${a}`, `Location: ${b}`]
    case 5:
      return [`Location: ${a}, ${b}`]
    case 6:
      return [`Location:${random.pick(['\t', '', '   ', '\r\n '])}${a}`]
    case 7:
      return [
        `Location: ${random.pick(['<', '"', "'", 'URL='])}${a}${random.pick(['>', '"', "'", ''])}`,
      ]
    default:
      return [`${random.pick(['Location', 'LOCATION', 'location'])}: ${a}`]
  }
}

const NAMES = ['agw_session', 'AGW_SESSION', '__Host-agw_session', '__Secure-agw_session'] as const

/** Lines of `Set-Cookie` (and what may be taken for one); names of cookies begin with `c`. */
export function randomCookies(random: SeededRandom, places: Places, number: number): string[] {
  const name = `c${number}`
  const path = (): string =>
    random.pick([
      '/',
      '/',
      '',
      '/v1',
      `/${places.other}`,
      `/../${places.other}`,
      '/..',
      '"/"',
      '/;',
      'x',
      '/%2e%2e',
      '//',
      '/\t',
      '/http:',
      '/http://',
    ])
  const attribute = (): string =>
    random.pick([
      `Path=${path()}`,
      `path = ${path()}`,
      `PATH\t=${path()}`,
      `"Path"="/"`,
      `\xa0Path=${path()}`,
      `\x85Path=${path()}`,
      `Pa\0th=/`,
      `$Path="/"`,
      'Domain=127.0.0.1',
      'Domain=.0.0.1',
      'Domain=',
      'domain="127.0.0.1"',
      'Max-Age=1000',
      'max-age=1000, Path=/',
      'version=1',
      'Expires=Wed, 09 Jun 2100 10:18:14 GMT',
      'expires=Wed, 09 Jun 2100 10:18:14 GMT Path=/',
      'HttpOnly',
      'SameSite=None',
      'Partitioned',
      'Port="8080"',
      '',
    ])
  const value = (): string =>
    random.pick([
      '1',
      '"1"',
      '',
      `1 ${name}b=2`,
      `1, ${name}b=2`,
      `1,${name}b=2`,
      '1 Path=/',
      '1, Path=/',
      '1\tPath=/',
      '"1; Path=/',
      '"1\\"; Path=/"',
      '1\x0bPath=/',
      '1\x0cPath=/',
      '1\x1fPath=/',
      '1\x85Path=/',
      '1\nPath=/',
      '1\rPath=/; Path=/',
      `1 Path=/ ${name}b=2`,
      `1, Path=/, ${name}b=2`,
      `x Domain=127.0.0.1 Path=/ ${name}b=2`,
      '1"Path=/',
    ])
  const line = (): string => {
    const own =
      random.below(6) === 0
        ? random.pick(NAMES)
        : random.pick([
            name,
            name,
            name,
            `"${name}"`,
            ` ${name} `,
            `=${name}`,
            `__Secure-${name}`,
            `__Host-${name}`,
            `x ${name}`,
            `x, ${name}`,
            `x,${name}`,
          ])
    const attributes = random.some([0, 1, 2, 3], 0, 3).map(attribute)
    return `${random.pick(['Set-Cookie', 'set-cookie', 'SET-COOKIE', 'Set-Cookie2'])}: ${[`${own}=${value()}`, ...attributes].join(random.pick(['; ', ';', ' ; ']))}`
  }
  if (random.below(4) === 0)
    return [
      `Set-Cookie: ${name}=ordinary; ${random.pick(['Path=/', 'Path=/; HttpOnly', 'Path=/v1', 'path=/v1/; Max-Age=600', 'Path=/; Expires=Wed, 09 Jun 2100 10:18:14 GMT'])}`,
    ]
  return Array.from({ length: random.pick([1, 1, 2, 3]) }, line)
}
