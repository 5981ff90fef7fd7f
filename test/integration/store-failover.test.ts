import assert from 'node:assert/strict'
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { X509Certificate } from 'node:crypto'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { connectRedis } from '../../core/redis/connect-redis.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import type { StoreAccess } from '../../core/redis/store-access.ts'
import { failoverRounds } from '../kit/failover-rounds.ts'
import { issueCertificate } from '../kit/issue-certificate.ts'
import { type Certificates, makeCertificates } from '../kit/make-certificates.ts'
import { startCluster } from '../kit/start-cluster.ts'
import { startSentinels } from '../kit/start-sentinels.ts'
import { type KitTlsDoor, startTlsDoor } from '../kit/start-tls-door.ts'
import { tempFolder } from '../kit/temp-folder.ts'
import { until } from '../kit/until.ts'

/** A Sentinel on a busy machine does nothing for half a minute (its TILT mode). */
const STORE_LIMIT_MS = 120_000

let certificates: Certificates
const doors: KitTlsDoor[] = []
const opened: RedisClient[] = []
/** The files of a client, which a test may replace. */
let files: { readonly ca_file: string; readonly cert_file: string; readonly key_file: string }

before(async () => {
  certificates = await makeCertificates(['127.0.0.1'])
  const client = await issueCertificate(certificates, ['agw.example'])
  const folder = tempFolder('client')
  files = {
    ca_file: certificates.ca_file,
    cert_file: join(folder, 'cert.pem'),
    key_file: join(folder, 'key.pem'),
  }
  copyFileSync(client.cert_file, files.cert_file)
  copyFileSync(client.key_file, files.key_file)
})
after(async () => {
  for (const client of opened) client.disconnect()
  await Promise.all(doors.map((door) => door.stop()))
})

/** TLS in front of a port; returns the port of clients. */
const behindTls = async (port: number): Promise<number> => {
  const door = await startTlsDoor(certificates)
  door.leadTo(port)
  doors.push(door)
  return door.port
}

const open = (url: string, more: Partial<StoreAccess> = {}): RedisClient => {
  const client = connectRedis(
    {
      url,
      tls: { ...files, server_name: null },
      sentinel: { username: null, password: null, uses_tls: null },
      ...more,
    },
    { name: 'test', role: 'commands' },
  )
  opened.push(client)
  return client
}

const serialOf = (file: string): string => new X509Certificate(readFileSync(file)).serialNumber

test('a cluster of six nodes with TLS and client certificates: the primary crashes and hands over under calls and kills, and every edge recovers without a restart', async () => {
  const cluster = await startCluster({ announced: behindTls, scheme: 'rediss' })
  const said: string[] = []
  const figures = await failoverRounds({
    store: cluster,
    rounds: 2,
    edges: 2,
    say: (line) => void said.push(line),
    env: {
      REDIS_TLS_CA_FILE: files.ca_file,
      REDIS_TLS_CERT_FILE: files.cert_file,
      REDIS_TLS_KEY_FILE: files.key_file,
    },
  })
  const { stuck_rounds, late_calls, revived_agents, lost_agents, kills } = figures
  assert.deepEqual(
    { stuck_rounds, late_calls, revived_agents, lost_agents },
    { stuck_rounds: 0, late_calls: 0, revived_agents: 0, lost_agents: 0 },
    said.join('\n'),
  )
  assert.ok(kills >= 2, `${kills} agents were killed`)
  assert.ok(doors.some(({ clients }) => clients.includes(serialOf(files.cert_file))))
})

test('Sentinels with a password of their own and TLS: the connection finds the new primary, and a new certificate is used from the next connection', async () => {
  const sentinels = await startSentinels({
    password: 'store-password',
    sentinel_password: 'sentinel-password',
    announced: behindTls,
    scheme: 'rediss',
  })
  try {
    const sentinel = { username: null, password: 'sentinel-password', uses_tls: null }
    const redis = open(sentinels.url, { sentinel })
    await until('the primary answers', () => redis.set('before', '1').catch(() => null))
    // A failover loses what no replica has.
    await until('both replicas have it', async () => {
      const copies = await redis.wait(2, 500).catch(() => 0)
      return copies === 2
    })

    const wrong = open(sentinels.url, { sentinel: { ...sentinel, password: 'wrong' } })
    const [why] = await new Promise<readonly unknown[]>((resolve) => {
      wrong.once('error', (...args: unknown[]) => resolve(args))
    })
    assert.match(String(why), /WRONGPASS|NOAUTH/)
    assert.equal(await wrong.get('before').catch(() => 'refused'), 'refused')

    const next = await issueCertificate(certificates, ['agw.example'])
    // While only one of the two files is new, the previous pair remains in use.
    copyFileSync(next.cert_file, files.cert_file)
    const { kill } = await sentinels.primary()
    const reports: string[] = []
    redis.on('error', (error: Error) => reports.push(error.message))
    await kill()
    const set = (key: string): Promise<unknown> => redis.set(key, '1').catch(() => null)
    await until('the new primary answers', () => set('during'), STORE_LIMIT_MS).catch(
      async (error: Error) => {
        const seen = (await sentinels.describe()).join('\n')
        throw new Error(`${error.message}\n${reports.slice(-3).join('\n')}\n${seen}`)
      },
    )
    assert.ok(reports.some((text) => text.includes('REDIS_TLS_CERT_FILE')))
    const isUsed = (serial: string): boolean =>
      doors.some(({ clients }) => clients.includes(serial))
    assert.ok(!isUsed(serialOf(next.cert_file)))
    copyFileSync(next.key_file, files.key_file)
    for (const door of doors) door.closeAll()
    await until('the primary answers again', () => redis.set('after', '1').catch(() => null))
    assert.ok(isUsed(serialOf(next.cert_file)))
    // A Sentinel that reports the failover once more ends the connection, which is made again.
    const kept = await until('all values are read', () =>
      redis.mget('before', 'during', 'after').catch(() => null),
    )
    assert.deepEqual(kept, ['1', '1', '1'])
  } finally {
    await sentinels.stop()
  }
})

test('files that cannot be used stop the start with their names', () => {
  const broken = join(tempFolder('broken'), 'ca.pem')
  writeFileSync(broken, 'no certificate')
  const tls = { ...files, ca_file: broken, server_name: null }
  assert.throws(() => open('rediss://127.0.0.1:1', { tls }), /REDIS_TLS_CA_FILE.*cannot be used/)
})
