import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { test } from 'node:test'
import { type AuthorityFiles, makeAuthority } from '../../core/certificate/make-authority.ts'
import { type Authority, openAuthority } from '../../core/certificate/open-authority.ts'
import type { EnvoyStream } from '../../ext-proc/envoy/start-server.ts'
import { keptAuthority } from '../../ext-proc/forward/kept-authority.ts'
import { SecretService } from '../../ext-proc/forward/secret-service.ts'
import { tunnelSeal } from '../../ext-proc/forward/tunnel-seal.ts'
import { tempFolder } from '../kit/temp-folder.ts'
import { type DeltaAnswer, deltaMessages } from '../kit/delta-messages.ts'
import { FakeDeltaStream } from '../kit/fake-delta-stream.ts'

const authority = openAuthority(makeAuthority(Date.now()))
const DAY_MS = 86_400_000

/** Envoy's end of one stream. */
class Envoy extends FakeDeltaStream {
  isEnded = false
  end(): void {
    this.isEnded = true
  }
  async ask(...names: readonly string[]): Promise<DeltaAnswer | undefined> {
    this.emit('data', deltaMessages.write({ resource_names_subscribe: names }))
    await turn()
    return this.answers.at(-1)
  }
}

interface Options {
  readonly names_max?: number
  readonly current?: () => Promise<Authority>
  readonly fails?: boolean
}

function start({
  names_max,
  fails = false,
  current = () => Promise.resolve(authority),
}: Options = {}) {
  let now_ms = Date.now()
  const warned: string[] = []
  const log = (_: object, message: string): void => void warned.push(message)
  const service = new SecretService({
    authority: () => (fails ? Promise.reject(new Error('none')) : current()),
    nowMs: () => now_ms,
    log: { warn: log, error: log },
    ...(names_max === undefined ? {} : { names_max }),
  })
  const open = (): Envoy => {
    const envoy = new Envoy()
    envoy.on('error', (error: unknown) => envoy.errors.push(error))
    service.handler(envoy as unknown as EnvoyStream)
    return envoy
  }
  const pass = (ms: number): void => {
    now_ms += ms
  }
  return { service, open, pass, warned }
}

const certificateIn = ({ value }: { value: Buffer }): X509Certificate =>
  new X509Certificate(
    /-----BEGIN CERTIFICATE[^]*END CERTIFICATE-----/.exec(String(value))?.[0] ?? '',
  )

test('a name that Envoy asks for is answered with its certificate, under the name as asked', async () => {
  const { open, service } = start()
  const answer = await open().ask('API.Example.com')
  const [secret] = answer?.resources ?? []
  assert.equal(secret?.name, 'API.Example.com')
  assert.equal(answer?.type_url.split('.').at(-1), 'Secret')
  assert.ok(secret !== undefined)
  assert.equal(certificateIn(secret.resource).subjectAltName, 'DNS:api.example.com')
  assert.match(String(secret.resource.value), /-----BEGIN PRIVATE KEY-----/)
  assert.deepEqual(service.counters, { minted: 1, names: 1 })
})

test('what cannot have a certificate is answered as removed, and nothing of it is kept', async () => {
  const { open, service } = start()
  for (const name of ['-', '', '127.0.0.1', '*.a.test', 'a..b', 'a b', 'x'.repeat(255), '::1']) {
    const answer = await open().ask(name)
    assert.deepEqual(answer?.removed_resources, [name])
    assert.deepEqual(answer?.resources, [])
  }
  assert.deepEqual(service.counters, { minted: 0, names: 0 })
})

test('beyond the limit the oldest name is withdrawn from Envoy, and can be asked for again', async () => {
  const { open, service } = start({ names_max: 3 })
  const streams = Array.from({ length: 10 }, () => open())
  for (const [i, envoy] of streams.entries()) await envoy.ask(`host-${i}.test`)
  assert.equal(service.counters.names, 3)
  assert.deepEqual(
    streams.map(({ answers }) => answers.flatMap(({ removed_resources }) => removed_resources)),
    streams.map((_, i) => (i < 7 ? [`host-${i}.test`] : [])),
  )
  const again = await streams[0]?.ask('host-0.test')
  assert.equal(again?.resources.length, 1)
  assert.equal(service.counters.names, 3)
})

