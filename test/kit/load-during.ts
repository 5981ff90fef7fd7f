import { Agent } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { call } from './call.ts'
import { openCall } from './open-call.ts'
import type { SharedStack } from './shared-stack.ts'
import { until } from './until.ts'

export interface LoadOptions {
  /** Short calls per second, sent whether or not earlier ones were answered. */
  readonly rate: number
  /** Event streams that are open at each moment, and how long each lasts. */
  readonly streams: number
  readonly stream_ms: number
}

/** What was done while something else happened, and what of it failed, by cause. */
export interface LoadResult {
  readonly calls: number
  readonly streams: number
  readonly kills: number
  readonly admin_requests: number
  readonly slowest_ms: number
  readonly failures: Readonly<Record<string, number>>
}

const TICK_MS = 100
const ADMIN_PAUSE_MS = 100
const KILL_PAUSE_MS = 150
const STEP_MS = 2

/**
 * Short calls, event streams, kills of agents with an open stream, and reads of the admin API on both listeners, until
 * `happening` has ended. Kills alternate between the listeners.
 */
export async function loadDuring(
  stack: SharedStack,
  happening: Promise<unknown>,
  { rate, streams, stream_ms }: LoadOptions,
): Promise<LoadResult> {
  const access = await stack.operator.makeAccess(stack.ownBaseUrl(), {
    scope: { rate_limiting: { requests_per_minute: null } },
  })
  const state = { isOver: false, calls: 0, streams: 0, kills: 0, admin: 0, slowest_ms: 0 }
  const failures: Record<string, number> = {}
  const failed = (what: string): void => {
    failures[what] = (failures[what] ?? 0) + 1
  }
  const over = happening.finally(() => {
    state.isOver = true
  })
  const target = `/${access.base_url}`

  const callOnce = async (): Promise<void> => {
    state.calls++
    const at_ms = performance.now()
    const answer = await call({
      to: stack.proxyUrl,
      path: `${target}/ok`,
      headers: access.headers,
    }).catch((error: Error) => error)
    state.slowest_ms = Math.max(state.slowest_ms, performance.now() - at_ms)
    if (answer instanceof Error) failed(`call: ${answer.message}`)
    else if (answer.status !== 200) failed(`call: ${answer.status} ${answer.body.toString()}`)
  }
  const shortCalls = async (): Promise<void> => {
    const began_ms = performance.now()
    const running: Promise<void>[] = []
    while (!state.isOver) {
      while (running.length < ((performance.now() - began_ms) / 1000) * rate)
        running.push(callOnce())
      await wait(STEP_MS)
    }
    await Promise.all(running)
  }
  const path = `${access.base_url}/sse?ticks=${Math.ceil(stream_ms / TICK_MS)}&interval_ms=${TICK_MS}`
  const longStreams = async (): Promise<void> => {
    while (!state.isOver) {
      state.streams++
      const { status, is_whole } = await openCall(stack.proxyUrl, path, access.headers).ended
      if (status !== 200 || !is_whole) failed(`stream: ${status}, ${is_whole ? 'whole' : 'cut'}`)
    }
  }
  const kills = async (): Promise<void> => {
    for (let turn = 0; !state.isOver; turn++) {
      await killOne(stack, turn % 2 === 0 ? stack.apiUrl : stack.proxyUrl).then(
        () => state.kills++,
        (error: Error) => failed(`kill: ${error.message}`),
      )
      await wait(KILL_PAUSE_MS)
    }
  }
  const adminReads = async (url: string): Promise<void> => {
    // A connection of its own, so that each read uses the one of the read before.
    const connections = new Agent({ keepAlive: true, maxSockets: 1 })
    while (!state.isOver) {
      state.admin++
      const answer = await call({
        to: url,
        connections,
        path: '/admin/agents?limit=1',
        headers: { authorization: `Bearer ${stack.adminToken}` },
      }).catch((error: Error) => error)
      if (answer instanceof Error || answer.status !== 200)
        failed(`admin: ${answer instanceof Error ? answer.message : answer.status}`)
      await wait(ADMIN_PAUSE_MS)
    }
    connections.destroy()
  }
  await Promise.all([
    shortCalls(),
    ...Array.from({ length: streams }, longStreams),
    kills(),
    adminReads(stack.apiUrl),
    adminReads(stack.proxyUrl),
    over,
  ])
  const { calls, slowest_ms, admin } = state
  return {
    calls,
    streams: state.streams,
    kills: state.kills,
    admin_requests: admin,
    slowest_ms,
    failures,
  }
}

/** Kills a new agent with an open stream. Throws what is not as a kill promises. */
async function killOne(stack: SharedStack, url: string): Promise<void> {
  const access = await stack.operator.makeAccess(stack.ownBaseUrl())
  const target = `${access.base_url}/sse?ticks=3000&interval_ms=${TICK_MS}`
  const stream = openCall(stack.proxyUrl, target, access.headers)
  const status = await stream.answered
  if (status !== 200) throw new Error(`the stream to be cut was answered with ${status}`)
  // A processor that is restarted cuts what outlasts its drain time-out, on a busy machine this stream too.
  const isCutBefore = !stream.isOpen()
  const sent_ms = performance.now()
  const answer = await call({
    to: url,
    path: `/admin/agents/${access.agent.agent_id}/kill`,
    method: 'POST',
    headers: { authorization: `Bearer ${stack.adminToken}` },
  })
  const receipt = answer.json()
  if (answer.status !== 200) throw new Error(`answered ${answer.status}`)
  if (receipt.complete !== true) throw new Error('incomplete')
  await until('the stream is cut', () => !stream.isOpen())
  const { at_ms } = await stream.ended
  if (!isCutBefore && receipt.in_flight_requests_terminated !== 1)
    throw new Error(
      `terminated ${receipt.in_flight_requests_terminated} calls; the stream ended ${at_ms - sent_ms} ms after the kill was sent: ${JSON.stringify(receipt)}`,
    )
  const after = await openCall(stack.proxyUrl, target, access.headers).ended
  if (after.reason !== 'agent_killed') throw new Error(`a later call: ${after.reason}`)
}
