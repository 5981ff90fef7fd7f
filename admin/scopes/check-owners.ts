import { isDeepStrictEqual } from 'node:util'
import { type Scope, SELECTED } from '../../core/catalogue/model.ts'
import { isNegativeSelector } from '../../core/catalogue/selector-text.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { conflict, invalid, type Issue, type Refusal } from '../http/outcome.ts'
import { countIntegrations, countSelected, SELECTOR_SCOPES_LIMIT } from '../labels/selected.ts'

type Selectors = Pick<Scope, 'agent_selector' | 'integration_selector'>

/** A scope names its agent or selects it, and the same for its integration. */
export function checkOwners(
  ids: Readonly<Record<'agent_id' | 'integration_id', string | undefined>>,
  { agent_selector, integration_selector }: Selectors,
): Issue[] {
  const issues: Issue[] = []
  const check = (name: 'agent' | 'integration', selector: unknown): void => {
    if ((ids[`${name}_id`] === undefined) === (selector == null))
      issues.push({
        path: `/${name}_id`,
        message: `must be given unless there is an ${name}_selector; a scope has one of them`,
      })
  }
  check('agent', agent_selector)
  check('integration', integration_selector)
  return issues
}

/** Whether a stored scope keeps the form that it has: what it is stored under depends on it. */
export const checkKeptForm = (
  record: Scope,
  { agent_selector, integration_selector }: Selectors,
): Issue[] =>
  (
    [
      ['agent', agent_selector, record.agent_id],
      ['integration', integration_selector, record.integration_id],
    ] as const
  ).flatMap(([name, selector, id]) =>
    (selector != null) === (id === SELECTED)
      ? []
      : [{ path: `/${name}_selector`, message: FIXED_FORM }],
  )

const FIXED_FORM = 'cannot be added or removed; create another scope instead'

/**
 * How many agents a scope selects. Refused if a new selector has negative terms alone and the request does not say how many it
 * selects: what is created later is selected too, unless someone labels it.
 */
export async function countAffected(
  redis: RedisClient,
  scope: Selectors & Pick<Scope, 'organization_id'>,
  before: Selectors | null,
  confirmed: number | undefined,
): Promise<Refusal | { readonly kind: 'counted'; readonly affected_agents: number | null }> {
  const { organization_id: org, agent_selector = null, integration_selector = null } = scope
  const affected_agents =
    agent_selector === null ? null : await countSelected(redis, org, [agent_selector])
  const isNew = (member: keyof Selectors): boolean =>
    !isDeepStrictEqual(scope[member] ?? null, before?.[member] ?? null)
  const isNegative = (member: keyof Selectors): boolean => {
    const selector = scope[member] ?? null
    return selector !== null && isNegativeSelector(selector) && isNew(member)
  }
  if (affected_agents !== null && isNegative('agent_selector') && confirmed !== affected_agents)
    return unconfirmed('agent_selector', affected_agents, 'agents')
  if (integration_selector !== null && isNegative('integration_selector')) {
    const count = await countIntegrations(redis, org, integration_selector)
    // With two such selectors the agents are confirmed.
    if (!isNegative('agent_selector') && confirmed !== count)
      return unconfirmed('integration_selector', count, 'integrations')
  }
  return { kind: 'counted', affected_agents }
}

const unconfirmed = (member: string, count: number, what: string): Refusal =>
  invalid([
    {
      path: '/confirm_affected',
      message: `must be ${count}: ${member} has only negative terms and selects ${count} ${what} now, and every later one without these labels`,
    },
  ])

/** @returns the refusal if the organization has as many of these scopes as it may */
export async function checkSelectorScopes(
  redis: RedisClient,
  scopes: readonly Scope[],
): Promise<Refusal | null> {
  const selecting = scopes.filter(
    ({ agent_id, integration_id }) => agent_id === SELECTED || integration_id === SELECTED,
  )
  const [first] = selecting
  if (first === undefined) return null
  const org = first.organization_id
  const [byAgent, byIntegration] = await Promise.all([
    redis.hkeys(REDIS_KEYS.agentScopes(org, SELECTED)),
    redis.hkeys(REDIS_KEYS.integrationScopes(org, SELECTED)),
  ])
  const count = new Set([...byAgent, ...byIntegration]).size + selecting.length
  return count > SELECTOR_SCOPES_LIMIT
    ? conflict(
        'too_many_scopes',
        `An organization has at most ${SELECTOR_SCOPES_LIMIT} scopes with selectors.`,
      )
    : null
}
