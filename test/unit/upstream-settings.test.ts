import assert from 'node:assert/strict'
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { setUpstream } from '../../admin/integrations/set-upstream.ts'
import { makeAuthority } from '../../core/certificate/make-authority.ts'
import { openAuthority } from '../../core/certificate/open-authority.ts'
import { writeCertificate } from '../../core/certificate/write-certificate.ts'
import {
  type Integration,
  UPSTREAM_DEFAULTS,
  type UpstreamSettings,
} from '../../core/catalogue/model.ts'
import { parseKeyRing } from '../../core/keys/seal.ts'
import { ownerOfCluster, upstreamCluster } from '../../core/store/upstream-cluster.ts'
import { upstreamKey } from '../../core/store/upstream-key.ts'
import { connectionHeaders } from '../../ext-proc/call/connection-headers.ts'
import type { Retry } from '../../ext-proc/call/retry-of.ts'

const ring = parseKeyRing(randomBytes(32).toString('base64'))
const owner = {
  organization_id: 'org_default',
  integration_id: 'int_1',
  base_url: 'https://api.example.com/v1',
}
const NOW_MS = Date.now()
const ca = makeAuthority(NOW_MS)
const issued = openAuthority(ca).issue('client.example.com', NOW_MS)
const other = openAuthority(ca).issue('client.example.com', NOW_MS)
const pair = { client_certificate: issued.chain, client_key: issued.key }

/** A certificate by itself with a key of another kind. */
function pairWith({ publicKey, privateKey }: ReturnType<typeof generateKeyPairSync>) {
  const client_certificate = writeCertificate({
    subject: 'client',
    public_key: publicKey as never,
    issuer: null,
    issuer_key: privateKey as never,
    not_before_ms: NOW_MS,
    not_after_ms: NOW_MS + 86_400_000,
    host: null,
  })
  const client_key = (privateKey as never as { export: (how: object) => Buffer | string })
    .export({ type: 'pkcs8', format: 'pem' })
    .toString()
  return { client_certificate, client_key }
}
const weakEc = pairWith(generateKeyPairSync('ec', { namedCurve: 'secp256k1' }) as never)

const WRONG: readonly (readonly [
  given: Partial<UpstreamSettings>,
  member: string,
  base?: string,
])[] = [
  [{ ca_certificates: 'no certificate' }, 'ca_certificates'],
  [{ ca_certificates: issued.key }, 'ca_certificates'],
  [{ ca_certificates: issued.chain }, 'ca_certificates'],
  [{ ca_certificates: ca.certificate + issued.key }, 'ca_certificates'],
  [{ ca_certificates: ca.certificate.replace('M', '!') }, 'ca_certificates'],
  [{ ca_certificates: ca.certificate.repeat(51) }, 'ca_certificates'],
  [{ ca_certificates: ca.certificate }, 'ca_certificates', 'http://api.example.com'],
  [pair, 'client_certificate', 'http://api.example.com'],
  [{ client_certificate: 'x', client_key: issued.key }, 'client_certificate'],
  [{ client_certificate: issued.chain }, 'client_key'],
  [{ client_key: issued.key }, 'client_key'],
  [{ client_certificate: issued.chain, client_key: other.key }, 'client_key'],
  [{ client_certificate: issued.chain, client_key: issued.chain }, 'client_key'],
  [{ client_certificate: issued.chain, client_key: 'x' }, 'client_key'],
  [weakEc, 'client_key'],
]

test('connection settings that Envoy could not use are refused where they are set', () => {
  for (const [given, member, base_url = owner.base_url] of WRONG) {
    const result = setUpstream(ring, { ...owner, base_url }, given, null)
    const row = JSON.stringify([given, member])
    assert.deepEqual(result.ok ? 'accepted' : result.issues[0]?.path, `/upstream/${member}`, row)
    assert.ok(!JSON.stringify(result).includes(issued.key.slice(60, 100)))
  }
})

