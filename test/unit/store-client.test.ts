import assert from 'node:assert/strict'
import { connect, type Socket } from 'node:net'
import { after, before, test } from 'node:test'
import { StoreClient } from '../../core/redis/store-client.ts'
import { type KitValkey, startValkey } from '../kit/start-valkey.ts'

let valkey: KitValkey
before(async () => {
  valkey = await startValkey()
})
after(async () => {
  await valkey.stop()
})

/** Fails as the connector of ioredis does when a Sentinel reports a failover while it is looking for the primary. */
function connectorThatFails(left: { failures: number }, path: string) {
  return class {
    firstError = undefined
    stream: Socket | null = null
    check = (): boolean => true
    async connect(): Promise<Socket> {
      if (left.failures-- > 0) throw new Error('Connection is closed.')
      this.stream = connect(path)
      return this.stream
    }
    disconnect(): void {
      this.stream?.end()
    }
  }
}

/** `once` of node:events would reject at the errors that these clients report. */
const next = (client: StoreClient, event: string): Promise<unknown[]> =>
  new Promise((resolve) => client.once(event, (...args: unknown[]) => resolve(args)))

const open = (left: { failures: number }): StoreClient =>
  new StoreClient(
    {
      Connector: connectorThatFails(left, valkey.url.replace('unix://', '')) as never,
      autoResubscribe: true,
      enableOfflineQueue: true,
      maxRetriesPerRequest: null,
      retryStrategy: () => 10,
    },
    { command_ms: null, silence_ms: null },
  )

test('a search for the primary that is cut short does not end the client', async () => {
  const client = open({ failures: 3 })
  client.on('error', () => undefined)
  await next(client, 'ready')
  assert.equal(await client.ping(), 'PONG')
  client.disconnect()
  await next(client, 'end')
})

test('a subscription continues after such a search', async () => {
  const left = { failures: 0 }
  const client = open(left)
  client.on('error', () => undefined)
  await client.subscribe('news')
  left.failures = 2
  const ready = next(client, 'ready')
  client.disconnect(true)
  await ready
  const received = next(client, 'message')
  const other = open({ failures: 0 })
  while ((await other.publish('news', 'hello')) === 0);
  assert.deepEqual(await received, ['news', 'hello'])
  for (const one of [client, other]) one.disconnect()
})

for (const failures of [0, 1_000])
  test(`a client that is disconnected stays so (${failures} failures)`, async () => {
    const client = open({ failures })
    client.on('error', () => undefined)
    await next(client, failures === 0 ? 'ready' : 'end')
    client.disconnect()
    const attempts: string[] = []
    client.on('connecting', () => attempts.push('connecting'))
    await new Promise((resolve) => setTimeout(resolve, 100))
    assert.deepEqual(attempts, [])
    assert.equal(client.status, 'end')
  })
