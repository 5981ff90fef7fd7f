import { Agent } from 'node:http'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as wait } from 'node:timers/promises'
import { call, type HttpAnswer } from '../test/kit/call.ts'
import type { SharedStack } from '../test/kit/shared-stack.ts'
import { until } from '../test/kit/until.ts'
import type { WebhookReceiver } from '../test/kit/webhook-receiver.ts'

/** What callers and operators saw. */
export interface ChaosResult {
  readonly calls: number
  /** Due while all connections of the callers waited for answers, or after a pause of the benchmark itself. Not among the calls. */
  readonly not_sent: number
  readonly failed_calls: number
  /** By status and reason, or by the error of the connection. */
  readonly failures: Readonly<Record<string, number>>
  readonly longest_outage_ms: number
  /** Of any call, from when it was sent. */
  readonly slowest_answer_ms: number
  /** How long the process of callers and webhook receiver stood still. */
  readonly longest_own_pause_ms: number
  /** Answers of another call, and refusals of what is allowed. */
  readonly wrong_answers: number
  readonly refusals: number
  /** Of the refusals that callers received, those that the activity log does not have. */
  readonly refusals_lost: number
  /** When they were received, from the beginning. */
  readonly refusals_lost_at_s: readonly number[]
  /** Refusals that the log has twice. */
  readonly refusals_doubled: number
  /** The same for the webhook. */
  readonly events_lost: number
  readonly events_lost_at_s: readonly number[]
  readonly kills: number
  readonly complete_kills: number
  /** Calls of a killed agent that were served after a complete receipt, or a lease after an incomplete one. */
  readonly late_calls: number
  /** Killed agents that were served at the end. */
  readonly revived_agents: number
}

interface Killed {
  readonly headers: Readonly<Record<string, string>>
  /** From then on no call may be served. */
  readonly since_ms: number
}

const STEP_MS = 2
const CALL_LIMIT_MS = 10_000
/**
 * Of callers. Without a limit, calls that have waited too long take the time of the next ones, on a machine that is busy for a
 * moment, and none is answered in time any more.
 */
const CONNECTIONS = 256
const REFUSAL_PAUSE_MS = 1_000
const KILL_PAUSE_MS = 1_000
const LEASE_MS = 3_000
/** Killed agents that are called again and again. */
const CHECKED_AGENTS = 20
/** A busy machine starts an admin service in minutes. */
const LOG_LIMIT_MS = 600_000
const DELIVERY_LIMIT_MS = 120_000
const MARK = /refused-\d+/g
const UNAVAILABLE: ReadonlySet<number> = new Set([502, 503, 504])

