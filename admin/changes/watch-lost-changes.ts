import type { Logger } from 'pino'
import { activityWrite } from '../../core/change/activity-write.ts'
import { commit } from '../../core/change/commit.ts'
import { entryOfNoCall } from '../../core/activity/entry-of-no-call.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { repeatWork } from '../../core/system/repeat-work.ts'
import type { RecentChange, RecentChanges } from '../context/recent-changes.ts'

const LOOK_INTERVAL_MS = 1_000
/** How many of the lost changes an entry names; all are counted, and logged. */
const NAMED_MAX = 20

interface Parts {
  readonly redis: RedisClient
  readonly recentChanges: RecentChanges
  readonly lease_ms: number
  readonly log: Logger
  readonly now: () => Date
}

/**
 * Compares the store with the recent changes of this process whenever the connection is new, as after a failover, and reports
 * those that it lacks. Kills, reactivations and refusals are not among them: the edges restore these.
 * @returns the function that stops it
 */
export function watchLostChanges(parts: Parts): () => void {
  const { redis } = parts
  let isNew = false
  const onReady = (): void => {
    isNew = true
  }
  redis.on('ready', onReady)
  const look = async (): Promise<void> => {
    if (!isNew) return
    isNew = false
    await reportLost(parts)
  }
  const stop = repeatWork(LOOK_INTERVAL_MS, look, onReady)
  return () => {
    void stop()
    redis.off('ready', onReady)
  }
}

async function reportLost(parts: Parts): Promise<void> {
  const { redis, recentChanges, log } = parts
  // A restore of a backup takes changes back on purpose.
  if ((await redis.exists(REDIS_KEYS.restoring)) === 1) return
  const recent = recentChanges.all
  for (const organization_id of new Set(recent.map((change) => change.organization_id))) {
    // With an organization, its log is deleted.
    if ((await redis.hexists(REDIS_KEYS.organizations, organization_id)) === 0) continue
    const changes = recent.filter((change) => change.organization_id === organization_id)
    const lost = await missingOf(redis, organization_id, changes)
    if (lost.length === 0) continue
    await record(parts, organization_id, lost)
    recentChanges.remove(lost)
    log.error(
      { organization_id, lost },
      'the store has lost changes that were made, as after a failover; make them again',
    )
  }
}

/** A change is written in one script with its log entry, so the store has both or neither. */
async function missingOf(
  redis: RedisClient,
  organization_id: string,
  changes: readonly RecentChange[],
): Promise<readonly RecentChange[]> {
  const key = REDIS_KEYS.activity(organization_id)
  const found = await Promise.all(
    changes.map(({ logged_as }) => redis.xrange(key, logged_as, logged_as)),
  )
  // Read last: what is trimmed meanwhile is not lost.
  const [oldest] = await redis.xrange(key, '-', '+', 'COUNT', 1)
  return changes.filter(({ logged_as, activity_id }, at) => {
    // What an old primary and a new one have written can have the same id in the stream.
    if (JSON.stringify(found[at]).includes(activity_id)) return false
    // The log keeps a bounded number of entries.
    return oldest === undefined || timeOf(logged_as) >= timeOf(oldest[0])
  })
}

const timeOf = (stream_id: string): number => Number(stream_id.split('-')[0])

async function record(
  { redis, lease_ms, now }: Parts,
  organization_id: string,
  lost: readonly RecentChange[],
): Promise<void> {
  const entry = entryOfNoCall({
    event: 'changes_lost',
    organization_id,
    agent_id: null,
    agent_name: null,
    timestamp: now().toISOString(),
    actor: { source_ip: null, request_id: null, edge_id: null },
    data: {
      count: lost.length,
      changes: lost
        .slice(0, NAMED_MAX)
        .map(({ action, target, changed_at }) => ({ action, target, changed_at })),
    },
  })
  const writes = [activityWrite(entry)]
  await commit(redis, { guards: [], writes, events: [entry], targets: [] }, lease_ms)
}
