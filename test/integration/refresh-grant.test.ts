import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { AddressPolicy } from '../../core/egress/address-policy.ts'
import { createHostResolver } from '../../core/egress/resolve-host.ts'
import { parseKeyRing } from '../../core/keys/seal.ts'
import { type Grant, grantOf, openToken } from '../../core/oauth/grant.ts'
import { isActiveToken } from '../../core/oauth/is-active-token.ts'
import { readGrant, swapGrant } from '../../core/oauth/grant-store.ts'
import { type GrantOwner, type Refreshed, refreshGrant } from '../../core/oauth/refresh-grant.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { alertOfEntry } from '../../admin/alerts/alert-of-entry.ts'
import { revokeTokens } from '../../core/oauth/revoke-token.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { SecretReferences } from '../../core/secret/secret-references.ts'
import { sealAuth } from '../../core/store/credential-binding.ts'
import { GRANT_REDIRECT, makeGrant } from '../kit/make-grant.ts'
import { type OidcProvider, startOidcProvider } from '../kit/start-oidc-provider.ts'
import { unitStore } from '../kit/unit-store.ts'
import { until } from '../kit/until.ts'
import { storesOf } from '../unit/decision-kit.ts'
import { Secret } from '../../core/keys/secret.ts'

const ORGANIZATION = 'org_grants'
const ring = parseKeyRing(randomBytes(32).toString('base64'))
const egress = {
  policy: new AddressPolicy(['127.0.0.0/8']),
  resolve: createHostResolver([]),
  extra_ca_file: null,
  proxy: null,
}
const env: Record<string, string> = { AGW_SECRET_CLIENT: 'client-secret-of-the-gateway' }
const clock = { now_ms: 0 }
const parts = {
  ring,
  egress,
  references: new SecretReferences({
    refs: { [ORGANIZATION]: ['env:AGW_SECRET_'] },
    stores: storesOf(env),
    nowMs: () => clock.now_ms,
    onStale: () => undefined,
    log: { warn: () => undefined, error: () => undefined },
  }),
}
const ALWAYS = (): boolean => true

let redis: RedisClient
let provider: OidcProvider
before(async () => {
  redis = (await unitStore()).redis
  provider = await startOidcProvider({ redirect_uri: GRANT_REDIRECT })
})
after(() => provider.stop())

const granted = (more: object = {}): Promise<GrantOwner> =>
  makeGrant({ ...parts, provider, redis }, ORGANIZATION, more)

const refresh = (owner: GrantOwner, store = redis): Promise<Refreshed> =>
  refreshGrant({ ...parts, redis: store, lease_ms: 1000 }, owner, ALWAYS)

const stored = async (owner: GrantOwner): Promise<Grant> => {
  const { grant } = await readGrant(redis, owner)
  assert.ok(grant !== null)
  return grant
}

const tokenOf = (owner: GrantOwner, grant: Grant, member: 'access_token' | 'refresh_token') =>
  openToken(ring, owner, grant, member)?.reveal() ?? ''

/** Times that each refresh token was sent. */
const usesOf = (token: string): number =>
  provider.refreshes.filter((one) => one.token === token).length

test('of many processes that refresh at the same time, one does, and the new refresh token replaces the old', async () => {
  const owner = await granted()
  const old = tokenOf(owner, await stored(owner), 'refresh_token')
  const done = await Promise.all([...Array(8)].map(() => refresh(owner)))
  const kinds = done.map(({ kind }) => kind)
  assert.ok(kinds.includes('refreshed'))
  const grant = await stored(owner)
  assert.equal(usesOf(old), 1)
  assert.notEqual(tokenOf(owner, grant, 'refresh_token'), old)
  assert.equal(await provider.isActive(tokenOf(owner, grant, 'access_token')), true)
  assert.equal(grant.rotates, true)
  assert.equal(grant.sent_ms, null)
})

test('a refresh token that the provider refuses ends the grant once, and is not sent again', async () => {
  const owner = await granted()
  const grant = await stored(owner)
  assert.equal(await revokeTokens(parts, owner, grant), 'revoked')
  assert.equal(await provider.isActive(tokenOf(owner, grant, 'access_token')), false)
  const first = await refresh(owner)
  assert.deepEqual(first.kind === 'failed' && first.failure.cause, 'consent_ended')
  for (let i = 0; i < 3; i++) {
    const again = await refresh(owner)
    assert.deepEqual(again.kind === 'failed' && again.failure.cause, 'needs_consent')
  }
  assert.equal(usesOf(tokenOf(owner, grant, 'refresh_token')), 1)
  const text = await redis.hget(REDIS_KEYS.connections(ORGANIZATION), owner.connection_id)
  assert.equal(JSON.parse(text ?? '{}').status, 'needs_consent')
  const log = await redis.xrange(REDIS_KEYS.activity(ORGANIZATION), '-', '+')
  const told = log
    .map(([, fields]) => JSON.parse(fields[1] ?? '{}'))
    .filter(({ data }) => data.connection_id === owner.connection_id)
  assert.equal(told.length, 1)
  assert.equal(told[0].event, 'connection_changed')
  assert.equal(alertOfEntry(told[0])?.kind, 'credential_expiring')
})

