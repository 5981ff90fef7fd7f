import type { AdminAction } from '../activity/words-of-action.ts'
import type { ActivityEntry } from '../activity/activity-entry.ts'
import type { ControlTarget } from '../control/control-message.ts'
import type { Agent } from '../catalogue/model.ts'
import { type Write, commit } from '../change/commit.ts'
import { readAgentWithKeys } from './agent-with-keys.ts'
import { activityWrite } from '../change/activity-write.ts'
import { entryOfNoCall } from '../activity/entry-of-no-call.ts'
import type { KillParts } from './await-edges.ts'
import type { KillActor } from './kill-entries.ts'
import { nextRevision, reactivateWrites } from './kill-writes.ts'
import { LEASE_MARGIN_MS } from './lease-margin.ts'
import { NewerFormatError } from '../store/stored-record.ts'

const TRIES_LIMIT = 20

export interface ReactivateOrder {
  readonly organization_id: string
  readonly agent_id: string
  readonly reason: string
  readonly actor: KillActor
  /** A new key that replaces those that the kill revoked; null restores them. An active agent gets it in addition to its keys. */
  readonly replacement: {
    readonly writes: readonly Write[]
    readonly target: ControlTarget
    readonly key_id: string
  } | null
}

export interface Reactivated {
  readonly agent: Agent
  readonly credentials_restored: number
  /** False if the agent was active; then nothing was changed but for the new key. */
  readonly was_killed: boolean
}

/**
 * Reactivates an agent. Resolves when the change is in force on every edge, or the lease of an edge that did not acknowledge
 * has certainly expired.
 * @returns null if the agent does not exist
 * @throws NewerFormatError if a newer version has stored the agent: it stays killed until a process of that version reactivates it
 * @throws if the store is unavailable or rejects the write
 */
export async function reactivateAgent(
  parts: Omit<KillParts, 'log'>,
  order: ReactivateOrder,
): Promise<Reactivated | null> {
  const { redis, acknowledgements, lease_ms, nowMs, now } = parts
  const { organization_id, agent_id, replacement } = order
  for (let tries = 0; tries < TRIES_LIMIT; tries++) {
    const started_ms = nowMs()
    const found = await readAgentWithKeys(redis, organization_id, agent_id)
    if (found === null) return null
    // Not even whether it is active is said of an agent that a newer version has stored: the response shows the whole agent.
    const before = found.record
    if (before === null) throw new NewerFormatError()
    const was_killed = before.status === 'killed'
    if (!was_killed && replacement === null)
      return { agent: before, credentials_restored: 0, was_killed }
    const keysAre = replacement === null ? 'restored' : 'replaced'
    const change = was_killed
      ? reactivateWrites(found, nextRevision(found), keysAre)
      : { agent: before, keys: [], writes: [], targets: [] }
    const { agent, keys } = change
    const credentials_restored = replacement === null ? keys.length : 0
    const told = reactivationEntries(
      order,
      before,
      agent,
      credentials_restored,
      now().toISOString(),
    )
    const events = was_killed ? [told.event] : []
    const committed = await commit(
      redis,
      {
        guards: found.guards,
        writes: [
          ...change.writes,
          ...(replacement?.writes ?? []),
          ...[...events, told.audit].map(activityWrite),
        ],
        events,
        targets: [...change.targets, ...(replacement === null ? [] : [replacement.target])],
      },
      lease_ms + LEASE_MARGIN_MS,
      'even_when_full',
    )
    if (committed.kind === 'refused') continue
    const { epoch, edges } = committed
    await acknowledgements.wait(epoch, edges, started_ms, lease_ms + LEASE_MARGIN_MS)
    return { agent, credentials_restored, was_killed }
  }
  throw new Error('the agent changes faster than it can be reactivated')
}

/** The event for subscribers, and who made the change. */
function reactivationEntries(
  { organization_id, agent_id, actor, reason, replacement }: ReactivateOrder,
  { agent_name, status, killed_at, kill_reason }: Agent,
  { revision }: Agent,
  credentials_restored: number,
  timestamp: string,
): { readonly event: ActivityEntry; readonly audit: ActivityEntry } {
  const about = { organization_id, agent_id, agent_name, timestamp, actor }
  const outcome = { credentials_restored, rotated: replacement !== null }
  return {
    event: entryOfNoCall({
      ...about,
      event: 'agent_reactivated',
      data: { reason, triggered_by: actor.email, killed_at, kill_reason, ...outcome },
    }),
    audit: entryOfNoCall({
      ...about,
      event: 'admin_action',
      data: {
        actor: actor.email,
        actor_token_id: actor.token_id,
        action: 'agent.reactivate' satisfies AdminAction,
        target: agent_id,
        reason,
        ...outcome,
        before: { status },
        after: { status: 'active', revision },
      },
    }),
  }
}