test('a private key is stored sealed, kept by a change without one, and opens for its origin alone', () => {
  const set = (
    given: Partial<UpstreamSettings>,
    current: Integration | null,
    base = owner.base_url,
  ) => setUpstream(ring, { ...owner, base_url: base }, given, current)
  const first = set({ ...pair, ca_certificates: ca.certificate }, null)
  assert.ok(first.ok)
  assert.ok(!JSON.stringify(first).includes('PRIVATE KEY'))
  const current = { ...owner, upstream: first.upstream } as unknown as Integration
  const opened = (upstream: UpstreamSettings): string | undefined =>
    upstreamKey.open(ring, owner, upstream.client_key ?? '')?.reveal()
  assert.equal(opened(first.upstream), issued.key)
  const shown = { client_certificate: issued.chain, retries: 2 }
  const kept = set(shown, current)
  assert.ok(kept.ok && opened(kept.upstream) === issued.key && kept.upstream.retries === 2)
  const without = set({ client_certificate: null }, current)
  assert.ok(without.ok && without.upstream.client_key === undefined)
  for (const origin of ['https://api.example.org/v1', 'https://api.example.com:444/v1'])
    assert.ok(!set(shown, current, origin).ok, origin)
  assert.ok(set(shown, current, 'https://api.example.com/v2').ok)
  for (const moved of [{ integration_id: 'int_2' }, { organization_id: 'org_2' }])
    assert.equal(
      upstreamKey.open(ring, { ...owner, ...moved }, first.upstream.client_key ?? ''),
      null,
    )
})

const withUpstream = (upstream: Partial<UpstreamSettings>, more: object = {}): Integration =>
  ({ ...owner, upstream: { ...UPSTREAM_DEFAULTS, ...upstream }, ...more }) as unknown as Integration

test('the name of a cluster changes with everything that it connects with', () => {
  const base = { connect_timeout_ms: 10, client_certificate: 'a', client_key: 'sealed' }
  const rows = [
    withUpstream(base),
    withUpstream({ ...base, connect_timeout_ms: 11 }),
    withUpstream({ ...base, pool_idle_timeout_ms: 10 }),
    withUpstream({ ...base, ca_certificates: 'b' }),
    withUpstream({ ...base, client_certificate: 'b' }),
    withUpstream({ ...base, client_key: 'other' }),
    withUpstream(base, { base_url: 'https://api.example.org/v1' }),
    withUpstream(base, { integration_id: 'int_2' }),
    withUpstream(base, { organization_id: 'org_2' }),
  ].map(upstreamCluster)
  assert.equal(new Set(rows).size, rows.length)
  assert.deepEqual(ownerOfCluster(rows[0] ?? ''), {
    organization_id: 'org_default',
    integration_id: 'int_1',
  })
  for (const none of [withUpstream({}), withUpstream({ retries: 3, response_timeout_ms: 5 })])
    assert.equal(upstreamCluster(none), null)
  assert.equal(upstreamCluster({ ...withUpstream({}), upstream: undefined } as never), null)
  for (const name of ['', 'ext_proc', 'own.', 'own.a.b', `own.a.b.${'g'.repeat(32)}`, 'xown.a.b.c'])
    assert.equal(ownerOfCluster(name), null, name)
})

const HEADERS: readonly (readonly [
  upstream: Partial<UpstreamSettings>,
  cluster: string | null,
  retry: Retry | null,
  headers: Readonly<Record<string, string>>,
])[] = [
  [{}, null, null, {}],
  [{}, null, 'reset', { 'x-agw-retry': 'reset' }],
  [{ retries: 1 }, null, 'unsent', { 'x-agw-retry': 'unsent' }],
  [{ retries: 0 }, null, 'reset', {}],
  [{ retries: 4 }, null, 'reset', { 'x-agw-retry': 'reset', 'x-envoy-max-retries': '4' }],
  [{ retries: 4 }, null, null, {}],
  [{ response_timeout_ms: 7 }, null, null, { 'x-envoy-upstream-rq-per-try-timeout-ms': '7' }],
  [{}, 'own.a', null, { 'x-agw-cluster': 'own.a' }],
  [{ retries: 0 }, 'own.a', 'reset', { 'x-agw-cluster': 'own.a' }],
  [
    {},
    'own.a',
    'unsent',
    {
      'x-agw-cluster': 'own.a',
      'x-envoy-retry-on': 'connect-failure,refused-stream,reset-before-request',
      'x-envoy-max-retries': '1',
    },
  ],
]

test('Envoy is told the cluster, the time-out and the retries', () => {
  for (const [upstream, cluster, retry, headers] of HEADERS) {
    const given = connectionHeaders(withUpstream(upstream), cluster, retry)
    assert.deepEqual(Object.fromEntries(given.map(({ name, value }) => [name, value])), headers)
  }
})
