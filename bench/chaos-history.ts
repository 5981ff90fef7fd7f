import { Agent } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { call, type HttpAnswer } from '../test/kit/call.ts'
import { operatorAt } from '../test/kit/operator.ts'
import type { SeededRandom } from '../test/kit/seeded-random.ts'
import type { SharedStack } from '../test/kit/shared-stack.ts'
import { until } from '../test/kit/until.ts'
import type { WebhookReceiver } from '../test/kit/webhook-receiver.ts'

/** What operators did at the same time through two admin services, and what broke a promise. */
export interface HistoryResult {
  readonly kills: number
  readonly changes: number
  readonly conflicts: number
  readonly calls: number
  /** Calls sent after a complete receipt (after an incomplete one: a lease later), and answered before the reactivation. */
  readonly served_while_killed: number
  /** Calls sent after the answer to a change that forbids them: of a deleted key, of a path that the scope lost. */
  readonly served_after_change: number
  /** Refused although the answer to the change that allows them came before. */
  readonly refused_after_change: number
  /** Two changes under If-Match answered 200 for one state, or a later read without an answered change. */
  readonly lost_updates: number
  /** Answered, and not in the log. */
  readonly entries_missing: readonly string[]
  /** In the log twice, with what each entry says. */
  readonly entries_doubled: readonly string[]
  /** Refused by an edge that died before Envoy had the answer, and allowed by the next: both are in the log. */
  readonly decided_twice: number
  /** Kills whose event was never delivered, or with several ids. */
  readonly events_missing: number
  readonly events_with_other_ids: number
  /** Of the verification of the archive. */
  readonly chain_problems: readonly unknown[]
  readonly archived_lines: number
}

const CYCLED_AGENTS = 3
const REGISTERS = 2
const WRITERS = 3
const LEASE_MS = 3_000
const LIMIT_MS = 15_000
const PAUSE_MS = 250
const AGAIN_MS = 200
const PAGE = 200
const ARCHIVED_LIMIT_MS = 300_000
const SHOWN_MAX = 20

interface Verified {
  readonly problems: readonly unknown[]
  readonly lines: number
}

interface Interval {
  readonly from_ms: number
  to_ms: number
}

/**
 * Kills and reactivates agents that call, changes records under If-Match, creates and deletes agents and keys, and narrows and
 * widens a scope, through two admin services; in the end compares what was answered with the log, its archive and the webhook.
 */
