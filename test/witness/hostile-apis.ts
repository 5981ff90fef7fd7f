import type { Operator } from '../kit/operator.ts'
import type { KeyHeader } from '../kit/start-redirect-apis.ts'
import { type RawUpstream, startRawUpstream } from '../kit/start-raw-upstream.ts'
import type { Places } from './random-answers.ts'

/** A hostile API, what it must not lead clients to, and an agent that may call all of it. */
export interface HostileApis {
  readonly key: string
  readonly headers: Readonly<Record<string, string>>
  readonly places: Places
  /** Answers of the hostile API by what stands behind `/r/` in the path. */
  readonly answers: Map<string, string>
  /** Base URL of the hostile API. */
  readonly mine: string
  /** Heads of what arrived, by where. */
  readonly heads: Readonly<
    Record<'mine' | 'other' | 'neighbour' | 'same_host' | 'other_host', () => readonly string[]>
  >
  readonly stop: () => Promise<void>
}

export const STORED = {
  mine: 'stored-for-mine',
  other: 'stored-for-other',
  neighbour: 'stored-for-neighbour',
} as const

/** @param gateway the listener's origin, as the client calls it */
export async function startHostileApis(
  operator: Operator,
  gateway: string,
  keyHeader: KeyHeader,
): Promise<HostileApis> {
  const answers = new Map<string, string>()
  const ok = (): string => 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'
  const answer = (head: string): string =>
    answers.get(/^\S+ \S*?\/r\/([\w-]+)[^ ]* HTTP/.exec(head)?.[1] ?? '') ?? ok()
  const [first, second] = await neighbouringPorts(answer, ok)
  const [same, elsewhere] = [await startRawUpstream(ok), await startRawUpstream(ok)]
  const agent = await operator.makeAgent()
  const other = `${second.origin}/v1`
  const neighbour = '/v1/two'
  for (const [base_url, token] of [
    [first.origin, STORED.mine],
    [other, STORED.other],
    [`${first.origin}${neighbour}`, STORED.neighbour],
  ] as const) {
    const auth =
      keyHeader === 'authorization'
        ? { type: 'bearer', token }
        : { type: 'header', name: keyHeader, value: token }
    const { integration_id } = await operator.makeIntegration(base_url, { auth })
    await operator.makeScope(agent.agent_id, integration_id)
  }
  const isNeighbour = (head: string): boolean => head.includes(STORED.neighbour)
  return {
    key: agent.api_key,
    headers: {
      [keyHeader]: keyHeader === 'authorization' ? `Bearer ${agent.api_key}` : agent.api_key,
    },
    places: {
      gateway: new URL(gateway),
      other,
      neighbour,
      same_host: new URL(same.origin).host,
      other_host: new URL(elsewhere.origin).host.replace('127.0.0.1', 'localhost'),
    },
    answers,
    mine: `${first.origin}/v1`,
    heads: {
      mine: () => first.heads.filter((head) => !isNeighbour(head)),
      other: () => second.heads,
      neighbour: () => first.heads.filter(isNeighbour),
      same_host: () => same.heads,
      other_host: () => elsewhere.heads,
    },
    stop: async () => {
      await Promise.all([first, second, same, elsewhere].map((one) => one.stop()))
    },
  }
}

/** An origin is used once, since an integration of it may exist already. */
let nextPort = 3_000

/** Two APIs of which one's URL begins as the other's: a jar that compares paths by their beginning takes one for the other. */
async function neighbouringPorts(
  answer: (head: string) => string,
  ok: () => string,
): Promise<readonly [RawUpstream, RawUpstream]> {
  while (nextPort < 6_500) {
    const port = nextPort++
    const first = await startRawUpstream(answer, port).catch(() => null)
    const second = first && (await startRawUpstream(ok, port * 10 + 1).catch(() => null))
    if (first !== null && second !== null) return [first, second]
    await first?.stop()
  }
  throw new Error('no two such ports are free')
}