test('a stream that ends, is cancelled or unsubscribes frees its names', async () => {
  const { open, service } = start()
  const [ends, cancelled, leaves] = [open(), open(), open()]
  for (const [i, envoy] of [ends, cancelled, leaves].entries()) await envoy.ask(`host-${i}.test`)
  ends.emit('end')
  cancelled.emit('cancelled')
  leaves.emit('data', deltaMessages.write({ resource_names_unsubscribe: ['host-2.test'] }))
  await turn()
  assert.equal(service.counters.names, 0)
  assert.ok(ends.isEnded)
})

test('one stream cannot hold any number of names', async () => {
  const { open, service } = start()
  const names = Array.from({ length: 40 }, (_, i) => `host-${i}.test`)
  const answer = await open().ask(...names)
  assert.equal(answer?.resources.length, 16)
  assert.equal(answer?.removed_resources.length, 24)
  assert.equal(service.counters.names, 16)
})

test('certificates that end in two days are sent again before', async () => {
  const { open, pass, service } = start()
  const envoy = open()
  await envoy.ask('a.test')
  pass(4 * DAY_MS)
  await service.renew()
  assert.equal(envoy.answers.length, 1)
  pass(DAY_MS)
  await service.renew()
  assert.equal(envoy.answers.length, 2)
  const [before, now] = envoy.answers.map(({ resources }) => resources[0])
  assert.ok(before !== undefined && now !== undefined)
  const [old, fresh] = [before, now].map(({ resource }) => certificateIn(resource))
  assert.ok(Date.parse(fresh?.validTo ?? '') - Date.parse(old?.validTo ?? '') >= 5 * DAY_MS - 1_000)
  assert.notEqual(before.version, now.version)
  assert.equal(service.counters.names, 1)
})

test('a new CA is used without a restart, and every certificate is sent again', async () => {
  const folder = tempFolder('ca')
  const [caCertFile, caKeyFile] = [join(folder, 'ca.pem'), join(folder, 'ca.key')]
  const put = ({ certificate, key }: AuthorityFiles): void => {
    writeFileSync(caCertFile, certificate)
    writeFileSync(caKeyFile, key)
  }
  const [first, second, third] = [1, 2, 3].map(() => makeAuthority(Date.now()))
  assert.ok(first && second && third)
  put(first)
  const noStore = {} as Parameters<typeof keptAuthority>[0]
  const kept = keptAuthority(noStore, {} as Parameters<typeof keptAuthority>[1], {
    caCertFile,
    caKeyFile,
  })
  assert.equal(await kept.isReplaced(), false, 'none was needed yet')
  const { open, service } = start({ current: kept.current })
  const streams = [open(), open(), open()]
  for (const [i, envoy] of streams.entries()) await envoy.ask(`host-${i}.test`)
  streams[2]?.emit('end')
  assert.equal(await kept.isReplaced(), false, 'it is the same')
  // Half of a change: the certificate of one CA and the key of another.
  put({ ...first, certificate: second.certificate })
  await assert.rejects(kept.isReplaced(), /the private key is not that of/)
  put({ ...first, certificate: '' })
  await assert.rejects(kept.isReplaced(), /no certificate/)
  const issuerOf = async (envoy: Envoy | undefined, name: string): Promise<string> => {
    const answer = await envoy?.ask(name)
    return certificateIn(answer?.resources[0]?.resource ?? { value: Buffer.alloc(0) }).issuer
  }
  const subjectOf = ({ certificate }: AuthorityFiles): string =>
    new X509Certificate(certificate).subject
  assert.equal(await issuerOf(open(), 'more.test'), subjectOf(first), 'the one before is used on')
  put(second)
  const isReplaced = [await kept.isReplaced(), await kept.isReplaced()]
  assert.deepEqual(isReplaced, [true, false])
  await service.reissue()
  for (const [i, envoy] of streams.slice(0, 2).entries()) {
    assert.equal(envoy.answers.length, 2)
    const [secret] = envoy.answers[1]?.resources ?? []
    assert.equal(secret?.name, `host-${i}.test`)
    assert.ok(secret !== undefined && certificateIn(secret.resource).issuer === subjectOf(second))
  }
  assert.equal(streams[2]?.answers.length, 1, 'nothing is sent to a stream that has ended')
  assert.equal(service.counters.names, 3)
  // Both are trusted during a change: the first certificate is that which signs.
  put({ certificate: third.certificate + second.certificate, key: third.key })
  assert.equal(await kept.isReplaced(), true)
  assert.equal(await issuerOf(open(), 'last.test'), subjectOf(third))
})

