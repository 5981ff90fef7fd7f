import type { Operator } from './operator.ts'
import { startRawUpstream } from './start-raw-upstream.ts'

/** An API that redirects its callers and sets cookies, another that it must not reach through them, and an agent of both. */
export interface RedirectApis {
  /** The header by which a client shows its key. */
  readonly headers: Readonly<Record<string, string>>
  /** Where a client begins: for each case the URL, through the gateway, of a response that redirects. */
  readonly cases: readonly RedirectCase[]
  /** Cases of which a call arrived at the other API. */
  readonly reached: () => string[]
  /** Cases that ended at the page of the same API to which they lead, with its credential. */
  readonly arrived: () => string[]
  /** The names of the cookies that came with each call whose path ends so, in order. */
  readonly cookiesAt: (ending: string) => string[]
  readonly urls: {
    readonly login: string
    readonly inside: string
    readonly deep: string
    readonly other: string
  }
  /** A redirect to another host that redirects back to the other API: nothing in the first response says so. */
  readonly third_party: {
    readonly url: string
    /** How often it was called, and how often with the agent's key. */
    readonly seen: () => { readonly calls: number; readonly with_key: number }
    readonly reached: () => boolean
  }
  readonly stop: () => Promise<void>
}

/** Where the client sends its key. Clients take `Authorization` along to the same host alone, and other headers everywhere. */
export type KeyHeader = 'authorization' | 'x-api-key'

export interface RedirectCase {
  readonly name: string
  readonly url: string
}

/** How `Location` may lead to another API; `G` is the gateway's origin, `P` its port, `V` the other API's base URL. */
const ATTACKS = [
  '/V',
  'G/V',
  '//127.0.0.1:P/V',
  'http://localhost:P/V',
  'http://2130706433:P/V',
  'http://127.1:P/V',
  'http://0x7f.0.0.1:P/V',
  'http://user@127.0.0.1:P/V',
  'HTTP://127.0.0.1:P/V',
  'http:/V',
  '../../../../../V',
  '../../V',
  '/./V',
  '/x/../V',
  '/x/%2e%2e/V',
  '\\V',
  '/\tV',
  '\\\\127.0.0.1:P\\V',
  'http://a.test\\@127.0.0.1:P/V',
] as const

/** Ordinary redirects of the same API. */
const ORDINARY = ['/v1/done', 'D/done', './D/done', '../done', '//A/v1/done'] as const
const STATUSES = [302, 307] as const

const COOKIES = [
  'plain=1; Path=/; Domain=127.0.0.1',
  'folder=1; Expires=Wed, 09 Jun 2100 10:18:14 GMT',
  'deep=1; Path=/v1/deep',
  '__Host-host=1; Path=/; Secure',
  'agw_session=1; Path=/',
]

/** @param gateway the listener's origin, as the client calls it */
export async function startRedirectApis(
  operator: Operator,
  gateway: string,
  keyHeader: KeyHeader = 'authorization',
): Promise<RedirectApis> {
  const locations: { readonly name: string; readonly status: number; readonly text: string }[] = []
  let back = ''
  const third = await startRawUpstream(
    () => `HTTP/1.1 302 X\r\nlocation: ${back}\r\ncontent-length: 0\r\n\r\n`,
  )
  // Another host, as clients compare them, at the same address.
  const away = third.origin.replace('127.0.0.1', 'localhost')
  const redirecting = await startRawUpstream((head) => {
    if (/\/away(?:\?\S*)? HTTP/.test(head))
      return `HTTP/1.1 302 X\r\nlocation: ${away}/\r\ncontent-length: 0\r\n\r\n`
    const place = /\/r\/(\d+)(?:\?\S*)? HTTP/.exec(head)?.[1]
    const { status, text } = locations[Number(place)] ?? { status: 0, text: '' }
    if (place !== undefined)
      return `HTTP/1.1 ${status} X\r\nlocation: ${text}\r\ncontent-length: 0\r\n\r\n`
    const cookies = /\/login(?:\?\S*)? HTTP/.test(head)
      ? COOKIES.map((cookie) => `set-cookie: ${cookie}\r\n`).join('')
      : ''
    return `HTTP/1.1 200 OK\r\n${cookies}content-length: 2\r\n\r\nok`
  })
  const other = await startRawUpstream(() => 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok')
  const [mine, theirs] = [`${redirecting.origin}/v1`, `${other.origin}/v1`]
  const agent = await operator.makeAgent()
  for (const [base_url, token] of [
    [mine, 'stored-for-one'],
    [theirs, 'stored-for-other'],
  ] as const) {
    const auth =
      keyHeader === 'authorization'
        ? { type: 'bearer', token }
        : { type: 'header', name: keyHeader, value: token }
    const made = await operator.makeIntegration(base_url, { auth })
    await operator.makeScope(agent.agent_id, made.integration_id)
  }
  back = `${gateway}/${theirs}/third`
  const { port } = new URL(gateway)
  for (const [kind, texts] of [
    ['attack', ATTACKS],
    ['ordinary', ORDINARY],
  ] as const)
    for (const text of texts)
      for (const status of STATUSES) {
        const name = `${status} ${text}`
        // By its query each call that arrives tells of its case.
        const marked = text
          .replace(/^G/, gateway)
          .replace(':P', `:${port}`)
          .replace('V', theirs)
          .replace('//A/', `//${new URL(mine).host}/`)
          .replace('D/', '../')
        locations.push({
          name,
          status,
          text: `${marked}${kind === 'attack' ? '/secret' : ''}?case=${locations.length}`,
        })
      }
  const casesOf = (heads: readonly string[], path: string, token: string): string[] => {
    const found = heads.filter((head) => head.includes(` ${path}?case=`) && head.includes(token))
    const numbers = found.map((head) => Number(/\?case=(\d+)/.exec(head)?.[1]))
    return [...new Set(numbers)].map((number) => locations[number]?.name ?? '')
  }
  return {
    headers: {
      [keyHeader]: keyHeader === 'authorization' ? `Bearer ${agent.api_key}` : agent.api_key,
    },
    cases: locations.map(({ name }, i) => ({ name, url: `${gateway}/${mine}/r/${i}` })),
    reached: () => casesOf(other.heads, '/v1/secret', 'stored-for-other'),
    arrived: () => casesOf(redirecting.heads, '/v1/done', 'stored-for-one'),
    cookiesAt: (ending) =>
      [...redirecting.heads, ...other.heads]
        .filter((head) => head.includes(`${ending} HTTP`))
        .map((head) => /\r\ncookie: (.*)/i.exec(head)?.[1] ?? '')
        .map((cookie) =>
          cookie
            .split(/;\s*/)
            .map((pair) => pair.split('=', 1)[0] ?? '')
            .toSorted((a, b) => (a < b ? -1 : 1))
            .join(' '),
        ),
    urls: {
      login: `${gateway}/${mine}/login`,
      inside: `${gateway}/${mine}/inside`,
      deep: `${gateway}/${mine}/deep/x`,
      other: `${gateway}/${theirs}/other`,
    },
    third_party: {
      url: `${gateway}/${mine}/away`,
      seen: () => ({
        calls: third.heads.length,
        with_key: third.heads.filter((head) => head.includes(agent.api_key)).length,
      }),
      reached: () => other.heads.some((head) => head.includes(' /v1/third HTTP')),
    },
    stop: async () => {
      await Promise.all([redirecting.stop(), other.stop(), third.stop()])
    },
  }
}

export const ORDINARY_NAMES: readonly string[] = ORDINARY.flatMap((text) =>
  STATUSES.map((status) => `${status} ${text}`),
)
