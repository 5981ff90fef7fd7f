import { type Connection, type Scope, SELECTED } from '../../core/catalogue/model.ts'
import { findCredentialType } from '../../core/credential/catalogue.ts'
import { RECEIPTS_MAX } from '../../core/kill/kill-receipt.ts'
import {
  type RevocationResult,
  type Revocations,
  REVOCATION_ROWS_MAX,
  type RevokedCredential,
  resultOf,
} from '../../core/kill/revocations.ts'
import { openToken } from '../../core/oauth/grant.ts'
import { revokeToken, REVOCATION_LIMIT_MS, TOKEN_HINTS } from '../../core/oauth/revoke-token.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { runScript } from '../../core/redis/run-script.ts'
import { storeTimeMs } from '../../core/redis/store-time.ts'
import { scanHash } from '../../core/redis/scan-store.ts'
import { openForUse } from '../../core/secret/open-for-use.ts'
import { openAuth } from '../../core/store/credential-binding.ts'
import { readableRecord } from '../../core/store/stored-record.ts'
import {
  MINTED_KEPT_MS,
  type KeptToken,
  mintedField,
  openMinted,
  readMinted,
  sealMinted,
  type StoredMint,
} from '../../core/token/minted-token.ts'
import { postForm } from '../../core/token/post-form.ts'
import type { AdminContext } from '../context/admin-context.ts'
import { connectionOwner, type OwnedConnection } from '../oauth/connection-owner.ts'
import { endConnection } from '../oauth/revoke-connection.ts'
import { workOnDue } from '../oauth/work-on-due.ts'

type Parts = Pick<
  AdminContext,
  'redis' | 'ring' | 'references' | 'settings' | 'tokenEgress' | 'now' | 'clock' | 'log'
>

/** A kill whose tokens are revoked. */
interface Killed {
  readonly organization_id: string
  readonly agent_id: string
  readonly kill_id: string
  readonly killed_ms: number
}

/** Requests to providers at the same time, for one kill, and for how long an attempt makes new ones. */
const AT_ONCE_MAX = 16
const ATTEMPT_LIMIT_MS = 20_000
/** A token is dead within two seconds of the kill. */
const INTERVAL_MS = 1_000
/** If this process ends, another one begins the attempt again. Longer than an attempt. */
const RETRY_MS = 30_000
/** A token that was being fetched at the moment of the kill arrives within this time; no call gets it. */
const SETTLED_MS = 6_000

/**
 * Revokes at their providers, after a kill, the tokens that were minted for this agent alone. A failed request is repeated after the
 * delays of webhook deliveries. The receipt says what became of each credential. Returns the function that stops it.
 */
export const revokeAtSource = (parts: Parts): (() => Promise<void>) =>
  workOnDue(
    {
      redis: parts.redis,
      key: REDIS_KEYS.revocationsDue,
      interval_ms: INTERVAL_MS,
      retry_ms: RETRY_MS,
      failed: (error) =>
        parts.log.warn(
          { err: error },
          'tokens of a killed agent were not revoked; it will be retried',
        ),
    },
    async ([organization_id = '', agent_id = '', kill_id = '', killed_ms], member) => {
      const killed = { organization_id, agent_id, kill_id, killed_ms: Number(killed_ms) }
      const again_ms = await attempt(parts, killed)
      if (again_ms === null) await parts.redis.zrem(REDIS_KEYS.revocationsDue, member)
      else await parts.redis.zadd(REDIS_KEYS.revocationsDue, 'XX', again_ms, member)
    },
  )

