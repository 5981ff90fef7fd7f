import { closeOpenCalls, openCall, type OpenCall } from '../test/kit/open-call.ts'
import type { Access } from '../test/kit/operator.ts'
import type { Fleet } from '../test/kit/start-fleet.ts'

/** Values in ascending order and what people ask of them. */
export function distribution(values: readonly number[]): string {
  const sorted = [...values].sort((a, b) => a - b)
  const at = (part: number): string =>
    (sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? Number.NaN).toFixed(1)
  return `p50 ${at(0.5)}  p90 ${at(0.9)}  p99 ${at(0.99)}  max ${at(1)} ms  (n = ${sorted.length})`
}

export const largest = (values: readonly number[]): number => Math.max(...values)

let rounds = 0

/** Agents with calls in flight: each has as many streams, and, unless it has only these, as many calls that wait for their first byte. */
export async function openCalls(
  fleet: Fleet,
  urls: readonly string[],
  {
    agents,
    calls_each,
    only_streams = false,
  }: { readonly agents: number; readonly calls_each: number; readonly only_streams?: boolean },
): Promise<{ readonly access: Access; readonly calls: readonly OpenCall[] }[]> {
  const integration = await fleet.operator.makeIntegration(
    `${fleet.upstream.origin}/bench${++rounds}`,
  )
  const opened: { access: Access; calls: OpenCall[] }[] = []
  let number = 0
  for (let i = 0; i < agents; i++) {
    const agent = await fleet.operator.makeAgent()
    const { scope_id } = await fleet.operator.makeScope(agent.agent_id, integration.integration_id)
    const headers = { authorization: `Bearer ${agent.api_key}` }
    const access = { agent, integration, scope_id, base_url: integration.base_url, headers }
    const calls = Array.from({ length: calls_each }, (_, n) => {
      const path = only_streams || n % 2 === 0 ? '/quiet' : '/wait'
      return openCall(urls[number++ % urls.length] ?? '', access.base_url + path, headers)
    })
    opened.push({ access, calls })
    // Streams have begun; what waits has been received by the API.
    await Promise.all(
      calls.filter((_call, n) => only_streams || n % 2 === 0).map(({ answered }) => answered),
    )
  }
  return opened
}

export const endCalls = closeOpenCalls
