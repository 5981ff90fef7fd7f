import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { connect as connectTls } from 'node:tls'
import { call } from '../kit/call.ts'
import { ForwardClient } from '../kit/forward-client.ts'
import { startAll, stopAll } from '../kit/shared-stack.ts'
import { until } from '../kit/until.ts'

// No certificate was issued yet, so the first ones wait for the CA, which is read from the store: not for the stack that all share.
const stack = await startAll({})
after(() => stopAll(stack))
const ca = await (await fetch(`${stack.apiUrl}/ca.pem`)).text()
const client = new ForwardClient(stack.forwardPort ?? 0, ca)
after(() => client.close())

async function held(): Promise<number> {
  const headers = { authorization: `Bearer ${stack.adminToken}` }
  const text = await (await fetch(`${stack.apiUrl}/metrics`, { headers })).text()
  return Number(/^agw_certificates_held(?:\{[^}]*\})? (\d+)/m.exec(text)?.[1] ?? -1)
}

test('certificates that pend when Envoy ends are given to nobody, and not counted as held', async () => {
  const to = stack.origin('plain')
  // Envoy asks for its cluster over the connection on which it will ask for certificates.
  const integration = { upstream: { connect_timeout_ms: 4_000 } }
  const access = await stack.makeAccess({ integration })
  const { agent, base_url, headers } = access
  assert.equal((await call({ to: stack.proxyUrl, path: `/${base_url}/x`, headers })).status, 200)
  const key = agent.api_key
  const names = ['a.pending.test', 'b.pending.test', 'c.pending.test']
  const opened = await Promise.all(names.map((name) => client.tunnel(`${name}:443`, { key })))
  const [processor = 0] = await stack.pids('ext-proc')
  const [envoy = 0] = await stack.pids('envoy')
  process.kill(processor, 'SIGSTOP')
  try {
    for (const [i, { socket }] of opened.entries())
      connectTls({ socket, servername: names[i] ?? '' }).on('error', () => undefined)
    await until('Envoy has asked for all certificates', async () => {
      const stats = await stack.envoyAdmin('/stats?filter=pending.test.*update_attempt')
      return [...stats.matchAll(/: [1-9]\d*$/gm)].length >= names.length
    })
    // Its next answer comes after it has written them.
    await stack.envoyAdmin('/ready')
    process.kill(envoy, 'SIGKILL')
    await until('Envoy is gone', async () => !(await stack.pids('envoy')).includes(envoy))
  } finally {
    process.kill(processor, 'SIGCONT')
  }
  await stack.ready()
  const connections = client.agent({ key })
  const path = `${new URL(base_url).pathname}/x`
  await until('a new Envoy serves', async () => {
    const answer = await call({ to, path, connections }).catch(() => null)
    return answer?.status === 200
  })
  connections.destroy()
  await until('only its certificate is counted', async () => (await held()) === 1)
  assert.deepEqual(await stack.pids('ext-proc'), [processor])
})