export async function startChaosLoad(stack: SharedStack, receiver: WebhookReceiver, rate: number) {
  const url = receiver.url('/refusals')
  const hooked = await send('POST', '/webhooks', {
    name: 'chaos',
    url,
    events: ['permission_denied'],
  })
  if (hooked.status !== 201) throw new Error(`the webhook was refused: ${hooked.body.toString()}`)
  const scope = { rate_limiting: { requests_per_minute: null } }
  const rules = [{ methods: ['PUT'], paths: ['/ok/**'] }]
  const access = await stack.operator.makeAccess(`${stack.echoOrigin}/chaos`, { scope, rules })
  const state = { isOver: false, calls: 0, not_sent: 0, failed: 0, wrong: 0, late: 0, complete: 0 }
  const failures: Record<string, number> = {}
  const served_ms: number[] = []
  /** When each refusal was received. */
  const refused = new Map<string, number>()
  const killed: Killed[] = []

  async function send(method: string, path: string, body: object): Promise<HttpAnswer> {
    const headers = {
      authorization: `Bearer ${stack.adminToken}`,
      'content-type': 'application/json',
    }
    const to = stack.apiUrl
    return await call({ to, path, method, headers, body: JSON.stringify(body) })
  }
  const connections = new Agent({ keepAlive: true })
  const slowest = { ever_ms: 0, spell_ms: 0 }
  const pauses = { ever_ms: 0, spell: monitorEventLoopDelay({ resolution: STEP_MS }) }
  pauses.spell.enable()
  const ask = (
    headers: Readonly<Record<string, string>>,
    path: string,
    body = '',
  ): Promise<HttpAnswer | Error> =>
    call({
      to: stack.proxyUrl,
      path: `/${access.base_url}${path}`,
      headers: { ...headers, 'content-type': 'text/plain' },
      method: 'PUT',
      body,
      connections,
      limit_ms: CALL_LIMIT_MS,
    }).catch((error: Error) => error)
  const fail = (answer: HttpAnswer | Error): void => {
    state.failed++
    const what =
      answer instanceof Error
        ? answer.message
        : `${answer.status} ${answer.header('x-agw-reason') ?? ''}`
    failures[what] = (failures[what] ?? 0) + 1
  }
  const callOnce = async (mark: string): Promise<void> => {
    state.calls++
    const sent_ms = performance.now()
    const answer = await ask(access.headers, '/ok/call', mark)
    slowest.spell_ms = Math.max(slowest.spell_ms, performance.now() - sent_ms)
    if (answer instanceof Error || UNAVAILABLE.has(answer.status)) return fail(answer)
    if (answer.status !== 200 || bodyOf(answer) !== mark) {
      state.wrong++
      return fail(answer)
    }
    served_ms.push(performance.now())
  }
  const calls = async (): Promise<void> => {
    const began_ms = performance.now()
    let sent = 0
    const running = new Set<Promise<void>>()
    while (!state.isOver) {
      for (; sent < ((performance.now() - began_ms) / 1000) * rate; sent++) {
        if (running.size >= CONNECTIONS) {
          state.not_sent++
          continue
        }
        const one = callOnce(`call ${sent}`).finally(() => running.delete(one))
        running.add(one)
      }
      await wait(STEP_MS)
    }
    await Promise.all(running)
  }
  const refusals = async (): Promise<void> => {
    for (let n = 0; !state.isOver; n++) {
      const mark = `refused-${n}`
      const answer = await ask(access.headers, `/${mark}`)
      if (!(answer instanceof Error)) {
        if (answer.header('x-agw-reason') === 'permission_denied')
          refused.set(mark, performance.now())
        else if (!UNAVAILABLE.has(answer.status)) state.wrong++
      }
      await wait(REFUSAL_PAUSE_MS)
    }
  }
  const isServed = async ({ headers }: Killed): Promise<boolean> => {
    const answer = await ask(headers, '/ok/killed')
    return !(answer instanceof Error) && answer.status === 200
  }
  const kills = async (): Promise<void> => {
    while (!state.isOver) {
      await wait(KILL_PAUSE_MS)
      const agent = await stack.operator.makeAgent().catch(() => null)
      if (agent === null) continue
      const { integration_id } = access.integration
      const made = await stack.operator.makeScope(agent.agent_id, integration_id).catch(() => null)
      if (made === null) continue
      const answer = await send('POST', `/admin/agents/${agent.agent_id}/kill`, {}).catch(
        () => null,
      )
      if (answer?.status !== 200) continue
      const isComplete = answer.json().complete === true
      if (isComplete) state.complete++
      const since_ms = performance.now() + (isComplete ? 0 : LEASE_MS)
      killed.push({ headers: { authorization: `Bearer ${agent.api_key}` }, since_ms })
    }
  }
  const lateCalls = async (): Promise<void> => {
    for (let n = 0; !state.isOver; n++) {
      const one = killed.at(-1 - (n % CHECKED_AGENTS))
      if (one !== undefined && performance.now() > one.since_ms && (await isServed(one)))
        state.late++
      await wait(50)
    }
  }
  const running = Promise.all([calls(), refusals(), kills(), lateCalls()])
  const outageSince = (since_ms: number): number => {
    let after_ms = performance.now()
    let longest_ms = 0
    for (let i = served_ms.length - 1; i >= 0; i--) {
      const at_ms = served_ms[i] ?? 0
      if (at_ms < since_ms) break
      longest_ms = Math.max(longest_ms, after_ms - at_ms)
      after_ms = at_ms
    }
    return Math.round(Math.max(longest_ms, after_ms - since_ms))
  }
  /** What has been measured since it was asked last. */
  const spell = (): string => {
    const pause_ms = pauses.spell.max / 1e6
    const text = `slowest answer ${Math.round(slowest.spell_ms)} ms, ${state.not_sent} calls not sent so far, own pause ${Math.round(pause_ms)} ms`
    slowest.ever_ms = Math.max(slowest.ever_ms, slowest.spell_ms)
    pauses.ever_ms = Math.max(pauses.ever_ms, pause_ms)
    slowest.spell_ms = 0
    pauses.spell.reset()
    return text
  }
  const began_ms = performance.now()
  return {
    failed: () => state.failed,
    failures: () => JSON.stringify(failures),
    spell,
    /** Whether at least half of the calls since then were served. */
    servesSince: (since_ms: number): boolean => {
      const due = Math.floor((rate * (performance.now() - since_ms)) / 2_000)
      return (served_ms.at(-1 - due) ?? 0) >= since_ms
    },
    outageSince,
    end: async (): Promise<ChaosResult> => {
      const longest_outage_ms = outageSince(began_ms)
      state.isOver = true
      await running
      spell()
      await stack.ready()
      const limit_ms = performance.now() + DELIVERY_LIMIT_MS
      const marks = [...refused.keys()]
      let missing = marks
      while (missing.length > 0 && performance.now() < limit_ms) {
        await wait(500)
        missing = without(marks, receiver)
      }
      const logged = await loggedMarks(stack)
      const unlogged = marks.filter((mark) => !logged.has(mark))
      const atSeconds = (lost: readonly string[]): number[] =>
        lost.map((mark) => Math.round(((refused.get(mark) ?? 0) - began_ms) / 100) / 10)
      let revived = 0
      for (const one of killed) if (await isServed(one)) revived++
      return {
        calls: state.calls,
        not_sent: state.not_sent,
        failed_calls: state.failed,
        failures,
        longest_outage_ms,
        slowest_answer_ms: Math.round(slowest.ever_ms),
        longest_own_pause_ms: Math.round(pauses.ever_ms),
        wrong_answers: state.wrong,
        refusals: marks.length,
        refusals_lost: unlogged.length,
        refusals_lost_at_s: atSeconds(unlogged),
        refusals_doubled: [...logged.values()].filter((times) => times > 1).length,
        events_lost: missing.length,
        events_lost_at_s: atSeconds(missing),
        kills: killed.length,
        complete_kills: state.complete,
        late_calls: state.late,
        revived_agents: revived,
      }
    },
  }
}

