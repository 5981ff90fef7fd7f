import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { after, afterEach, before, beforeEach, describe, test } from 'node:test'
import { createServer as createTlsServer } from 'node:tls'
import { RequestLoad } from '../../admin/context/request-load.ts'
import { startLogExport } from '../../admin/log-export/log-exporter.ts'
import { recordEntries } from '../../core/change/record-entries.ts'
import { EVENT_NAMES } from '../../core/catalogue/events.ts'
import { connectRedis } from '../../core/redis/connect-redis.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { activityEntry } from '../kit/activity-entry.ts'
import { freePort } from '../kit/free-port.ts'
import { makeCertificates } from '../kit/make-certificates.ts'
import { newAdminIdentity, startAdmin } from '../kit/start-admin.ts'
import { type KitValkey, startValkey } from '../kit/start-valkey.ts'
import { until } from '../kit/until.ts'

const ORG = 'org_default'

/** Reads messages with their length before them (RFC 6587), and keeps the ids of their entries. */
class Reader {
  readonly ids: string[] = []
  #rest: Buffer = Buffer.alloc(0)

  take(bytes: Buffer): void {
    this.#rest = Buffer.concat([this.#rest, bytes])
    for (;;) {
      const space = this.#rest.indexOf(' ')
      const end = space + 1 + Number(this.#rest.subarray(0, Math.max(0, space)).toString())
      if (space < 0 || this.#rest.length < end) return
      const message = this.#rest.subarray(space + 1, end).toString()
      this.#rest = this.#rest.subarray(end)
      const event = JSON.parse(message.slice(message.indexOf('{')))
      this.ids.push(event.metadata.uid)
    }
  }
}

let valkey: KitValkey
let redis: RedisClient
let server: Server
let sockets: Socket[] = []
let onSocket: (socket: Socket) => void

before(async () => {
  valkey = await startValkey()
  redis = connectRedis(valkey.url, { name: 'test', role: 'queue' })
})
after(async () => {
  redis.disconnect()
  await valkey.stop()
})

async function listen(listening: Server): Promise<void> {
  server = listening
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
}
const port = (): number => (server.address() as AddressInfo).port
const accept = (socket: Socket): void => {
  sockets.push(socket.on('error', () => undefined))
  onSocket(socket)
}

/** Writes entries to the log. */
async function write(count: number): Promise<string[]> {
  const entries = Array.from({ length: count }, () => activityEntry('permission_denied'))
  await recordEntries(redis, ORG, entries)
  return entries.map(({ id }) => id)
}

describe('export by syslog', () => {
  let reader: Reader
  let stop: () => Promise<void> = () => Promise.resolve()
  let accepted = 0
  const problems: string[] = []

  beforeEach(async () => {
    await redis.flushall()
    await redis.hset(REDIS_KEYS.organizations, ORG, '{}')
    reader = new Reader()
    accepted = 0
    sockets = []
    problems.length = 0
    onSocket = (socket) => void socket.on('data', (bytes: Buffer) => reader.take(bytes))
  })
  afterEach(async () => {
    await stop()
    for (const socket of sockets) socket.destroy()
    server.close()
  })

  function start(to = port()): void {
    const warn = ({ problem }: { problem: string }): void => void problems.push(problem)
    stop = startLogExport({
      url: `syslog+tcp://127.0.0.1:${to}`,
      headers: {},
      proxy: null,
      events: EVENT_NAMES,
      organization_id: ORG,
      installation_id: 'unit',
      redis,
      name: 'unit',
      load: new RequestLoad(),
      metrics: {
        exported: (_, count) => {
          accepted += count
        },
        exportLag: () => undefined,
      },
      log: { info: () => undefined, warn } as never,
      nowMs: () => performance.now(),
      now: () => new Date(),
      pause_ms: 20,
    })
  }

  test('every entry arrives, in the order of the log', async () => {
    await listen(createServer(accept))
    const ids = await write(700)
    start()
    await until('all have arrived', () => reader.ids.length >= 700)
    ids.push(...(await write(3)))
    await until('the new ones too', () => reader.ids.length >= 703)
    assert.deepEqual(reader.ids, ids)
    assert.equal(sockets.length, 1)
  })

  test('what a receiver has not read when its connection breaks is sent again', async () => {
    await listen(createServer({ pauseOnConnect: true }, accept))
    const ids = await write(400)
    // It accepts the connection and reads nothing.
    onSocket = () => undefined
    start()
    await until('all are written', () => accepted >= 400)
    onSocket = (socket) => void socket.on('data', (bytes: Buffer) => reader.take(bytes)).resume()
    sockets[0]?.resetAndDestroy()
    await until('all have arrived', () => new Set(reader.ids).size >= 400)
    ids.push(...(await write(1)))
    await until('the new one too', () => new Set(reader.ids).size >= 401)
    assert.deepEqual([...new Set(reader.ids)], ids)
  })

  test('a receiver that is not there is tried again, and the log says why', async () => {
    const free = await freePort()
    const ids = await write(5)
    start(free)
    await until('it is reported', () => problems.length > 0)
    assert.match(problems[0] ?? '', /^connection_refused \(/)
    server = createServer(accept).listen(free, '127.0.0.1')
    await until('all have arrived', () => reader.ids.length >= 5)
    assert.deepEqual(reader.ids, ids)
  })
})

test('over TLS the certificate of the receiver is checked, with its name', async () => {
  await redis.flushall()
  const { ca_file, cert, key } = await makeCertificates(['localhost'])
  const reader = new Reader()
  onSocket = (socket) => void socket.on('data', (bytes: Buffer) => reader.take(bytes))
  await listen(createTlsServer({ cert, key }, accept))
  const env = { NODE_EXTRA_CA_CERTS: ca_file }
  const ids = await write(3)
  const identity = newAdminIdentity()
  const startFor = (host: string, more: object) =>
    startAdmin(valkey.url, identity, {
      AGW_LOG_EXPORT_URL: `syslog+tls://${host}:${port()}`,
      ...more,
    })
  for (const [host, more] of [
    ['127.0.0.1', env],
    ['localhost', {}],
  ] as const) {
    const refused = await startFor(host, more)
    await until('it is reported', () => refused.log().includes('tls_failed'))
    await refused.stop()
  }
  assert.deepEqual(reader.ids, [])
  const admin = await startFor('localhost', env)
  await until('all have arrived', () => ids.every((id) => reader.ids.includes(id)))
  await admin.stop()
  for (const socket of sockets) socket.destroy()
  server.close()
})