test('a CA that is replaced is in use when Envoy has taken the new certificates', async () => {
  const [first, second] = [
    openAuthority(makeAuthority(Date.now())),
    openAuthority(makeAuthority(Date.now())),
  ]
  let release: (one: Authority) => void = () => undefined
  let current: () => Promise<Authority> = () => Promise.resolve(first)
  const { open, service } = start({ current: () => current() })
  const [one, two, ended] = [open(), open(), open()]
  for (const [i, envoy] of [one, two, ended].entries()) await envoy.ask(`host-${i}.test`)
  // A question whose answer still waits for the CA that is replaced meanwhile.
  const late = open()
  current = () =>
    new Promise((resolve) => {
      release = resolve
    })
  await late.ask('late.test')
  current = () => Promise.resolve(second)
  await service.reissue()
  release(first)
  await turn()
  const [answered] = late.answers[0]?.resources ?? []
  assert.ok(answered !== undefined)
  const { publicKey } = new X509Certificate(second.certificate)
  assert.ok(certificateIn(answered.resource).verify(publicKey), 'issued with the new CA')
  let isTaken = false
  const taken = service.taken().then(() => {
    isTaken = true
  })
  for (const envoy of [one, late]) acknowledge(envoy)
  ended.emit('end')
  await turn()
  assert.equal(isTaken, false)
  acknowledge(two)
  await taken
  // A CA that cannot be used leaves no certificate of the one before.
  service.withdraw()
  assert.deepEqual(one.answers.at(-1)?.removed_resources, ['host-0.test'])
  assert.equal(service.counters.names, 0)
})

/** Envoy has taken all that was sent to it. */
const acknowledge = (envoy: Envoy): void =>
  void envoy.emit('data', deltaMessages.write({ response_nonce: envoy.answers.at(-1)?.nonce }))

test('without a CA, and on a malformed message, the stream fails and the process goes on', async () => {
  const { open, warned } = start({ fails: true })
  const envoy = open()
  await envoy.ask('a.test')
  assert.deepEqual(envoy.errors, [{ code: 14, details: 'no certificate' }])
  assert.deepEqual(warned, ['a certificate could not be sent'])
  const malformed = start().open()
  malformed.emit('data', Buffer.from([26, 200]))
  await turn()
  assert.deepEqual(malformed.errors, [{ code: 3, details: 'malformed message' }])
})

test('a stop ends the streams, so that Envoy asks another process', async () => {
  const { open, service } = start()
  const envoy = open()
  await envoy.ask('a.test')
  service.stop()
  assert.ok(envoy.isEnded)
  assert.equal(service.counters.names, 0)
})

test('the facts of a tunnel open only as they were sealed', () => {
  const facts = {
    tunnel_id: 't',
    organization_id: 'org_a',
    agent_id: 'agt_a',
    key_hash: 'h',
    is_named: false,
    host: 'api.test',
    port: 443,
  }
  const seal = tunnelSeal(['secret'])
  const text = seal.write(facts)
  assert.deepEqual(seal.read(text), facts)
  assert.deepEqual(tunnelSeal(['newer', 'secret']).read(text), facts)
  assert.equal(tunnelSeal(['other']).read(text), null)
  const [body = '', code = ''] = text.split('.')
  const other = Buffer.from(JSON.stringify({ ...facts, agent_id: 'agt_b' })).toString('base64url')
  for (const forged of [
    '',
    '-',
    '.',
    body,
    `${body}.`,
    `${other}.${code}`,
    `${body}.${code}A`,
    `${text}.x`,
  ])
    assert.equal(
      seal.read(forged)?.agent_id ?? null,
      forged === `${text}.x` ? 'agt_a' : null,
      forged,
    )
})
