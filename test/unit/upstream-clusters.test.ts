import assert from 'node:assert/strict'
import { setImmediate as turn } from 'node:timers/promises'
import { test } from 'node:test'
import { UPSTREAM_DEFAULTS } from '../../core/catalogue/model.ts'
import type { EnvoyStream } from '../../ext-proc/envoy/start-server.ts'
import type { OwnUpstream } from '../../ext-proc/policy/own-upstream.ts'
import { ClusterService } from '../../ext-proc/upstream/cluster-service.ts'
import { type DeltaAnswer, deltaMessages } from '../kit/delta-messages.ts'
import { FakeDeltaStream } from '../kit/fake-delta-stream.ts'

const sized = (field: number, bytes: Buffer): Buffer => {
  const length: number[] = []
  let rest = bytes.length
  for (; rest >= 128; rest = Math.floor(rest / 128)) length.push((rest % 128) | 128)
  return Buffer.concat([Buffer.from([field * 8 + 2, ...length, rest]), bytes])
}
const EMPTY = Buffer.alloc(0).toString('base64')
const template = { cluster: EMPTY, options: EMPTY }
const metadata = sized(
  2,
  sized(3, Buffer.from(JSON.stringify({ https: template, http: template }))),
)
/** A node with the templates, as envoy/bootstrap.yaml has it. */
const NODE = sized(
  1,
  sized(3, sized(1, Buffer.concat([sized(1, Buffer.from('agw_upstreams')), metadata]))),
)

/** Envoy's end of one stream. */
class Envoy extends FakeDeltaStream {
  end(): void {}
  async send(request: object, node: Buffer = Buffer.alloc(0)): Promise<DeltaAnswer | undefined> {
    this.emit('data', Buffer.concat([node, deltaMessages.write(request)]))
    for (let i = 0; i < 3; i++) await turn()
    return this.answers.at(-1)
  }
}

const nameOf = (n: number): string => `own.org_1.int_${n}.${'0'.repeat(32)}`
const own: OwnUpstream = { scheme: 'https', settings: UPSTREAM_DEFAULTS, client_key: null }

function start() {
  const stored = new Set<string>([1, 2, 3].map(nameOf))
  let cached = new Set(stored)
  const errors: string[] = []
  const service = new ClusterService({
    policy: {
      organization: () => ({ upstreams: new Map([...cached].map((name) => [name, own])) }) as never,
      drop: () => {
        cached = new Set(stored)
      },
    },
    log: { warn: () => undefined, error: (_data, message) => void errors.push(message) },
    clusters_max: 2,
  })
  const envoy = new Envoy()
  envoy.on('error', (error: unknown) => envoy.errors.push(error))
  service.handler(envoy as unknown as EnvoyStream)
  return { service, envoy, stored, errors }
}
const subscribe = (...names: readonly string[]) => ({ resource_names_subscribe: names })

test('Envoy gets the cluster that it asks for, and no name that the store does not have now', async () => {
  const { envoy, stored } = start()
  const first = await envoy.send(subscribe(nameOf(1)), NODE)
  assert.deepEqual(
    first?.resources.map(({ name }) => name),
    [nameOf(1)],
  )
  assert.ok(first?.resources[0]?.resource.value.includes(nameOf(1)))
  for (const name of ['ext_proc', 'own.org_1.int_9.x', nameOf(9), 'own.'.padEnd(300, 'a')])
    assert.deepEqual((await envoy.send(subscribe(name)))?.removed_resources, [name])
  // Stored since the cache was filled.
  stored.add(nameOf(8))
  assert.deepEqual((await envoy.send(subscribe(nameOf(8))))?.resources.length, 1)
})

test('an Envoy without templates gets no cluster', async () => {
  const { envoy } = start()
  assert.deepEqual((await envoy.send(subscribe(nameOf(1))))?.removed_resources, [nameOf(1)])
})

test('beyond the limit the oldest cluster is withdrawn, and one that Envoy refuses too', async () => {
  const { envoy, errors } = start()
  await envoy.send(subscribe(nameOf(1)), NODE)
  await envoy.send(subscribe(nameOf(2)))
  assert.deepEqual((await envoy.send(subscribe(nameOf(3))))?.removed_resources, [nameOf(1)])
  const again = await envoy.send(subscribe(nameOf(1)))
  assert.deepEqual(again?.removed_resources, [nameOf(2)])
  const nonce = envoy.answers.at(-2)?.nonce
  const refused = await envoy.send({ response_nonce: nonce, error_detail: { message: 'no' } })
  assert.deepEqual(refused?.removed_resources, [nameOf(1)])
  assert.deepEqual(errors, ['Envoy refused a cluster'])
})

test('clusters of changed integrations are withdrawn', async () => {
  const { service, envoy, stored } = start()
  await envoy.send(subscribe(nameOf(1)), NODE)
  await service.prune()
  assert.equal(envoy.answers.length, 1)
  stored.delete(nameOf(1))
  await envoy.send(subscribe(nameOf(9)))
  await service.prune()
  assert.deepEqual(envoy.answers.at(-1)?.removed_resources, [nameOf(1)])
})

test('a malformed message ends its stream alone', async () => {
  const { envoy } = start()
  envoy.emit('data', Buffer.from([0x1a, 0xff]))
  await turn()
  assert.equal(envoy.errors.length, 1)
})
