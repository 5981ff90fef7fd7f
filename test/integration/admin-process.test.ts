import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { mintKey } from '../../core/keys/api-key.ts'
import { connectRedis } from '../../core/redis/connect-redis.ts'
import { fromRoot } from '../../core/system/root.ts'
import { startRelay } from '../kit/start-relay.ts'
import { type KitValkey, startValkey } from '../kit/start-valkey.ts'
import { until } from '../kit/until.ts'

let valkey: KitValkey
before(async () => {
  valkey = await startValkey()
})
after(async () => {
  for (const child of children) child.kill('SIGKILL')
  await valkey.stop()
})

const children: ChildProcess[] = []
const KEY = randomBytes(32).toString('base64')

interface Process {
  readonly child: ChildProcess
  readonly output: () => string
  readonly exited: Promise<number | null>
  /** The port, once it says that it listens; null when it ended before. */
  readonly ready: Promise<number | null>
}

function start(env: Record<string, string>): Process {
  const child = spawn(process.execPath, [fromRoot('dist', 'admin', 'main.js')], {
    env: { PATH: process.env['PATH'] ?? '', AGW_API_PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  children.push(child)
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  // `close` does not come once the channel of messages was closed by us, so the ends are awaited one by one.
  const ends = [child.stdout, child.stderr].flatMap((stream) =>
    stream ? [once(stream, 'close')] : [],
  )
  const exited = once(child, 'exit').then(async ([code]) => {
    await Promise.all(ends)
    return code as number | null
  })
  const ready = Promise.race([
    once(child, 'message').then(([message]) => {
      assert.equal(message.kind, 'ready')
      return message.port as number
    }),
    exited.then(() => null),
  ])
  return { child, output: () => output, exited, ready }
}

const settings = () => ({
  REDIS_URL: valkey.url,
  AGW_ENCRYPTION_KEY: KEY,
  AGW_ADMIN_TOKEN: mintKey('admin'),
})

for (const [how, end] of [
  ['SIGINT', (child: ChildProcess) => child.kill('SIGINT')],
  ['the end of its parent', (child: ChildProcess) => child.disconnect()],
] as const)
  test(`the service says when it listens, and ends cleanly by ${how}`, async () => {
    const service = start(settings())
    const port = await service.ready
    assert.ok(port, service.output())
    assert.equal((await fetch(`http://127.0.0.1:${port}/healthz`)).status, 200)
    end(service.child)
    assert.equal(await service.exited, 0)
    assert.match(service.output(), /the admin service is listening/)
  })

test('run alone without a token it makes one, and shows it once', async () => {
  const own = await startValkey()
  const env = { REDIS_URL: own.url, AGW_ENCRYPTION_KEY: KEY }
  const first = start(env)
  const port = await first.ready
  const token = /Admin token \(shown only once\): (\S+)/.exec(first.output())?.[1]
  assert.ok(token, first.output())
  const url = `http://127.0.0.1:${port}/admin/agents`
  const headers = { authorization: `Bearer ${token}` }
  assert.equal((await fetch(url, { headers })).status, 200)
  first.child.kill('SIGTERM')
  assert.equal(await first.exited, 0)
  const second = start(env)
  const again = await second.ready
  assert.equal(second.output().includes('shown only once'), false)
  const other = `http://127.0.0.1:${again}/admin/agents`
  assert.equal((await fetch(other, { headers })).status, 200)
  second.child.kill('SIGTERM')
  await second.exited
  await own.stop()
})

/** Of some 150 pieces that a start exchanges with the store; the connections of the API thread are ready by then. */
const SLOW_FROM_PIECE = 60
/** Longer than a command may take. */
const SLOW_MS = 1_500

test('a store that does not answer in time is asked again, and nothing of the first attempt is left', async () => {
  const own = await startValkey()
  let pieces = 0
  let fast_ms = 0
  const relay = await startRelay(own.url, () => {
    if (++pieces === SLOW_FROM_PIECE) fast_ms = performance.now() + SLOW_MS
    return fast_ms - performance.now()
  })
  const service = start({ ...settings(), REDIS_URL: relay.url })
  const port = await service.ready
  assert.ok(port, service.output())
  assert.match(service.output(), /the API thread could not be started/)
  assert.equal((await fetch(`http://127.0.0.1:${port}/healthz`)).status, 200)
  const redis = connectRedis(own.url, { name: 'kit', role: 'queue' })
  const connections = async (): Promise<string[]> =>
    [...String(await redis.client('LIST')).matchAll(/ name=(admin-\S*)/g)]
      .map(([, name = '']) => name.replace(/[0-9a-f]{12}/, 'ID'))
      .sort()
  const expected = [
    'admin-ID',
    'admin-ID-logs',
    'admin-ID-outbox',
    'admin-ID-sub',
    'admin-kills-ID',
    'admin-kills-ID-sub',
  ]
  await until('one service is connected', async () => {
    const names = await connections()
    return names.join() === expected.join() ? names : null
  }).catch(async () => assert.deepEqual(await connections(), expected))
  redis.disconnect()
  service.child.kill('SIGTERM')
  assert.equal(await service.exited, 0)
  await relay.stop()
  await own.stop()
})

test('a wrong start ends with one message that lists every error', async () => {
  const service = start({ AGW_API_PORT: 'x', AGW_KILL_LEASE_MS: '1', AGW_ENCRYPTION_KEY: 'short' })
  assert.equal(await service.exited, 1)
  for (const name of ['AGW_API_PORT', 'AGW_KILL_LEASE_MS', 'AGW_ENCRYPTION_KEY'])
    assert.match(service.output(), new RegExp(name))
  assert.equal(service.output().includes('short'), false)
})

test('what only the launcher gives is named when it is missing', async () => {
  const service = start({})
  assert.equal(await service.exited, 1)
  assert.match(service.output(), /REDIS_URL[^]*AGW_ENCRYPTION_KEY/)
})

test('metrics tell of an outage of the store, and of all that the process knows without it', async () => {
  const store = await startValkey()
  const service = start({ ...settings(), REDIS_URL: store.url })
  const port = await service.ready
  const metrics = async (): Promise<string> => {
    const answer = await fetch(`http://127.0.0.1:${port}/metrics`)
    assert.equal(answer.status, 200)
    return answer.text()
  }
  const before = await metrics()
  assert.match(before, /^agw_store_up 1$/m)
  assert.match(before, /^agw_edges 0$/m)
  await store.kill()
  const during = await metrics()
  assert.match(during, /^agw_store_up 0$/m)
  assert.match(during, /^agw_streams_open 0$/m)
  assert.match(during, /^agw_admin_process_cpu_seconds_total /m)
  // Values read from the store are left out: an old value would look current.
  for (const name of ['agw_edges', 'agw_outbox_events', 'agw_alerts_open'])
    assert.doesNotMatch(during, new RegExp(`^${name} `, 'm'))
  assert.equal((await fetch(`http://127.0.0.1:${port}/healthz`)).status, 200)
  await store.start()
  await until('the store is back', async () => /^agw_store_up 1$/m.test(await metrics()))
  assert.match(await metrics(), /^agw_edges 0$/m)
  service.child.kill('SIGTERM')
  await service.exited
  await store.stop()
})

test('a port that is taken is named', async () => {
  const holder = createServer()
  await new Promise<void>((resolve) => holder.listen(0, '127.0.0.1', resolve))
  const port = String((holder.address() as AddressInfo).port)
  const service = start({ ...settings(), AGW_API_PORT: port })
  assert.equal(await service.exited, 1)
  assert.match(
    service.output(),
    new RegExp(`${port} cannot be used: the port is in use[^]*AGW_API_PORT`),
  )
  holder.close()
})