/** Returns when the next attempt is due, by the clock of the store; null if there is none. */
async function attempt(parts: Parts, killed: Killed): Promise<number | null> {
  const { redis, settings, log } = parts
  const { organization_id, agent_id, kill_id, killed_ms } = killed
  const [agent, kept] = await Promise.all([
    redis.hget(REDIS_KEYS.agents(organization_id), agent_id),
    redis.hget(REDIS_KEYS.killRevocations(organization_id), kill_id),
  ])
  const before = kept === null ? null : (JSON.parse(kept) as Revocations)
  const isKilled =
    agent !== null && (JSON.parse(agent) as { readonly status?: unknown }).status === 'killed'
  // A reactivated agent keeps what it was given since.
  const fixed = isKilled && before === null ? await endConnections(parts, killed) : []
  const now_ms = await storeTimeMs(parts.redis)
  const due = (await readMinted(redis, killed)).filter(
    ({ expires_ms, minted_ms }) => expires_ms > now_ms && (isKilled || minted_ms <= killed_ms),
  )
  const results = await revokeAll(parts, killed, due)
  const credentials = rowsOf([...(before?.credentials ?? []), ...fixed], results)
  const failed = results.filter(({ result }) => result === 'failed').length
  const delay_ms = settings.webhookDelays_ms[(before?.attempts ?? 0) + 1]
  const ended_ms = await storeTimeMs(parts.redis)
  const again_ms =
    failed > 0 && delay_ms !== undefined
      ? ended_ms + delay_ms
      : ended_ms < killed_ms + SETTLED_MS
        ? killed_ms + SETTLED_MS
        : null
  const next: Revocations = {
    attempts: (before?.attempts ?? 0) + (failed > 0 || before === null ? 1 : 0),
    completed_at: again_ms === null ? new Date(ended_ms).toISOString() : null,
    credentials,
  }
  await runScript(
    redis,
    'note-revocations',
    [REDIS_KEYS.killReceipts(organization_id), REDIS_KEYS.killRevocations(organization_id)],
    [kill_id, JSON.stringify(next), RECEIPTS_MAX],
  )
  const over = results.flatMap(({ mint, result }) => (result === 'failed' ? [] : [mint.field]))
  if (over.length > 0) await redis.hdel(REDIS_KEYS.mintedTokens(organization_id, agent_id), ...over)
  if (failed > 0) log.warn({ ...killed, failed }, 'tokens of a killed agent are not revoked yet')
  return again_ms
}

interface Result {
  readonly mint: StoredMint
  readonly result: RevocationResult
}

async function revokeAll(
  parts: Parts,
  killed: Killed,
  due: readonly StoredMint[],
): Promise<Result[]> {
  const until_ms = performance.now() + ATTEMPT_LIMIT_MS
  const left = [...due]
  const results: Result[] = []
  const work = async (): Promise<void> => {
    for (let mint = left.shift(); mint !== undefined; mint = left.shift()) {
      const isInTime = performance.now() < until_ms
      results.push({ mint, result: isInTime ? await revoke(parts, killed, mint.token) : 'failed' })
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE_MAX }, work))
  return results
}

async function revoke(
  parts: Parts,
  killed: Killed,
  { type, revocation, connection_id }: KeptToken,
): Promise<RevocationResult> {
  const { redis, ring, tokenEgress } = parts
  if (revocation === null) return 'unsupported'
  const token = openMinted(ring, killed, revocation)
  if (token === null) return 'failed'
  const { url } = revocation
  const owned =
    connection_id === null
      ? null
      : await connectionOwner(redis, killed.organization_id, connection_id)
  const auth = owned === null ? 'not_opened' : await openForUse(parts, owned.owner)
  // The client revokes them (RFC 7009); a token of a GitHub App revokes itself.
  if (typeof auth !== 'string' && 'revocation_url' in auth)
    // Another credential of the connection has another client, whose secret is not for this provider.
    return auth.revocation_url === url
      ? await revokeToken(tokenEgress, auth, { ...revocation, token })
      : 'failed'
  if (type !== 'github_app') return 'failed'
  const headers = { authorization: `Bearer ${token.reveal()}` }
  const deadline = AbortSignal.timeout(REVOCATION_LIMIT_MS)
  const form = { method: 'DELETE', headers, body: '' } as const
  const answer = await postForm(tokenEgress, url, form, deadline)
  // 401: it was revoked before.
  const isDead = answer.kind === 'answered' && (answer.status === 204 || answer.status === 401)
  return isDead ? 'revoked' : 'failed'
}

/** Ends the agent's own connections, and keeps the tokens of their grants until these are revoked. */
async function endConnections(parts: Parts, killed: Killed): Promise<RevokedCredential[]> {
  const { redis } = parts
  const { organization_id } = killed
  const isOwn = await ownSubjects(parts, killed)
  const own: RevokedCredential[] = []
  for await (const [, text] of scanHash(redis, REDIS_KEYS.connections(organization_id))) {
    const connection = readableRecord<Connection>(text)
    if (connection === null || !(await isOwn(connection))) continue
    const { connection_id, integration_id, auth } = connection
    const kind = findCredentialType(auth.type)?.application.kind
    const row = { integration_id, connection_id, type: auth.type, expires_at: null }
    if (kind === 'static' || kind === 'signature')
      own.push({ ...row, tokens: { ...NO_TOKENS, unsupported: 1 } })
    if (kind !== 'connection') continue
    const owned = await connectionOwner(redis, organization_id, connection_id)
    if (owned !== null) await endOwn(parts, killed, owned)
  }
  return own
}