function bodyOf(answer: HttpAnswer): unknown {
  try {
    return answer.json().body
  } catch {
    return null
  }
}

function without(marks: readonly string[], receiver: WebhookReceiver): string[] {
  const bodies = receiver.received('/refusals').map(({ body }) => body.toString())
  const received = new Set(bodies.flatMap((text) => text.match(MARK) ?? []))
  return marks.filter((mark) => !received.has(mark))
}

async function loggedMarks(stack: SharedStack): Promise<ReadonlyMap<string, number>> {
  const marks = new Map<string, number>()
  let cursor = ''
  do {
    const query = `event=permission_denied&limit=100${cursor === '' ? '' : `&cursor=${cursor}`}`
    let failure = ''
    const asked = () =>
      stack.operator.send('GET', `/admin/activity?${query}`).catch((error: Error) => {
        failure = error.message
        return null
      })
    // The last action may still keep the admin service busy.
    const page = await until('a page of the activity log', asked, LOG_LIMIT_MS).catch(
      (error: Error) => {
        throw new Error(`${error.message}: ${failure}`)
      },
    )
    for (const { endpoint } of page.data)
      for (const mark of String(endpoint).match(MARK) ?? [])
        marks.set(mark, (marks.get(mark) ?? 0) + 1)
    cursor = page.next_cursor === null ? '' : encodeURIComponent(page.next_cursor)
  } while (cursor !== '')
  return marks
}
