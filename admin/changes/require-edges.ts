import type { Guard, Write } from '../../core/change/commit.ts'
import { liveEdgeRecords } from '../../core/control/live-edge-records.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { EDGE_MEMBERS, type EdgeMember, isOlderVersion } from '../../core/store/edge-members.ts'
import { MINIMUM_VERSION, readMinimumVersion } from '../../core/store/minimum-version.ts'
import type { AdminContext } from '../context/admin-context.ts'
import { conflict, type Refusal } from '../http/outcome.ts'

/** Edges that a refusal names; all of them are counted. */
const NAMED_MAX = 20

export interface Requirement {
  readonly kind: 'required'
  readonly guards: readonly Guard[]
  readonly writes: readonly Write[]
}

/**
 * What a change that uses these members has to check and write: every live edge knows them, no edge has joined since, and edges that
 * do not know them can no longer serve. A refusal names the edges that are too old.
 */
export async function requireEdges(
  {
    redis,
    settings,
  }: Pick<AdminContext, 'redis'> & {
    readonly settings: Pick<AdminContext['settings'], 'killLease_ms'>
  },
  members: readonly EdgeMember[],
): Promise<Requirement | Refusal> {
  if (members.length === 0) return { kind: 'required', guards: [], writes: [] }
  const known = await redis.hlen(REDIS_KEYS.edges)
  const minimum = await readMinimumVersion(redis)
  const live = await liveEdgeRecords(redis, settings.killLease_ms)
  const unknown = members.filter((member) =>
    live.some(({ record }) => record.knows?.includes(member) !== true),
  )
  if (unknown.length > 0) {
    const old = live.filter(({ record }) =>
      unknown.some((member) => record.knows?.includes(member) !== true),
    )
    return conflict(
      'edges_too_old',
      `${old.length} running ${old.length === 1 ? 'edge does' : 'edges do'} not know ${unknown.join(', ')}, and would allow what it forbids. Upgrade the edges in details.edges first.`,
      {
        members: unknown,
        edges: old
          .slice(0, NAMED_MAX)
          .map(({ record: { edge_id, version = null } }) => ({ edge_id, version })),
      },
    )
  }
  const wanted = members
    .map((member): string => EDGE_MEMBERS[member])
    .reduce((one, other) => (isOlderVersion(one, other) ? other : one))
  const isRaised = minimum === null || isOlderVersion(minimum, wanted)
  return {
    kind: 'required',
    guards: [
      ['HLEN', REDIS_KEYS.edges, '', String(known)],
      ['HGET', REDIS_KEYS.requirements, MINIMUM_VERSION, minimum ?? false],
    ],
    writes: isRaised ? [['HSET', REDIS_KEYS.requirements, MINIMUM_VERSION, wanted]] : [],
  }
}