const NO_TOKENS = { revoked: 0, failed: 0, unsupported: 0 } as const

async function endOwn(parts: Parts, killed: Killed, owned: OwnedConnection): Promise<void> {
  const { ring } = parts
  const { organization_id, agent_id } = killed
  const { connection_id, integration_id, auth } = owned.connection
  const opened = openAuth(ring, owned.owner)
  const url = opened?.type === 'oauth2_authorization_code' ? opened.revocation_url : undefined
  const key = REDIS_KEYS.mintedTokens(organization_id, agent_id)
  await endConnection(parts, owned, null, (grant, now_ms) => {
    const tokens = TOKEN_HINTS.flatMap((hint) => {
      const token = openToken(ring, owned.owner, grant, hint)
      if (token === null) return []
      const { style } = grant
      const revocation =
        url === undefined ? null : sealMinted(ring, killed, { url, token, style, hint })
      const minted = { type: auth.type, integration_id, connection_id, revocation }
      const ends_ms =
        hint === 'access_token'
          ? grant.expires_ms
          : (grant.refresh_expires_ms ?? now_ms + MINTED_KEPT_MS)
      return [mintedField(ends_ms, now_ms), JSON.stringify(minted)]
    })
    return tokens.length === 0
      ? []
      : [
          ['HSET', key, ...tokens],
          ['PEXPIRE', key, MINTED_KEPT_MS],
        ]
  })
}

/** Whether a connection is for the killed agent alone: its own, or one of a user for whom no other agent may act. */
async function ownSubjects(
  { redis }: Parts,
  { organization_id: org, agent_id }: Killed,
): Promise<(connection: Connection) => Promise<boolean>> {
  const read = async (agent: string): Promise<Scope[]> =>
    (await redis.hvals(REDIS_KEYS.agentScopes(org, agent))).flatMap(
      (text) => readableRecord<Scope>(text) ?? [],
    )
  const users = new Set((await read(agent_id)).flatMap((scope) => scope.users ?? []))
  return async ({ integration_id, subject }) => {
    if (subject === `agent:${agent_id}`) return true
    const user = subject.startsWith('user:') ? subject.slice('user:'.length) : null
    if (user === null || !users.has(user)) return false
    // Scopes name the integration, or select it by its labels.
    const [naming, selecting] = await Promise.all(
      [integration_id, SELECTED].map((id) => redis.hvals(REDIS_KEYS.integrationScopes(org, id))),
    )
    const others = new Set([...(naming ?? []), ...(selecting ?? []), SELECTED])
    others.delete(agent_id)
    for (const other of others)
      if ((await read(other)).some((scope) => scope.users?.includes(user))) return false
    return true
  }
}

/** The rows of before with the results of an attempt: what failed before was tried again. */
function rowsOf(
  before: readonly RevokedCredential[],
  results: readonly Result[],
): RevokedCredential[] {
  const rows = new Map<string, RevokedCredential>()
  const nameOf = ({ integration_id, connection_id, type }: Omit<KeptToken, 'revocation'>) =>
    JSON.stringify([integration_id, connection_id, type])
  const tried = new Set(results.map(({ mint }) => nameOf(mint.token)))
  for (const row of before) {
    const tokens = tried.has(nameOf(row)) ? { ...row.tokens, failed: 0 } : row.tokens
    rows.set(nameOf(row), { ...row, tokens })
  }
  for (const { mint, result } of results) {
    const { revocation: _, ...of } = mint.token
    const row = rows.get(nameOf(of)) ?? { ...of, tokens: NO_TOKENS, expires_at: null }
    const tokens = { ...row.tokens, [result]: row.tokens[result] + 1 }
    const ends = result === 'revoked' ? null : new Date(mint.expires_ms).toISOString()
    const expires_at = [row.expires_at, ends].reduce((a, b) => ((a ?? '') > (b ?? '') ? a : b))
    rows.set(nameOf(of), { ...row, tokens, expires_at })
  }
  const ranks = { failed: 0, unsupported: 1, revoked: 2 }
  return [...rows.values()]
    .map((row) => (resultOf(row) === 'revoked' ? { ...row, expires_at: null } : row))
    .toSorted((a, b) => ranks[resultOf(a)] - ranks[resultOf(b)])
    .slice(0, REVOCATION_ROWS_MAX)
}
