import assert from 'node:assert/strict'
import { call } from './call.ts'
import { openCall } from './open-call.ts'
import { type Access, operatorAt, STORED_CREDENTIAL } from './operator.ts'
import { startUpstream } from './start-upstream.ts'
import { until } from './until.ts'

export interface Deployment {
  readonly proxyUrl: string
  readonly apiUrl: string
  readonly adminToken: string
  /** The address of the API where the deployment does not reach 127.0.0.1. */
  readonly apiHost?: string
}

export interface MainJob {
  readonly kill: { readonly propagation_ms: number; readonly edges: number }
  /** A call of an agent that has access: its status, and whether it reached the API. */
  readonly tryCall: () => Promise<{ readonly status: number; readonly reached: boolean }>
  /** A call that the API answers when it is released; resolves once it has reached the API. */
  readonly holdCall: () => Promise<{
    readonly release: () => void
    readonly status: Promise<number>
  }>
  readonly stop: () => Promise<void>
}

/**
 * What every deployment has to do: an allowed call arrives with the stored credential and without the agent's key, a call
 * without permission is refused and reaches nobody, and a kill cuts a stream and refuses the next call. The API is a server
 * on this machine, so the deployment needs its address in AGW_EGRESS_ALLOW_CIDRS.
 * @throws an assertion error at the first deviation
 */
export async function mainJob({
  proxyUrl,
  apiUrl,
  adminToken,
  apiHost,
}: Deployment): Promise<MainJob> {
  const seen: { readonly url: string; readonly authorization: string | undefined }[] = []
  let release = (): void => undefined
  const upstream = await startUpstream((request, response) => {
    seen.push({ url: request.url ?? '', authorization: request.headers.authorization })
    if (request.url === '/v1/held') {
      release = () => void response.end('{"ok":true}')
      return
    }
    if (request.url !== '/v1/stream') return void response.end('{"ok":true}')
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write('data: 1\n\n')
  }, apiHost)
  const operator = operatorAt(apiUrl, adminToken)
  const access = await operator.makeAccess(`${upstream.origin}/v1`)
  const target = (path: string): string => `/${access.base_url}${path}`
  const send = (path: string, { headers }: Pick<Access, 'headers'>) =>
    call({ to: proxyUrl, path: target(path), headers })

  const allowed = await send('/chat', access)
  assert.equal(allowed.status, 200, allowed.body.toString())
  assert.deepEqual(seen.splice(0), [
    { url: '/v1/chat', authorization: `Bearer ${STORED_CREDENTIAL}` },
  ])

  const stranger = await operator.makeAgent()
  const refusals = [
    [403, 'permission_denied', { authorization: `Bearer ${stranger.api_key}` }],
    [401, 'invalid_api_key', { authorization: `Bearer ${access.agent.api_key.slice(0, -1)}_` }],
    [401, 'authentication_required', {}],
  ] as const
  for (const [status, reason, headers] of refusals) {
    const refused = await call({ to: proxyUrl, path: target('/chat'), headers })
    assert.equal(refused.status, status, reason)
    assert.equal(refused.header('x-agw-reason'), reason)
  }
  assert.deepEqual(seen, [], 'a refused call reached the API')

  const killed = await operator.makeAccess(`${upstream.origin}/v1/stream`)
  // A kill before the headers of the answer is answered with a refusal, which is whole.
  const stream = openCall(proxyUrl, target('/stream').slice(1), killed.headers)
  assert.equal(await stream.answered, 200)
  const receipt = await operator.send('POST', `/admin/agents/${killed.agent.agent_id}/kill`, {})
  assert.equal(receipt.complete, true, JSON.stringify(receipt))
  assert.equal(receipt.in_flight_requests_terminated, 1)
  assert.equal((await stream.ended).is_whole, false)
  seen.splice(0)
  const next = await send('/chat', killed)
  assert.equal(next.status, 403)
  assert.equal(next.header('x-agw-reason'), 'agent_killed')
  assert.deepEqual(seen, [], 'a call of a killed agent reached the API')

  return {
    kill: { propagation_ms: receipt.propagation_ms, edges: receipt.edges.length },
    tryCall: async () => {
      seen.splice(0)
      const { status } = await send('/chat', access)
      return { status, reached: seen.length > 0 }
    },
    holdCall: async () => {
      seen.splice(0)
      const status = send('/held', access).then((answer) => answer.status)
      await until('the held call has reached the API', () => seen.length > 0)
      return { release, status }
    },
    stop: upstream.stop,
  }
}