/** A store whose process ends before the command with this number is sent: nothing that follows reaches it. */
function dyingStore(at: number): RedisClient {
  let sent = 0
  const died = new Promise<never>(() => undefined)
  return new Proxy(redis, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name)
      if (typeof value !== 'function') return value
      return (...args: readonly unknown[]) =>
        sent++ >= at
          ? died
          : (value as (...all: readonly unknown[]) => unknown).apply(target, [...args])
    },
  })
}

const introspection = () => ({ introspection_url: `${provider.issuer}/token/introspection` })

/** What comes of a refresh that has failed, with all that was planned after it. */
async function endOf(owner: GrantOwner): Promise<string> {
  for (;;) {
    const done = await refresh(owner)
    if (done.kind === 'refreshed') return done.kind
    const { grant, text } = await readGrant(redis, owner)
    if (grant === null) return done.kind === 'failed' ? done.failure.cause : done.kind
    const { retry_ms, sent_ms } = grant
    const earlier = { ...grant, retry_ms: 0, sent_ms: sent_ms === null ? null : sent_ms - 60_000 }
    if (retry_ms > 0) await swapGrant(redis, owner, text, earlier)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

const ROWS: ReadonlyArray<
  readonly [string, { introspects: boolean; cut?: 'before' | 'after'; isMute?: true }, string]
> = [
  ['nothing was sent', { introspects: false }, 'refreshed'],
  [
    'the provider was about to get it, and can be asked',
    { introspects: true, cut: 'before' },
    'refreshed',
  ],
  [
    'the provider was about to get it, and cannot be asked',
    { introspects: false, cut: 'before' },
    'token_lost',
  ],
  [
    'the provider has replaced it, and can be asked',
    { introspects: true, cut: 'after' },
    'token_lost',
  ],
  [
    'the provider has replaced it, and does not say so when it is asked first',
    { introspects: true, cut: 'after', isMute: true },
    'token_lost',
  ],
  [
    'the provider has replaced it, and cannot be asked',
    { introspects: false, cut: 'after' },
    'token_lost',
  ],
]

for (const [what, { introspects, cut, isMute = false }, expected] of ROWS)
  test(`a refresh that ends without an answer when ${what}: ${expected}, and no token is used twice`, async () => {
    const owner = await granted(introspects ? introspection() : {})
    const grant = await stored(owner)
    const old = tokenOf(owner, grant, 'refresh_token')
    provider.onRequest = (path, when) => path !== '/token' || when !== cut
    if (cut === undefined) void refresh(owner, dyingStore(3))
    else {
      const cutOff = await refresh(owner)
      assert.equal(cutOff.kind, 'failed')
    }
    let mute = isMute
    provider.onRequest = (path, when) =>
      path !== '/token/introspection' || when === 'before' || !mute || (mute = false)
    assert.equal(await endOf(owner), expected)
    assert.ok(usesOf(old) <= 1)
  })

test('a token is not sent again while the provider may be at work on the request of a process that ended', async () => {
  const owner = await granted(introspection())
  const old = tokenOf(owner, await stored(owner), 'refresh_token')
  let goOn = (): void => undefined
  provider.onRotation = () => new Promise((resolve) => (goOn = resolve))
  void refresh(owner, dyingStore(4))
  const waits = await until('its lease has ended', async () => {
    const done = await refresh(owner)
    return done.kind === 'failed' && done
  })
  assert.equal(waits.failure.cause, 'timeout')
  const { sent_ms, retry_ms } = await stored(owner)
  assert.ok(sent_ms !== null && retry_ms === sent_ms + 10_000)
  goOn()
  provider.onRotation = () => undefined
  await until('it was used', () => usesOf(old) === 1)
  assert.equal(await endOf(owner), 'token_lost')
  assert.equal(usesOf(old), 1)
})

test('in the grace of a provider the old token is used, counted from its first use', async () => {
  const owner = await granted({ refresh_reuse_s: '30' })
  const old = tokenOf(owner, await stored(owner), 'refresh_token')
  provider.onRequest = (path, when) => path !== '/token' || when !== 'before'
  assert.equal((await refresh(owner)).kind, 'failed')
  const { sent_ms: first_ms } = await stored(owner)
  for (let i = 0; i < 2; i++) {
    const { grant, text } = await readGrant(redis, owner)
    assert.ok(grant !== null && (await swapGrant(redis, owner, text, { ...grant, retry_ms: 0 })))
    if (i === 1) provider.onRequest = () => true
    assert.equal((await refresh(owner)).kind, i === 1 ? 'refreshed' : 'failed')
    if (i === 0) assert.equal((await stored(owner)).sent_ms, first_ms)
  }
  assert.equal(usesOf(old), 1)
})

test('no pause is longer than the grace of a provider: within it the old token is used again', async () => {
  const owner = await granted({ refresh_reuse_s: '30' })
  const { grant, text } = await readGrant(redis, owner)
  // It was down for long, and then no answer comes.
  assert.ok(grant !== null && (await swapGrant(redis, owner, text, { ...grant, failures: 9 })))
  provider.onRequest = (path, when) => path !== '/token' || when !== 'before'
  assert.equal((await refresh(owner)).kind, 'failed')
  const { sent_ms, retry_ms } = await stored(owner)
  assert.ok(sent_ms !== null && retry_ms <= sent_ms + 20_000, `${retry_ms - (sent_ms ?? 0)}`)
  const before = await readGrant(redis, owner)
  const due = { ...(before.grant ?? grant), retry_ms: 0 }
  assert.ok(await swapGrant(redis, owner, before.text, due))
  provider.onRequest = () => true
  assert.equal((await refresh(owner)).kind, 'refreshed')
})

test('an error of what is between us and the provider may have used the token, where it can be asked', async () => {
  for (const [more, isKept] of [
    [introspection(), true],
    [{}, false],
  ] as const) {
    const between = createServer((_, response) => void response.writeHead(504).end())
    await new Promise<void>((resolve) => between.listen(0, '127.0.0.1', resolve))
    const { port } = between.address() as AddressInfo
    const owner = await granted({ token_url: `http://127.0.0.1:${port}/token`, ...more })
    const failed = await refresh(owner)
    between.close()
    assert.equal(failed.kind, 'failed')
    assert.equal((await stored(owner)).sent_ms !== null, isKept)
  }
})

test('a store that has lost that a request was announced gets its answer', async () => {
  const owner = await granted()
  const { text } = await readGrant(redis, owner)
  provider.onRequest = async (path, when) => {
    if (path === '/token' && when === 'after')
      await redis.hset(REDIS_KEYS.grants(ORGANIZATION), owner.connection_id, text)
    return true
  }
  assert.equal((await refresh(owner)).kind, 'refreshed')
  provider.onRequest = () => true
  assert.equal((await stored(owner)).fence, 1)
})

test('a process that was overtaken neither sends nor writes', async () => {
  const owner = await granted()
  const { text } = await readGrant(redis, owner)
  assert.equal((await refresh(owner)).kind, 'refreshed')
  const now = await stored(owner)
  assert.equal(await swapGrant(redis, owner, text, { ...now, fence: 0 }), null)
  assert.deepEqual(await stored(owner), now)
})

test('what asks a provider obeys the egress rules: refresh, introspection and revocation', async () => {
  const owner = await granted(introspection())
  const closed = { ...parts, redis, egress: { ...egress, policy: new AddressPolicy([]) } }
  const asked: string[] = []
  provider.onRequest = (path) => asked.push(path) > 0
  const failed = await refreshGrant({ ...closed, lease_ms: 1000 }, owner, ALWAYS)
  assert.equal(failed.kind === 'failed' && failed.failure.cause, 'address_refused')
  const { retry_ms, last_error, sent_ms, ...rest } = await stored(owner)
  assert.deepEqual([last_error, sent_ms, retry_ms > 0], ['address_refused', null, true])
  const grant = { ...rest, retry_ms, last_error, sent_ms }
  assert.equal(await revokeTokens(closed, owner, grant), 'failed')
  const { token_url } = owner.auth as { readonly token_url: string }
  const { client_id, client_secret } = provider.client
  const client = { client_id, client_secret: new Secret(client_secret), token_url }
  const { introspection_url } = introspection()
  const token = new Secret('x')
  const known = await isActiveToken(closed.egress, client, introspection_url, token, 'basic')
  assert.deepEqual([known, asked], [null, []])
  provider.onRequest = () => true
  assert.equal(await revokeTokens(parts, owner, grant), 'revoked')
})

test('a provider that is down costs nothing but a pause, and the grant goes on when it is back', async () => {
  const owner = await granted()
  const { auth } = owner
  const down = { ...owner, auth: { ...auth, token_url: 'http://127.0.0.1:1/token' } }
  const moved: GrantOwner = {
    ...down,
    auth: sealAuth(ring, { ...down, auth: { ...down.auth, ...provider.client } } as never),
  }
  const { text } = await readGrant(redis, owner)
  const grant = await stored(owner)
  // Sealed for the endpoint that is down, as if the provider had been there.
  const plain = {
    token: new Secret(tokenOf(owner, grant, 'access_token')),
    refresh_token: new Secret(tokenOf(owner, grant, 'refresh_token')),
    lifetime_s: 3600,
    style: 'basic' as const,
    started_ms: grant.issued_ms,
  }
  await swapGrant(redis, moved, text, grantOf(ring, moved, null, plain))
  for (const cause of ['connection_failed', 'connection_failed']) {
    const failed = await refresh(moved)
    assert.equal(failed.kind === 'failed' && failed.failure.cause, cause)
  }
  const after_failure = await stored(moved)
  assert.equal(after_failure.failures, 1)
  assert.equal(after_failure.sent_ms, null)
  const { text: paused } = await readGrant(redis, moved)
  await swapGrant(redis, owner, paused, grantOf(ring, owner, null, plain))
  assert.equal((await refresh(owner)).kind, 'refreshed')
})

test('a client secret that is kept elsewhere is read for each request, and without it nothing is sent', async () => {
  const secretAt = (name: string) => granted({ client_secret: { ref: `env:AGW_SECRET_${name}` } })
  const owner = await secretAt('CLIENT')
  assert.ok(!JSON.stringify(owner).includes('AGW_SECRET'))
  assert.equal((await refresh(owner)).kind, 'refreshed')
  const sent = provider.refreshes.length
  const absent = await secretAt('ABSENT')
  const foreign = await granted({ client_secret: { ref: 'env:REDIS_URL' } })
  for (const other of [absent, foreign]) {
    const before_it = await stored(other)
    const refused = await refresh(other)
    assert.equal(refused.kind === 'failed' && refused.failure.cause, 'reference_unavailable')
    const { refresh_token, sent_ms, last_error } = await stored(other)
    assert.deepEqual([sent_ms, last_error], [null, 'reference_unavailable'])
    assert.equal(refresh_token, before_it.refresh_token)
    assert.equal(await revokeTokens(parts, other, before_it), 'failed')
  }
  assert.equal(provider.refreshes.length, sent)
  // It is there again: the same grant goes on.
  env['AGW_SECRET_ABSENT'] = env['AGW_SECRET_CLIENT'] ?? ''
  clock.now_ms += 60_000
  const { grant, text } = await readGrant(redis, absent)
  assert.ok(grant !== null && (await swapGrant(redis, absent, text, { ...grant, retry_ms: 0 })))
  assert.equal((await refresh(absent)).kind, 'refreshed')
  assert.equal(await revokeTokens(parts, absent, await stored(absent)), 'revoked')
})

test('a token that nothing renews serves for as long as its provider says, and by default until it is revoked', () => {
  const owner = {
    organization_id: 'o',
    integration_id: 'i',
    base_url: 'https://a.test',
  } as GrantOwner
  const answer = { token: new Secret('t'), lifetime_s: 300, style: 'basic' as const, started_ms: 0 }
  const endOf = (more: object): number =>
    grantOf(ring, { ...owner, auth: { type: 'none' } }, null, { ...answer, ...more }).expires_ms
  const TEN_YEARS_MS = 10 * 365 * 86_400_000
  assert.equal(endOf({}), TEN_YEARS_MS)
  assert.equal(endOf({ said_lifetime_s: 604_800 }), 604_800_000)
  assert.equal(endOf({ said_lifetime_s: 1e300 }), TEN_YEARS_MS)
  assert.equal(endOf({ refresh_token: new Secret('r') }), 300_000)
})

test('tokens that are moved to another connection or another API do not open', async () => {
  const owner = await granted()
  const grant = await stored(owner)
  const elsewhere: readonly GrantOwner[] = [
    { ...owner, connection_id: 'con_other' },
    { ...owner, base_url: 'https://evil.test' },
    { ...owner, organization_id: 'org_2' },
  ]
  for (const other of elsewhere)
    for (const member of ['access_token', 'refresh_token'] as const)
      assert.equal(openToken(ring, other, grant, member), null)
})
