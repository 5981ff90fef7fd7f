import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { after, before, describe, test } from 'node:test'
import { type MemoryWatch, watchMemory } from '../../admin/bootstrap/watch-memory.ts'
import { checkStore } from '../../cli/doctor/check-store.ts'
import { openStore } from '../../cli/deployment/open-store.ts'
import { announceOutages } from '../../core/redis/announce-outages.ts'
import { connectRedis, type RedisRole } from '../../core/redis/connect-redis.ts'
import { writeProblem } from '../../core/redis/connection-problem.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { type Certificates, makeCertificates } from '../kit/make-certificates.ts'
import { startStoreNode } from '../kit/start-store-node.ts'
import { type KitValkey, startValkey } from '../kit/start-valkey.ts'
import { until } from '../kit/until.ts'

const closers: (() => unknown)[] = []
after(async () => {
  for (const close of closers.reverse()) await close()
})

/** A server that reads all that it is sent. One that does not never learns that the client left, and cannot be closed. */
async function serve(server: Server, onSocket: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>()
  const follow = (socket: Socket): void => {
    sockets.add(socket)
    socket.on('error', () => socket.destroy())
    socket.once('close', () => sockets.delete(socket))
  }
  server.on('connection', follow)
  server.on('tlsClientError', () => undefined)
  server.on('secureConnection', (socket: Socket) => {
    follow(socket)
    socket.resume()
  })
  server.on('connection', onSocket)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  closers.push(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

const tlsServer = ({ cert, key }: Certificates): Promise<number> =>
  serve(createTlsServer({ cert, key }), () => undefined)

async function closedPort(): Promise<number> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

interface Announced {
  readonly lines: readonly string[]
  readonly stop: () => void
}

function announce(redis: RedisClient, check?: () => Promise<string | null>): Announced {
  const lines: string[] = []
  const note = (_data: object, message: string): void => void lines.push(message)
  const log = { warn: note, info: note }
  const stop =
    check === undefined ? announceOutages(redis, log) : announceOutages(redis, log, check)
  return { lines, stop }
}

async function firstLine(url: string, role: RedisRole['role']): Promise<string> {
  const redis = connectRedis(url, { name: 'test', role })
  const { lines, stop } = announce(redis)
  try {
    return await until('it is announced', () => lines[0])
  } finally {
    stop()
    redis.disconnect()
  }
}

let valid: Certificates
let elsewhere: Certificates
before(async () => {
  ;[valid, elsewhere] = await Promise.all([
    makeCertificates(['127.0.0.1']),
    makeCertificates(['store.test']),
  ])
})

const memoryOf = (info: string): { used_memory: number } => ({
  used_memory: Number(/^used_memory:(\d+)/m.exec(info)?.[1]),
})

/** What a store answers that is loading its data: INFO works. */
function answerLoading(bytes: Buffer, socket: Socket): void {
  const loading = 'loading:1\r\nloading_eta_seconds:1\r\n'
  for (const [, name] of bytes.toString().matchAll(/\*\d+\r\n\$\d+\r\n(\w+)/g))
    socket.write(
      name?.toLowerCase() === 'info'
        ? `$${loading.length}\r\n${loading}\r\n`
        : '-NOPROTO unsupported protocol version\r\n',
    )
}

const starts: readonly (readonly [what: string, url: () => Promise<string>, says: RegExp])[] = [
  [
    'a certificate of an unknown CA',
    async () => `rediss://127.0.0.1:${await tlsServer(valid)}`,
    /REDIS_TLS_CA_FILE/,
  ],
  [
    'TLS at a port without it',
    async () =>
      `rediss://127.0.0.1:${await serve(createServer(), (socket) => socket.end('-ERR\r\n'))}`,
    /does not use TLS/,
  ],
  [
    'a web server',
    async () =>
      `redis://127.0.0.1:${await serve(createServer(), (socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'))}`,
    /does not speak the Redis protocol/,
  ],
  [
    'a port that nothing listens on',
    async () => `redis://127.0.0.1:${await closedPort()}`,
    /refused/,
  ],
  ['a socket that is not there', async () => 'unix:///nonexistent/valkey.sock', /socket file/],
  ['a name that is not one', async () => 'redis://store.invalid', /cannot be resolved/],
  [
    'a server that accepts and is silent',
    async () => `redis://127.0.0.1:${await serve(createServer(), (socket) => socket.resume())}`,
    /does not respond/,
  ],
  [
    'a server that closes each connection',
    async () => `redis://127.0.0.1:${await serve(createServer(), (socket) => socket.destroy())}`,
    /closed the connection/,
  ],
  [
    'a store that loads its data',
    async () =>
      `redis://127.0.0.1:${await serve(createServer(), (socket) => socket.on('data', (bytes) => answerLoading(bytes, socket)))}`,
    /loading its data/,
  ],
  [
    'a wrong password',
    async () =>
      `redis://:wrong@127.0.0.1:${await serve(createServer(), (socket) => socket.on('data', (bytes) => refuseLogin(bytes, socket)))}`,
    /rejects the user name or password of REDIS_URL/,
  ],
]

/** What a store answers to a wrong password. */
function refuseLogin(bytes: Buffer, socket: Socket): void {
  for (const _ of bytes.toString().matchAll(/\*\d+\r\n/g))
    socket.write('-WRONGPASS invalid username-password pair or user is disabled.\r\n')
}

describe('a command that uses the store', { concurrency: true }, () => {
  for (const [what, url, says] of starts)
    test(`it says what is wrong: ${what}`, async () => {
      const { message } = await openStore(await url(), 'test').then(
        () => new Error('it was opened'),
        (error: Error) => error,
      )
      assert.match(message, /^The store cannot be used: /)
      assert.match(message, says)
    })

  test('agw doctor says what is wrong: a wrong password', async () => {
    const [, url, says] = starts.at(-1) ?? assert.fail()
    const [found] = await checkStore({
      url: await url(),
      tls: { ca_file: null, cert_file: null, key_file: null, server_name: null },
      sentinel: { username: null, password: null, uses_tls: null },
    })
    assert.equal(found?.state, 'failed')
    assert.match(found.says, says)
  })
})

describe('a connection that cannot be made', { concurrency: true }, () => {
  for (const role of ['commands', 'subscription'] as const)
    for (const [what, url, says] of starts)
      test(`${what} is announced by a connection for ${role}`, async () => {
        const line = await firstLine(await url(), role)
        assert.match(line, /^the store is unavailable: /)
        assert.match(line, says)
      })
})

test('a certificate for another name is announced', async () => {
  const port = await tlsServer(elsewhere)
  const tls = { ca_file: elsewhere.ca_file, cert_file: null, key_file: null, server_name: null }
  const sentinel = { username: null, password: null, uses_tls: null }
  const access = { url: `rediss://127.0.0.1:${port}`, tls, sentinel }
  const redis = connectRedis(access, { name: 'test', role: 'commands' })
  const { lines, stop } = announce(redis)
  const line = await until('it is announced', () => lines[0])
  stop()
  redis.disconnect()
  assert.match(line, /REDIS_TLS_SERVER_NAME/)
})

describe('a real store', { concurrency: false }, () => {
  let valkey: KitValkey
  let operator: RedisClient
  before(async () => {
    valkey = await startValkey()
    operator = connectRedis(valkey.url, { name: 'operator', role: 'queue' })
    closers.push(
      () => valkey.stop(),
      () => operator.disconnect(),
    )
  })

  const states: readonly (readonly [what: string, set: string, undo: string, says: RegExp])[] = [
    ['has no memory left', 'maxmemory 1', 'maxmemory 0', /memory of the store is full/],
    [
      'has too few replicas',
      'min-replicas-to-write 1',
      'min-replicas-to-write 0',
      /too few replicas/,
    ],
  ]
  for (const [what, set, undo, says] of states)
    test(`one that ${what} is announced as such, and so is its recovery`, async () => {
      const redis = connectRedis(valkey.url, { name: 'test', role: 'commands' })
      const { lines, stop } = announce(redis, () => writeProblem(redis))
      const [setting = '', value = ''] = set.split(' ')
      const [, before_ = ''] = undo.split(' ')
      await operator.config('SET', setting, value)
      assert.match(await until('it is announced', () => lines[0]), says)
      await operator.config('SET', setting, before_)
      await until('its recovery is announced', () => lines.at(-1)?.includes('available again'))
      stop()
      redis.disconnect()
    })

  test('a replica is announced as such', async () => {
    const redis = connectRedis(valkey.url, { name: 'test', role: 'commands' })
    const { lines, stop } = announce(redis, () => writeProblem(redis))
    await operator.replicaof('127.0.0.1', '1')
    const line = await until('it is announced', () => lines[0])
    await operator.replicaof('NO', 'ONE')
    stop()
    redis.disconnect()
    assert.match(line, /read-only replica|lost its primary/)
  })

  test('an alert is raised before the memory is full, once', async () => {
    const { used_memory } = memoryOf(await operator.info('memory'))
    await operator.config('SET', 'maxmemory', String(Math.floor(used_memory / 0.9)))
    const errors: string[] = []
    const log = {
      error: (_: object, title: string) => void errors.push(title),
      info: () => undefined,
    }
    const stop = watchMemory({
      redis: operator,
      organization_id: 'org',
      log: log as unknown as MemoryWatch['log'],
      interval_ms: 20,
    })
    const ids = await until('it is raised', async () => {
      const found = await operator.zrange(REDIS_KEYS.alertIndex('org'), '0', '-1')
      return found.length > 0 && found
    })
    stop()
    await operator.config('SET', 'maxmemory', '0')
    const alert = await operator.hgetall(REDIS_KEYS.alert('org', ids[0] ?? ''))
    assert.deepEqual(
      [ids.length, alert['kind'], alert['severity']],
      [1, 'store_memory', 'critical'],
    )
    assert.match(errors[0] ?? '', /^The store uses (8|9)\d % of its memory/)
  })

  test('the check changes nothing in the store', async () => {
    await operator.flushall()
    assert.equal(await writeProblem(operator), null)
    assert.equal(await operator.dbsize(), 0)
  })

  test('a missing, a wrong and a powerless login are announced', async () => {
    const user = 'user reader on >right ~* +ping +info'
    const node = await startStoreNode({ config: ['requirepass right', user], password: 'right' })
    closers.push(() => node.stop())
    const { port } = node
    for (const [login, says] of [
      ['', /requires a password/],
      [':wrong@', /rejects the user name or password/],
      ['nobody:right@', /rejects the user name or password/],
    ] as const)
      assert.match(await firstLine(`redis://${login}127.0.0.1:${port}`, 'commands'), says)
    const redis = connectRedis(`redis://reader:right@127.0.0.1:${port}`, {
      name: 'test',
      role: 'commands',
    })
    const { lines, stop } = announce(redis, () => writeProblem(redis))
    const line = await until('it is announced', () => lines[0])
    stop()
    redis.disconnect()
    assert.match(line, /not allowed to run a required command/)
  })
})
