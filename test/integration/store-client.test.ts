import assert from 'node:assert/strict'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { test } from 'node:test'
import { StoreClient } from '../../core/redis/store-client.ts'
import { until } from '../kit/until.ts'

/** Answers in RESP: the handshake, `GET name` by a table, and nothing to names it does not have. */
function fakeStore() {
  const answers = new Map<string, string>()
  const asked: string[] = []
  let connections = 0
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    connections++
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.on('data', (data) => {
      for (const command of data.toString().split(/(?=\*\d+\r\n)/)) {
        const [, name = '', , argument = ''] = command.split('\r\n').filter((_, i) => i > 0)
        if (/^info$/i.test(name)) socket.write('$11\r\nrole:master\r\n')
        else if (/^get$/i.test(name)) {
          asked.push(argument)
          const answer = answers.get(argument)
          if (answer !== undefined) socket.write(answer)
        } else socket.write('+OK\r\n')
      }
    })
  })
  return {
    answers,
    asked,
    connections: () => connections,
    /** Sends a reply on every connection. */
    send: (reply: string): void => {
      for (const socket of sockets) socket.write(reply)
    },
    listen: async (): Promise<number> => {
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      return (server.address() as AddressInfo).port
    },
    stop: async () => {
      const closed = new Promise((resolve) => server.close(resolve))
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}

const LIMIT_MS = 100
/** For tests that are not about time. */
const PATIENT_MS = 5_000

/** For tests of a process that stands still for longer; its remaining parts are enough for a busy machine. */
const STALLED_LIMIT_MS = 2_000
const STALL_MS = 2_500

type Store = ReturnType<typeof fakeStore>

/** A test with a store and a connection of its own, as the hot path opens it but with shorter limits. */
const storeTest = (
  name: string,
  check: (store: Store, redis: StoreClient) => Promise<void>,
  limit_ms = PATIENT_MS,
): unknown =>
  test(name, async () => {
    const store = fakeStore()
    const redis = new StoreClient(
      {
        port: await store.listen(),
        enableAutoPipelining: true,
        enableOfflineQueue: false,
        maxRetriesPerRequest: 0,
        autoResendUnfulfilledCommands: false,
      },
      { command_ms: limit_ms, silence_ms: limit_ms + 50 },
    )
    redis.on('error', () => undefined)
    try {
      await until('it is connected', () => redis.status === 'ready')
      await check(store, redis)
    } finally {
      redis.disconnect()
      await store.stop()
    }
  })

/** The event loop stands still, as in a long computation. */
function stall(ms: number): void {
  const end_ms = performance.now() + ms
  while (performance.now() < end_ms);
}

storeTest(
  'an answer that arrived while this process stood still counts, and the connection stays',
  async (store, redis) => {
    store.answers.set('late', '+here\r\n')
    const before = store.connections()
    const answer = redis.get('late')
    // The command is sent; the fake store answers in this process, so it answers before the process stands still.
    await until('the store was asked', () => store.asked.includes('late'))
    stall(STALL_MS)
    assert.equal(await answer, 'here')
    assert.equal(store.connections(), before)
  },
  STALLED_LIMIT_MS,
)

storeTest(
  'an answer soon after this process and the store stood still counts too',
  async (store, redis) => {
    const before = store.connections()
    const answer = redis.get('later')
    await until('the store was asked', () => store.asked.includes('later'))
    stall(STALL_MS)
    setTimeout(() => store.send('+here\r\n'), STALLED_LIMIT_MS / 10)
    assert.equal(await answer, 'here')
    assert.equal(store.connections(), before)
  },
  STALLED_LIMIT_MS,
)

storeTest(
  'a command without an answer fails after its limit',
  async (_store, redis) => {
    await assert.rejects(redis.get('never'), /Command timed out/)
  },
  LIMIT_MS,
)

const MOVES = [
  'MOVED 10213 127.0.0.1:7000',
  "READONLY You can't write against a read only replica.",
  'CLUSTERDOWN The cluster is down',
  'MASTERDOWN Link with MASTER is down',
]
for (const [i, error] of MOVES.entries())
  storeTest(
    `after ${error.split(' ')[0]} the command is sent on a new connection`,
    async (store, redis) => {
      const name = `moved-${i}`
      const before = store.connections()
      store.answers.set(name, `-${error}\r\n`)
      const answer = redis.get(name)
      await until('the store was asked', () => store.asked.includes(name))
      store.answers.set(name, '+there\r\n')
      assert.equal(await answer, 'there')
      assert.equal(store.connections(), before + 1)
      assert.equal(redis.options.enableOfflineQueue, false)
    },
  )

for (const error of ['OOM command not allowed', 'NOPERM no', 'MISCONF disk', 'ERR MOVED'])
  storeTest(`${error} is the answer`, async (store, redis) => {
    const before = store.connections()
    store.answers.set('refused', `-${error}\r\n`)
    await assert.rejects(redis.get('refused'), { message: error })
    assert.equal(store.connections(), before)
  })

storeTest(
  'a node that always leads elsewhere is left at most three times a second, and its error is the answer',
  async (store, redis) => {
    const before = store.connections()
    store.answers.set('lost', '-MOVED 1 127.0.0.1:7000\r\n')
    await assert.rejects(redis.get('lost'), /MOVED|timed out/)
    assert.ok(store.connections() - before <= 8, `${store.connections() - before} connections`)
  },
)
