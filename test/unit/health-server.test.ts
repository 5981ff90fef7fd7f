import assert from 'node:assert/strict'
import { request } from 'node:http'
import { test } from 'node:test'
import { startHealthServer } from '../../ext-proc/process/start-health-server.ts'
import { freePort } from '../kit/free-port.ts'

interface Answer {
  readonly status: number
  readonly type: string
  readonly body: string
}

const ask = (port: number, path: string, method = 'GET', body = ''): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const call = request({ host: '127.0.0.1', port, path, method, agent: false }, (answer) => {
      let text = ''
      answer.setEncoding('utf8').on('data', (part: string) => {
        text += part
      })
      answer.once('end', () =>
        resolve({
          status: answer.statusCode ?? 0,
          type: answer.headers['content-type'] ?? '',
          body: text,
        }),
      )
    })
    call.once('error', reject)
    call.end(body)
  })

const ready = { whyNotReady: () => null, metrics: () => 'agw_lease_held{edge="e"} 1\n' }

test('probes are answered over plain HTTP: alive at once, ready when the process serves', async () => {
  const port = await freePort()
  const health = await startHealthServer(`127.0.0.1:${port}`)
  assert.equal((await ask(port, '/healthz')).status, 200)
  assert.deepEqual(JSON.parse((await ask(port, '/readyz')).body), {
    status: 'not_ready',
    reason: 'starting',
  })
  assert.equal((await ask(port, '/metrics')).status, 503)
  let reason: string | null = null
  health.serves({ ...ready, whyNotReady: () => reason })
  assert.equal((await ask(port, '/readyz')).status, 200)
  assert.equal((await ask(port, '/readyz?verbose')).status, 200)
  assert.equal((await ask(port, '/readyz', 'HEAD')).status, 200)
  const metrics = await ask(port, '/metrics')
  assert.equal(metrics.body, ready.metrics())
  assert.match(metrics.type, /^text\/plain; version=0\.0\.4/)
  reason = 'draining'
  const drained = await ask(port, '/readyz')
  assert.equal(drained.status, 503)
  assert.match(drained.body, /"reason":"draining"/)
  assert.equal((await ask(port, '/healthz')).status, 200, 'a drain must not restart the container')
})

test('nothing else is served there', async () => {
  const port = await freePort()
  const health = await startHealthServer(`127.0.0.1:${port}`)
  health.serves(ready)
  const rows: readonly (readonly [string, string, number])[] = [
    ['GET', '/', 404],
    ['GET', '/admin/agents', 404],
    ['GET', '/healthz/', 404],
    ['GET', '//healthz', 404],
    ['GET', '/config_dump', 404],
    ['POST', '/healthz', 405],
    ['PUT', '/readyz', 405],
    ['DELETE', '/metrics', 405],
    ['TRACE', '/healthz', 405],
  ]
  for (const [method, path, status] of rows)
    assert.equal((await ask(port, path, method)).status, status, `${method} ${path}`)
  const posted = await ask(port, '/healthz', 'POST', 'x'.repeat(100_000))
  assert.equal(posted.status, 405)
})

test('an address that cannot be used names its setting, and none starts no server', async () => {
  const port = await freePort()
  const address = `127.0.0.1:${port}`
  await startHealthServer(address)
  await assert.rejects(startHealthServer(address), /AGW_HEALTH_ADDRESS .*the port is in use/)
  await startHealthServer(null)
})
