import { type ChildProcess, fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { pino } from 'pino'
import { alertOfEntry } from '../../admin/alerts/alert-of-entry.ts'
import { refreshGrants } from '../../admin/oauth/refresh-grants.ts'
import type { ActivityEntry } from '../../core/activity/activity-entry.ts'
import type { Connection } from '../../core/catalogue/model.ts'
import { parseKeyRing } from '../../core/keys/seal.ts'
import type { Grant } from '../../core/oauth/grant.ts'
import type { GrantOwner } from '../../core/oauth/refresh-grant.ts'
import { connectRedis } from '../../core/redis/connect-redis.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { readSettings } from '../../core/settings/settings.ts'
import { egressOf } from '../../core/token/egress-of.ts'
import { openTokenCache } from '../../ext-proc/credential/open-token-cache.ts'
import { GRANT_INTEGRATION, GRANT_REDIRECT, makeGrant } from '../kit/make-grant.ts'
import { startOidcProvider } from '../kit/start-oidc-provider.ts'
import { startValkey } from '../kit/start-valkey.ts'
import { NO_REFERENCES } from '../kit/no-references.ts'
import { until } from '../kit/until.ts'

/**
 * The token caches of edges, and admin processes that refresh, as processes of their own, with the real oidc-provider:
 * npm run build && node dist/test/witness/refresh-by-one.js [--edges 8 --seconds 600] [--kills 200 [--grace 60]]
 * With --kills, an edge and an admin process are killed (SIGKILL) at random moments of a refresh, as many times. With --grace, the
 * provider takes a refresh token again for so many seconds after its first use, and the connections say so. Then each kill waits until what
 * the one before has left is dealt with: kills that follow each other without end use up any grace.
 */
const ORG = 'org_witness'
const LIFETIME_S = 5
/** An edge uses a token until 1.5 s before its end, which the provider rounds to seconds. A check that comes later says nothing. */
const MARGIN_MS = 450
const CONNECTIONS = 4
/** So many that some can be refreshed while others wait because of a kill. */
const CONNECTIONS_KILLED = 12
const CALL_INTERVAL_MS = 100
/** Of a process, in which it asks the provider once whether a token that it got is good. */
const TURNS_PER_CHECK = 20
const ADMINS = 2
/** Longer than a provider may be at work on the request of a process that was killed. */
const SETTLED_MS = 15_000
const silent = pino({ level: 'silent' })
const read = readSettings({ AGW_EGRESS_ALLOW_CIDRS: '127.0.0.0/8' })
if (!read.ok) throw new Error(read.problems.join('\n'))
const settings = { ...read.settings, killLease_ms: 1_000 }
const egress = egressOf(settings)

interface Told {
  readonly at_ms?: number
  readonly calls?: number
  readonly causes?: readonly string[]
  readonly token?: string
}

interface Task {
  readonly role: 'edge' | 'admin'
  readonly redis_url: string
  readonly key: string
}

const task = process.env['WITNESS_TASK']
if (task === undefined) await witness()
else await work(JSON.parse(task) as Task)

/** One process. It tells its parent of each call whether there was a token. */
async function work({ role, redis_url, key }: Task): Promise<void> {
  const redis = connectRedis(redis_url, { name: role, role: 'commands' })
  await until('the store is connected', () => redis.status === 'ready')
  const ring = parseKeyRing(key)
  process.once('disconnect', () => process.exit(0))
  if (role === 'admin') {
    const now = (): Date => new Date()
    refreshGrants({
      ...NO_REFERENCES,
      redis,
      ring,
      tokenEgress: egress,
      lease_ms: 1_000,
      now,
      log: silent,
    })
    return void process.send?.({ ready: true })
  }
  const cache = openTokenCache(
    settings,
    { ...NO_REFERENCES, redis, ring },
    { warn: () => undefined },
  )
  process.send?.({ ready: true })
  for (let turn = 1; ; turn++) {
    const owners = await redis.hgetall('witness-owners')
    const found = await Promise.all(
      Object.values(owners).map(async (text) => {
        const owner = JSON.parse(text) as GrantOwner
        const { organization_id, integration_id, connection_id } = owner
        const client = { grant: owner, variant: '' } as const
        const revision = owner.connection_id
        const of = { organization_id, integration_id, connection_id, agent_id: null, type: 'x' }
        // A token is as good as it was when it was chosen, however long the others take.
        return { at_ms: Date.now(), ...(await cache.get({ ...of, revision, client })) }
      }),
    )
    const causes = found.flatMap((one) => (one.kind === 'failed' ? [one.failure.cause] : []))
    const [first] = found.flatMap((one) =>
      one.kind === 'token' ? [{ at_ms: one.at_ms, token: one.token.reveal() }] : [],
    )
    const told = turn % TURNS_PER_CHECK === 0 ? first : undefined
    process.send?.({ calls: found.length, causes, ...told })
    await wait(CALL_INTERVAL_MS)
  }
}

async function witness(): Promise<void> {
  const { values } = parseArgs({
    options: {
      edges: { type: 'string', default: '8' },
      seconds: { type: 'string', default: '120' },
      kills: { type: 'string', default: '0' },
      grace: { type: 'string', default: '0' },
    },
  })
  const kills_wanted = Number(values.kills)
  const valkey = await startValkey()
  const grace_s = Number(values.grace)
  const of = { redirect_uri: GRANT_REDIRECT, lifetime_s: LIFETIME_S, grace_s }
  const provider = await startOidcProvider(of)
  const redis = connectRedis(valkey.url, { name: 'witness', role: 'commands' })
  await until('the store is connected', () => redis.status === 'ready')
  const key = randomBytes(32).toString('base64')
  const seen = { calls: 0, dead: 0, late: 0, causes: [] as string[] }
  const checks: Promise<void>[] = []
  const children: ChildProcess[] = []
  const start = (role: Task['role'], place: number): void => {
    const env = {
      ...process.env,
      WITNESS_TASK: JSON.stringify({ role, redis_url: valkey.url, key }),
    }
    const child = fork(process.argv[1] ?? '', [], { env })
    children[place] = child
    child.on('message', (message: Told) => {
      const { at_ms = 0, calls = 0, causes = [], token } = message
      seen.calls += calls
      seen.causes.push(...causes)
      if (token === undefined) return
      const check = async (): Promise<void> => {
        const isActive = await provider.isActive(token)
        if (Date.now() - at_ms > MARGIN_MS) seen.late++
        else if (!isActive) seen.dead++
      }
      checks.push(check())
    })
  }
  const edges = kills_wanted > 0 ? 1 : Number(values.edges)
  const admins = kills_wanted > 0 ? 1 : ADMINS
  const ring = parseKeyRing(key)
  const more =
    grace_s > 0
      ? { refresh_reuse_s: String(grace_s) }
      : { introspection_url: `${provider.issuer}/token/introspection` }
  const api = JSON.stringify({
    ...GRANT_INTEGRATION,
    organization_id: ORG,
    auth: { type: 'none' },
  })
  await redis.hset(REDIS_KEYS.integrations(ORG), GRANT_INTEGRATION.integration_id, api)
  let consents = 0
  const consent = async (): Promise<void> => {
    consents++
    const owner = await makeGrant({ provider, redis, ring, egress }, ORG, more).finally(
      () => consents--,
    )
    await redis.hset('witness-owners', owner.connection_id, JSON.stringify(owner))
  }
  for (let i = 0; i < (kills_wanted > 0 ? CONNECTIONS_KILLED : CONNECTIONS); i++) await consent()
  for (let i = 0; i < edges; i++) start('edge', i)
  for (let i = 0; i < admins; i++) start('admin', edges + i)
  let killed = 0
  /** Connections whose refresh token was lost. Edges go on asking for them. */
  const lost = new Map<string, string>()
  /** Someone connects again, with another one. */
  const replace = async (): Promise<void> => {
    const stored = Object.entries(await redis.hgetall(REDIS_KEYS.connections(ORG)))
    for (const [connection_id, text] of stored) {
      const { status, ended_by } = JSON.parse(text) as Connection
      if (status === 'active' || lost.has(connection_id)) continue
      lost.set(connection_id, `${status} ${ended_by}`)
      await consent()
    }
  }
  if (kills_wanted === 0) await wait(Number(values.seconds) * 1_000)
  const replacing = setInterval(() => void replace().catch(() => undefined), 1_000)
  let slowest_ms = 0
  while (killed < kills_wanted) {
    if (grace_s > 0) {
      const from_ms = performance.now()
      await until('no refresh is open', async () =>
        (await redis.hvals(REDIS_KEYS.grants(ORG))).every(
          (text) => (JSON.parse(text) as Grant).sent_ms === null,
        ),
      )
      if (killed > 0) slowest_ms = Math.max(slowest_ms, performance.now() - from_ms)
    }
    await new Promise<void>((resolve) => {
      provider.onRequest = (path, when) => {
        if (
          path !== '/token' ||
          consents > 0 ||
          when !== (Math.random() < 0.5 ? 'before' : 'after')
        )
          return true
        provider.onRequest = () => true
        setTimeout(resolve, Math.random() * 25)
        return true
      }
    })
    for (const [i, child] of children.entries()) {
      child.kill('SIGKILL')
      start(i < edges ? 'edge' : 'admin', i)
    }
    killed++
  }
  // What the last kill has left is dealt with.
  if (kills_wanted > 0) await wait(SETTLED_MS)
  clearInterval(replacing)
  await replace()
  for (const child of children) child.kill('SIGKILL')
  await Promise.all(checks)
  const uses = Object.values(countsOf(provider.refreshes.map(({ token }) => token)))
  const twice = uses.filter((count) => count > 1).length
  const log = await redis.xrange(REDIS_KEYS.activity(ORG), '-', '+')
  const alerts = log.flatMap(([, fields]) => {
    const entry = JSON.parse(fields[1] ?? '{}') as ActivityEntry
    return alertOfEntry(entry) === null ? [] : [String(entry.data['connection_id'])]
  })
  const rows = {
    edges,
    kills: killed,
    calls: seen.calls,
    failed_calls: seen.causes.length,
    causes: countsOf(seen.causes),
    dead_tokens_of: `${seen.dead} of ${checks.length - seen.late}`,
    refreshes: provider.refreshes.length,
    refused_refreshes: provider.refreshes.filter(({ is_accepted }) => !is_accepted).length,
    refresh_tokens_sent_twice: twice,
    connections_lost: lost.size,
    how: countsOf([...lost.values()]),
    alerts_of_lost: alerts.length,
    ...(grace_s > 0 ? { slowest_recovery_ms: Math.round(slowest_ms) } : {}),
  }
  process.stdout.write(`${JSON.stringify(rows, null, 2)}\n`)
  redis.disconnect()
  await provider.stop()
  await valkey.stop()
  const isOnce = grace_s > 0 ? lost.size === 0 : twice === 0
  const isToldOnce = alerts.length === lost.size && alerts.every((id) => lost.has(id))
  const isLostByKills = [...lost.values()].every((how) => how === 'needs_consent token_lost')
  const isWhole = kills_wanted > 0 || seen.causes.length + seen.dead === 0
  process.exit(
    isOnce && isToldOnce && isLostByKills && rows.refused_refreshes === 0 && isWhole ? 0 : 1,
  )
}

function countsOf(texts: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const text of texts) counts[text] = (counts[text] ?? 0) + 1
  return counts
}
