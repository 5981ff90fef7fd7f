import { EPOCH, commit, type Guard, type Write } from '../../core/change/commit.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { Actor, AdminContext } from '../context/admin-context.ts'
import {
  type Answer,
  type Outcome,
  type Plan,
  type Refusal,
  type Streamed,
  conflict,
} from '../http/outcome.ts'
import { activityWrite } from '../../core/change/activity-write.ts'
import { auditEntry } from './audit-entry.ts'
import { type KeptAnswers, type RequestIdentity } from './kept-answers.ts'
import { requireEdges } from './require-edges.ts'
import { waitForEdges } from './wait-for-edges.ts'

/** A plan is made again when what it has read changes; after these attempts the caller should read again. */
const TRIES_LIMIT = 5

export interface Request {
  readonly actor: Actor
  readonly request_id: string
  /** Null when the request has no Idempotency-Key. */
  readonly identity: RequestIdentity | null
  /** Nothing is written: the answer says what would be. */
  readonly is_dry_run?: boolean
}

/**
 * Carries a request out: a plan is written in one script with its activity entry and its kept answer, and answered
 * when every live edge has it in force or has lost its lease (invariants 5 and 6).
 */
export async function carryOut(
  context: AdminContext,
  kept: KeptAnswers,
  request: Request,
  decide: () => Promise<Outcome>,
): Promise<Answer | Refusal | Streamed> {
  for (let tries = 0; tries < TRIES_LIMIT; tries++) {
    const earlier = request.identity === null ? null : await kept.find(request.identity)
    if (earlier !== null) return earlier
    const outcome = await decide()
    if (outcome.kind !== 'plan') return outcome
    if (request.is_dry_run === true) {
      const required = await requireEdges(context, outcome.needs ?? [])
      return required.kind === 'refusal' ? required : outcome.answer
    }
    const answered = await write(context, kept, request, outcome)
    if (answered !== null) return answered
  }
  return conflict(
    'changed_meanwhile',
    'The resource was changed concurrently. Read it again, then repeat the request.',
  )
}

/** Null when a guard did not hold. */
async function write(
  context: AdminContext,
  kept: KeptAnswers,
  { actor, request_id, identity }: Request,
  plan: Plan,
): Promise<Answer | Refusal | null> {
  const { redis, settings, nowMs, log } = context
  const { organization_id } = actor
  const required = await requireEdges(context, plan.needs ?? [])
  if (required.kind === 'refusal') return required
  const guards: Guard[] = [
    ['HGET', REDIS_KEYS.organizations, organization_id, true],
    ...plan.guards,
    ...required.guards,
  ]
  const by = { actor, request_id, time: context.clock.now() }
  const [first, ...others] = plan.audits
  const { action } = first
  const target = others.length === 0 ? first.target : `${first.target} and ${others.length} more`
  const entry = auditEntry(first, by)
  const entries = [...others.map((audit) => auditEntry(audit, by)), entry]
  const { events = [] } = plan
  // `logged_as` is the place of the entry that is written last.
  const writes: Write[] = [
    ...plan.writes,
    ...required.writes,
    ...[...events, ...entries].map(activityWrite),
  ]
  if (identity !== null) {
    guards.push(kept.guard(identity))
    writes.push(...kept.writes(identity, plan.answer, EPOCH))
  }
  const started_ms = nowMs()
  const { targets } = plan
  const change = { guards, writes, events, targets }
  const committed = await commit(
    redis,
    change,
    settings.killLease_ms,
    plan.even_when_full ? 'even_when_full' : 'ordinary',
  )
  if (committed.kind === 'refused') return null
  context.recentChanges.add({
    organization_id,
    logged_as: committed.logged_as,
    activity_id: entry.id,
    action,
    target,
    changed_at: entry.timestamp,
  })
  log.info({ action, target, actor: actor.email, request_id }, 'changed')
  if (targets.length > 0) await waitForEdges(context, committed, started_ms)
  // What is left behind when this fails is out of reach; the change itself is made.
  await plan.afterwards?.().catch((error: unknown) => log.warn({ err: error }, 'tidying failed'))
  return plan.answer
}
