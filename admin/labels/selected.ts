import {
  type Agent,
  type Labels,
  type Scope,
  SELECTED,
  type Selector,
} from '../../core/catalogue/model.ts'
import type { Write } from '../../core/change/commit.ts'
import { matchesSelector } from '../../core/decision/selector.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { readableRecord } from '../../core/store/stored-record.ts'

/** Scopes that select agents or integrations, of an organization. An edge holds all of them. */
export const SELECTOR_SCOPES_LIMIT = 200

/** Agents whose labels are read at a time; without their ids, as many as the store reads in two milliseconds. */
const LABELS_AT_ONCE = 2_000
const VALUES_AT_ONCE = 20_000

/** How many agents of the organization are selected by any of these, or named. */
export async function countSelected(
  redis: RedisClient,
  org: string,
  selectors: readonly Selector[],
  named: readonly string[] = [],
): Promise<number> {
  const matchesAny = (labels?: Labels): boolean =>
    selectors.some((selector) => matchesSelector(selector, labels))
  const [total, labelled] = await Promise.all([
    redis.zcard(REDIS_KEYS.agentIndex(org)),
    redis.hlen(REDIS_KEYS.agentLabels(org)),
  ])
  // Many agents have the same labels.
  const known = new Map<string, boolean>()
  const isSelected = (text: string): boolean => {
    const matches = known.get(text) ?? matchesAny(JSON.parse(text) as Labels)
    known.set(text, matches)
    return matches
  }
  const isForUnlabelled = matchesAny()
  const unlabelled = isForUnlabelled ? Math.max(0, total - labelled) : 0
  if (named.length === 0 && labelled <= VALUES_AT_ONCE) {
    const texts = await redis.hvals(REDIS_KEYS.agentLabels(org))
    return texts.filter(isSelected).length + unlabelled
  }
  const counted = new Set<string>(isForUnlabelled ? [] : named)
  const byName = new Set(named)
  for (let cursor = '0'; ; ) {
    const [next, pairs] = await redis.hscan(
      REDIS_KEYS.agentLabels(org),
      cursor,
      'COUNT',
      LABELS_AT_ONCE,
    )
    for (let i = 0; i + 1 < pairs.length; i += 2) {
      const [agent_id = '', text = ''] = [pairs[i], pairs[i + 1]]
      // A scan may return an agent twice.
      if (isSelected(text) || byName.has(agent_id)) counted.add(agent_id)
    }
    if (next === '0') return counted.size + unlabelled
    cursor = next
  }
}

/** How many integrations of the organization a selector selects. */
export async function countIntegrations(
  redis: RedisClient,
  org: string,
  selector: Selector,
): Promise<number> {
  const texts = await redis.hvals(REDIS_KEYS.integrations(org))
  return texts.filter((text) =>
    matchesSelector(selector, (JSON.parse(text) as { labels?: Labels }).labels),
  ).length
}

/** The scopes of the organization that select their agents. */
export async function agentSelecting(redis: RedisClient, org: string): Promise<readonly Scope[]> {
  const texts = await redis.hvals(REDIS_KEYS.agentScopes(org, SELECTED))
  return texts.flatMap((text) => readableRecord<Scope>(text) ?? [])
}

/** The scopes of the organization that select their integrations. */
export async function integrationSelecting(
  redis: RedisClient,
  org: string,
): Promise<readonly Scope[]> {
  const owners = await redis.hgetall(REDIS_KEYS.integrationScopes(org, SELECTED))
  const texts = await Promise.all(
    Object.entries(owners).map(([scope_id, owner]) =>
      redis.hget(REDIS_KEYS.agentScopes(org, owner), scope_id),
    ),
  )
  return texts.flatMap((text) => (text === null ? [] : (readableRecord<Scope>(text) ?? [])))
}

/** As JSON, the own scopes of an agent and those that select it. */
export async function scopeTextsOf(
  redis: RedisClient,
  org: string,
  agent_id: string,
  labels: Agent['labels'],
): Promise<readonly string[]> {
  const [own, selecting] = await Promise.all([
    redis.hvals(REDIS_KEYS.agentScopes(org, agent_id)),
    redis.hvals(REDIS_KEYS.agentScopes(org, SELECTED)),
  ])
  const selected = selecting.filter((text) =>
    matchesSelector((JSON.parse(text) as Scope).agent_selector, labels),
  )
  return [...own, ...selected]
}

/** Keeps the labels that `countSelected` reads. */
export const planLabels = (org: string, agent_id: string, labels: Labels): Write[] => [
  Object.keys(labels).length === 0
    ? ['HDEL', REDIS_KEYS.agentLabels(org), agent_id]
    : ['HSET', REDIS_KEYS.agentLabels(org), agent_id, JSON.stringify(labels)],
]

interface ScopeRef {
  readonly scope_id: string
  readonly name: string
}

/** What another set of labels changes; null if nothing. */
export function labelChange(
  selecting: readonly Scope[],
  by: 'agent_selector' | 'integration_selector',
  before: Labels | null,
  after: Labels,
): Readonly<Record<'scopes_gained' | 'scopes_lost', readonly ScopeRef[]>> | null {
  const gained: ScopeRef[] = []
  const lost: ScopeRef[] = []
  for (const scope of selecting) {
    const selector = scope[by]
    const was = before !== null && matchesSelector(selector, before)
    const is = matchesSelector(selector, after)
    const { scope_id, name } = scope
    if (is && !was) gained.push({ scope_id, name })
    if (was && !is) lost.push({ scope_id, name })
  }
  return gained.length + lost.length === 0 ? null : { scopes_gained: gained, scopes_lost: lost }
}
