import { raiseAlert } from '../alerts/raise-alert.ts'
import { resolveAlert } from '../alerts/resolve-alert.ts'
import { commit, type Guard, type Write } from '../change/commit.ts'
import type { ControlTarget } from '../control/control-message.ts'
import type { Agent } from '../catalogue/model.ts'
import { REDIS_KEYS } from '../redis/redis-keys.ts'
import type { RedisClient } from '../redis/run-script.ts'
import { scanHash } from '../redis/scan-store.ts'
import type { Formatted } from '../store/stored-record.ts'

/**
 * Changes that a store may have lost and that nothing else knows, such as a kill in the last second before its disk failed. The agents
 * that it had then are refused until an administrator acknowledges the gap, for all of them or for some.
 */
export interface RestoreGap {
  /** Changes until then are known. */
  readonly known_until: string
  readonly opened_at: string
  /** Sentences for the operator. */
  readonly reasons: readonly string[]
  /** Every agent has been marked. */
  readonly is_marked: boolean
}

interface Parts {
  readonly redis: RedisClient
  readonly lease_ms: number
}

/** Identifies the alert. */
export const GAP_ALERT = 'restore_gap'
const REASONS_MAX = 20
/** Agents of one change. */
const AGENTS_AT_ONCE = 100
const TRIES_MAX = 20

export async function readGap(redis: RedisClient): Promise<RestoreGap | null> {
  const text = await redis.get(REDIS_KEYS.restoreGap)
  return text === null ? null : (JSON.parse(text) as RestoreGap)
}

/** Opens a gap, or adds to one that is open, and marks every agent that there is now. It can be repeated after an interruption. */
export async function openGap(
  parts: Parts,
  { known_until, reasons }: Pick<RestoreGap, 'known_until' | 'reasons'>,
  now: Date,
): Promise<void> {
  const { redis } = parts
  const open = await readGap(redis)
  const gap: RestoreGap = {
    known_until: open === null || known_until < open.known_until ? known_until : open.known_until,
    opened_at: open?.opened_at ?? now.toISOString(),
    reasons: [...new Set([...(open?.reasons ?? []), ...reasons])].slice(0, REASONS_MAX),
    is_marked: false,
  }
  await redis.set(REDIS_KEYS.restoreGap, JSON.stringify(gap))
  await markAgents(parts, gap)
}

/** Continues what an interruption has left. */
export async function completeGap(parts: Parts): Promise<void> {
  const gap = await readGap(parts.redis)
  if (gap !== null && !gap.is_marked) await markAgents(parts, gap)
}

async function markAgents(parts: Parts, gap: RestoreGap): Promise<void> {
  for await (const [organization_id] of scanHash(parts.redis, REDIS_KEYS.organizations))
    await changeAgents(parts, organization_id, null, (agent) =>
      agent.restore_gap === undefined ? { ...agent, restore_gap: gap.known_until } : null,
    )
  const text = JSON.stringify({ ...gap, is_marked: true })
  await parts.redis.set(REDIS_KEYS.restoreGap, text)
}

/** One critical alert stands while the gap is open. */
export const raiseGapAlert = (
  redis: RedisClient,
  organization_id: string,
  { known_until, reasons }: RestoreGap,
  now: Date,
): Promise<string> =>
  raiseAlert(
    redis,
    organization_id,
    {
      about: GAP_ALERT,
      kind: 'restore_gap',
      severity: 'critical',
      title: gapSentence(known_until),
      occurrence: { known_until, reasons },
    },
    now,
  )

export const gapSentence = (known_until: string): string =>
  `Changes made after ${known_until} are unknown, such as kills and revocations. The agents of the backup are refused until an administrator acknowledges this (agw restore-gap).`

/**
 * The agents may call again.
 * @param who an organization and some of its agents; null for all of it; null for all organizations, which closes the gap
 * @returns how many agents were refused until now
 */
export async function acknowledgeGap(
  parts: Parts,
  who: { readonly organization_id: string; readonly agent_ids: readonly string[] | null } | null,
  alerts_of: string,
  now: Date,
): Promise<number> {
  const { redis } = parts
  const unmark = ({ restore_gap, ...agent }: StoredAgent): StoredAgent | null =>
    restore_gap === undefined ? null : agent
  if (who !== null) return await changeAgents(parts, who.organization_id, who.agent_ids, unmark)
  let count = 0
  for await (const [organization_id] of scanHash(redis, REDIS_KEYS.organizations))
    count += await changeAgents(parts, organization_id, null, unmark)
  await redis.del(REDIS_KEYS.restoreGap)
  const resolution = 'An administrator has acknowledged the gap.'
  await resolveAlert(redis, alerts_of, GAP_ALERT, { resolution, at: now })
  return count
}

type StoredAgent = Partial<Agent> & Formatted

/** Changes the records of agents; one that changes meanwhile is read again. @returns how many were changed */
async function changeAgents(
  { redis, lease_ms }: Parts,
  organization_id: string,
  agent_ids: readonly string[] | null,
  edit: (agent: StoredAgent) => StoredAgent | null,
): Promise<number> {
  const key = REDIS_KEYS.agents(organization_id)
  let count = 0
  const write = async (page: readonly (readonly [string, string])[]): Promise<boolean> => {
    const guards: Guard[] = []
    const writes: Write[] = []
    const targets: ControlTarget[] = []
    for (const [agent_id, text] of page) {
      const changed = edit(JSON.parse(text) as StoredAgent)
      if (changed === null) continue
      guards.push(['HGET', key, agent_id, text])
      writes.push(['HSET', key, agent_id, JSON.stringify(changed)])
      targets.push({ what: 'agent', organization_id, agent_id })
    }
    if (writes.length === 0) return true
    const change = { guards, writes, targets }
    const committed = await commit(redis, change, lease_ms, 'even_when_full')
    if (committed.kind === 'committed') count += writes.length
    return committed.kind === 'committed'
  }
  const readAndWrite = async (ids: readonly string[]): Promise<void> => {
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      const texts = await redis.hmget(key, ...ids)
      const page = ids.flatMap((id, i) => (texts[i] == null ? [] : [[id, texts[i]] as const]))
      if (await write(page)) return
    }
    throw new Error('agents change faster than they can be marked')
  }
  const ids = agent_ids ?? (await redis.hkeys(key))
  for (let i = 0; i < ids.length; i += AGENTS_AT_ONCE)
    await readAndWrite(ids.slice(i, i + AGENTS_AT_ONCE))
  return count
}