export async function startHistory(
  stack: SharedStack,
  receiver: WebhookReceiver,
  { admins, random }: { readonly admins: () => readonly string[]; readonly random: SeededRandom },
) {
  const operator = operatorAt(stack.apiUrl, stack.adminToken)
  const url = receiver.url('/kills')
  await operator.send('POST', '/webhooks', { name: 'history', url, events: ['agent_killed'] })
  const integration = await operator.makeIntegration(`${stack.echoOrigin}/history`)
  const connections = new Agent({ keepAlive: true, maxSockets: 64 })
  const state = {
    isOver: false,
    calls: 0,
    conflicts: 0,
    late: 0,
    forbidden: 0,
    refused: 0,
    lost: 0,
  }
  /** Marks of what must be in the log once, and of what may be, since no answer came. */
  const answered = new Set<string>()
  const marks = new Set<string>()
  /** The agent and the time of each kill: one that is sent again, since its answer was lost, reports those of the first. */
  const killed = new Map<string, string>()

  const ask = async (
    method: string,
    path: string,
    body?: object,
    more: Readonly<Record<string, string>> = {},
  ): Promise<HttpAnswer | null> => {
    const to = admins()[random.below(admins().length)] ?? stack.apiUrl
    const headers = {
      authorization: `Bearer ${stack.adminToken}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...more,
    }
    const sent = body === undefined ? {} : { body: JSON.stringify(body) }
    return await call({
      to,
      path,
      method,
      headers,
      connections,
      limit_ms: LIMIT_MS,
      ...sent,
    }).catch(() => null)
  }
  /** Until an answer says what happened. */
  const insist = async (
    statuses: readonly number[],
    method: string,
    path: string,
    body?: object,
    more?: Readonly<Record<string, string>>,
  ): Promise<HttpAnswer> => {
    for (;;) {
      const answer = await ask(method, path, body, more)
      if (answer !== null && statuses.includes(answer.status)) return answer
      if (answer !== null && answer.status < 500 && answer.status !== 429 && answer.status !== 409)
        throw new Error(`${method} ${path} answered ${answer.status}: ${answer.body.toString()}`)
      await wait(AGAIN_MS)
    }
  }
  const send = async (key: string, path: string): Promise<number> => {
    state.calls++
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'text/plain' }
    const target = `/${integration.base_url}${path}`
    const one = { to: stack.proxyUrl, path: target, method: 'PUT', headers, body: 'x', connections }
    return await call({ ...one, limit_ms: LIMIT_MS }).then(
      ({ status }) => status,
      () => 0,
    )
  }
  const some = (max_ms: number): Promise<void> => wait(PAUSE_MS + random.below(max_ms))

  const cycled = await Promise.all(
    Array.from({ length: CYCLED_AGENTS }, async () => {
      const agent = await operator.makeAgent()
      await operator.makeScope(agent.agent_id, integration.integration_id)
      return { agent, dead: [] as Interval[] }
    }),
  )
  let kills = 0
  const cycle = async ({ agent, dead }: (typeof cycled)[number]): Promise<void> => {
    const path = `/admin/agents/${agent.agent_id}`
    while (!state.isOver) {
      await some(1_500)
      const receipt = (await insist([200], 'POST', `${path}/kill`, {})).json()
      const now_ms = performance.now()
      kills++
      killed.set(receipt.killed_at, agent.agent_id)
      const interval = { from_ms: now_ms + (receipt.complete ? 0 : LEASE_MS), to_ms: Infinity }
      dead.push(interval)
      await some(receipt.complete ? 2_000 : LEASE_MS + 1_000)
      interval.to_ms = performance.now()
      await insist([200], 'POST', `${path}/reactivate`, { reason: 'history' })
    }
  }
  let number = 0
  const callCycled = async ({ agent, dead }: (typeof cycled)[number]): Promise<void> => {
    while (!state.isOver) {
      const mark = `cycle-${++number}-`
      marks.add(mark)
      const sent_ms = performance.now()
      const status = await send(agent.api_key, `/${mark}`)
      const got_ms = performance.now()
      if (status === 200 && dead.some((one) => sent_ms >= one.from_ms && got_ms <= one.to_ms))
        state.late++
      await wait(PAUSE_MS)
    }
  }

  const registers = await Promise.all(
    Array.from({ length: REGISTERS }, async () => ({
      agent: await operator.makeAgent({ metadata: { n: '0' } }),
      written: new Set<number>(),
    })),
  )
  let changes = 0
  const write = async ({ agent, written }: (typeof registers)[number]): Promise<void> => {
    const path = `/admin/agents/${agent.agent_id}`
    while (!state.isOver) {
      await some(1_000)
      const floor = Math.max(0, ...written)
      const read = await insist([200], 'GET', path)
      const n = Number(read.json().metadata.n)
      if (n < floor) state.lost++
      const mark = `write-${++number}-`
      marks.add(mark)
      const answer = await ask(
        'PATCH',
        path,
        { metadata: { n: String(n + 1), mark } },
        { 'if-match': read.header('etag') ?? '' },
      )
      if (answer?.status === 412) state.conflicts++
      if (answer?.status !== 200) continue
      changes++
      answered.add(mark)
      if (written.has(n + 1)) state.lost++
      written.add(n + 1)
    }
  }

  const create = async (): Promise<void> => {
    while (!state.isOver) {
      await some(2_000)
      const mark = `create-${++number}-`
      marks.add(mark)
      const key = { 'idempotency-key': mark }
      const made = await insist([201], 'POST', '/admin/agents', { agent_name: mark }, key)
      answered.add(mark)
      changes++
      await insist([204, 404], 'DELETE', `/admin/agents/${made.json().agent_id}`)
    }
  }

  const owner = await operator.makeAgent()
  const { scope_id } = await operator.makeScope(owner.agent_id, integration.integration_id)
  const keys = async (): Promise<void> => {
    const path = `/admin/agents/${owner.agent_id}/keys`
    while (!state.isOver) {
      await some(1_000)
      const name = `key-${++number}-`
      const made = await insist([201], 'POST', path, { name }, { 'idempotency-key': name })
      const { key, key_id } = made.json()
      if ((await send(key, '/allowed')) === 401) state.refused++
      await insist([204, 404], 'DELETE', `${path}/${key_id}`)
      changes += 2
      if ((await send(key, '/allowed')) === 200) state.forbidden++
    }
  }
  const scopes = async (): Promise<void> => {
    const path = `/admin/scopes/${scope_id}`
    const put = (paths: readonly string[]) =>
      insist([200], 'PUT', path, { rules: [{ methods: ['*'], paths }] })
    while (!state.isOver) {
      await some(1_000)
      await put(['/allowed'])
      if ((await send(owner.api_key, '/narrowed')) === 200) state.forbidden++
      await some(500)
      await put(['/allowed', '/narrowed'])
      if ((await send(owner.api_key, '/narrowed')) === 403) state.refused++
      changes += 2
    }
  }

  const running = Promise.all([
    ...cycled.flatMap((one) => [cycle(one), callCycled(one)]),
    ...registers.flatMap((one) => Array.from({ length: WRITERS }, () => write(one))),
    create(),
    keys(),
    scopes(),
  ])
  // It is awaited in the end.
  running.catch(() => undefined)

  const countMarks = async (query: string, counts: Map<string, string[]>): Promise<void> => {
    for (let cursor = ''; ; ) {
      const page = await until('a page of the activity log', () =>
        operator.send('GET', `/admin/activity?${query}&limit=${PAGE}${cursor}`).catch(() => null),
      )
      for (const { endpoint, decision, edge_id, data } of page.data) {
        const text: string = endpoint ?? JSON.stringify(data.after ?? null)
        for (const mark of new Set(text.match(MARK) ?? []))
          counts.set(mark, [...(counts.get(mark) ?? []), `${decision} by ${edge_id}`])
      }
      if (page.next_cursor === null) return
      cursor = `&cursor=${encodeURIComponent(page.next_cursor)}`
    }
  }
  const isArchived = async (): Promise<Verified | false> => {
    const found = (await insist([200], 'POST', '/admin/audit/verify')).json()
    return found.complete === true && found
  }
  return {
    end: async (): Promise<HistoryResult> => {
      state.isOver = true
      await running
      await stack.ready()
      for (const { agent, written } of registers) {
        const { metadata } = await operator.send('GET', `/admin/agents/${agent.agent_id}`)
        if (Number(metadata.n) < Math.max(0, ...written)) state.lost++
      }
      const counts = new Map<string, string[]>()
      await countMarks('event=admin_action', counts)
      for (const { agent } of cycled) await countMarks(`agent_id=${agent.agent_id}`, counts)
      const idsOf = (killed_at: string, agent_id: string): ReadonlySet<string> =>
        new Set(
          receiver.received('/kills').flatMap(({ body }) => {
            const event = JSON.parse(body.toString())
            return event.timestamp === killed_at && event.agent_id === agent_id ? [event.id] : []
          }),
        )
      await until(
        'every kill is delivered',
        () => [...killed].every((one) => idsOf(...one).size > 0),
        ARCHIVED_LIMIT_MS,
      ).catch(() => null)
      const ids = [...killed].map((one) => idsOf(...one).size)
      const verified = await until('all is archived', isArchived, ARCHIVED_LIMIT_MS).catch(
        (error: Error) => ({ problems: [error.message], lines: 0 }),
      )
      return {
        kills,
        changes,
        conflicts: state.conflicts,
        calls: state.calls,
        served_while_killed: state.late,
        served_after_change: state.forbidden,
        refused_after_change: state.refused,
        lost_updates: state.lost,
        entries_missing: [...answered].filter((mark) => !counts.has(mark)).slice(0, SHOWN_MAX),
        entries_doubled: [...marks]
          .flatMap((mark) => {
            const entries = counts.get(mark) ?? []
            return entries.length > 1 && !isDecidedTwice(entries)
              ? [`${mark} ${entries.join(', ')}`]
              : []
          })
          .slice(0, SHOWN_MAX),
        decided_twice: [...marks].filter((mark) => isDecidedTwice(counts.get(mark) ?? [])).length,
        events_missing: ids.filter((size) => size === 0).length,
        events_with_other_ids: ids.filter((size) => size > 1).length,
        chain_problems: verified.problems,
        archived_lines: verified.lines,
      }
    },
  }
}

const MARK = /(?:cycle|write|create)-\d+-/g

const isDecidedTwice = (entries: readonly string[]): boolean => {
  const [refusal, pass] = entries.toSorted().toReversed()
  const by = (said = ''): string => said.slice(said.indexOf(' by '))
  return (
    entries.length === 2 &&
    refusal?.startsWith('blocked ') === true &&
    pass?.startsWith('allowed ') === true &&
    by(refusal) !== by(pass)
  )
}

/** How many promises were broken. */
export const faultsOf = (history: HistoryResult): number =>
  history.served_while_killed +
  history.served_after_change +
  history.refused_after_change +
  history.lost_updates +
  history.entries_missing.length +
  history.entries_doubled.length +
  history.events_missing +
  history.events_with_other_ids +
  history.chain_problems.length
