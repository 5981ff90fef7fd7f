import { Type } from 'typebox'
import {
  type InjectionMode,
  namedId,
  SCOPE_DEFAULTS,
  type Scope,
  SELECTED,
  SPEAKERS,
} from '../../core/catalogue/model.ts'
import type { EdgeMember } from '../../core/store/edge-members.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { TimeText } from '../http/common-schemas.ts'
import type { Route } from '../http/define-route.ts'
import { conflict, invalid, type Refusal } from '../http/outcome.ts'
import { readTime, TIME_MESSAGE } from '../http/read-time.ts'
import { forgetScopeConnection } from '../changes/connection-writes.ts'
import { BULK_LIMIT } from '../resources/bulk-limit.ts'
import { defineResource } from '../resources/define-resource.ts'
import { checkAgentTotal } from './check-agent-total.ts'
import { canonicalScope } from './canonical-scope.ts'
import { checkNewScopes } from './check-new-scopes.ts'
import { checkerOf, checkPatterns } from './check-patterns.ts'
import { checkScopeSettings } from './check-scope-settings.ts'
import { checkKeptForm, countAffected } from './check-owners.ts'
import { makeScope } from './make-scope.ts'
import { planEndNotice } from './scope-ends.ts'
import {
  BULK_SCOPES,
  EditableScope,
  NewScope,
  SCOPE_NULLABLE,
  SCOPE_RESOURCE,
  SCOPE_WHOLE,
  ScopeView,
} from './scope-schemas.ts'
import { checkScopeConnection } from './scope-connection.ts'
import { scopeTarget } from './scope-target.ts'
import { scopeStore } from './scope-store.ts'
import { scopeView } from './scope-view.ts'

const needsOf = ({
  injection_detection: { mode, roles },
  agent_id,
  integration_id,
  not_before,
  expires_at,
  end_streams,
  rate_limiting,
  connection_id,
  users = [],
  token_narrowing,
  rules,
}: Scope): readonly EdgeMember[] => [
  ...(SPEAKERS.some((speaker) => isStricter(roles?.[speaker] ?? mode, mode))
    ? (['injection_roles'] as const)
    : []),
  ...(not_before == null ? [] : (['scope_not_before'] as const)),
  ...(expires_at == null ? [] : (['scope_expires_at'] as const)),
  ...(expires_at != null && end_streams === true ? (['scope_end_streams'] as const) : []),
  ...(rate_limiting.per === 'scope' ? (['rate_per_scope'] as const) : []),
  ...(connection_id == null ? [] : (['connection_id'] as const)),
  ...(users.length === 0 ? [] : (['scope_users'] as const)),
  ...(token_narrowing == null ? [] : (['token_narrowing'] as const)),
  ...(agent_id === SELECTED ? (['agent_selector'] as const) : []),
  ...(integration_id === SELECTED ? (['integration_selector'] as const) : []),
  ...(rules.some(({ approval }) => approval !== undefined) ? (['rule_approval'] as const) : []),
]

export const scopeRoutes: readonly Route[] = defineResource({
  ...SCOPE_RESOURCE,
  tag: 'scopes',
  view: ScopeView,
  store: scopeStore,
  show: (_, scopes) => scopes.map(scopeView),
  about: ({ agent_id, integration_id, scope_id }) => ({
    agent_id: namedId(agent_id),
    integration_id: namedId(integration_id),
    scope_id,
  }),
  targets: (scope) => [scopeTarget(scope)],
  needs: needsOf,
  create: {
    summary: 'Create a scope: allow an agent to call an integration',
    body: NewScope,
    make: makeScope,
    bulk: {
      ...BULK_SCOPES,
      summary: `Create up to ${BULK_LIMIT} scopes: all of them, or none`,
    },
    check: checkNewScopes,
  },
  list: {
    summary: 'List scopes, newest first',
    query: {
      agent_id: Type.Optional(Type.String({ maxLength: 128 })),
      integration_id: Type.Optional(Type.String({ maxLength: 128 })),
      q: Type.Optional(
        Type.String({
          maxLength: 200,
          description: 'Substring of the name or the id; case-insensitive',
        }),
      ),
      expires_after: Type.Optional(TimeText('Only scopes that end after this time')),
      expires_before: Type.Optional(TimeText('Only scopes that end before this time')),
    },
    narrow: async ({ context: { redis }, actor: { organization_id: org }, query }) => {
      const { agent_id, integration_id } = query
      const part = query.q?.toLowerCase()
      const times = readTimes(query)
      if ('kind' in times) return times
      if (
        agent_id === undefined &&
        integration_id === undefined &&
        part === undefined &&
        !times.isAsked
      )
        return {}
      const users =
        agent_id !== undefined
          ? REDIS_KEYS.agentScopes(org, agent_id)
          : integration_id !== undefined
            ? REDIS_KEYS.integrationScopes(org, integration_id)
            : null
      return {
        matches: (scope) =>
          times.matches(scope) &&
          (agent_id === undefined || scope.agent_id === agent_id) &&
          (integration_id === undefined || scope.integration_id === integration_id) &&
          (part === undefined ||
            scope.name.toLowerCase().includes(part) ||
            scope.scope_id.toLowerCase().includes(part)),
        ...(users === null ? {} : { among: await redis.hkeys(users) }),
      }
    },
  },
  read: { summary: 'Read a scope' },
  edit: {
    summary: 'Change a scope with a JSON merge patch. rules is replaced as a whole',
    methods: ['PUT', 'PATCH'],
    schema: EditableScope,
    read_only: ['origin', 'scope_id', 'agent_id', 'integration_id', 'created_at'],
    moving: ['affected_agents', 'confirm_affected'],
    whole: SCOPE_WHOLE,
    nullable: SCOPE_NULLABLE,
    defaults: SCOPE_DEFAULTS,
    apply: async ({ call, record, value, patch }) => {
      if (record.origin !== undefined) return conflict('grant', UNCHANGING)
      const { settings, redis } = call.context
      const edited = canonicalScope(value)
      // Rules from before a limit are kept while something else is changed.
      const hasOldRules = JSON.stringify(edited.rules) === JSON.stringify(record.rules)
      const issues = [
        ...checkKeptForm(record, edited),
        ...checkScopeSettings(edited, settings.maxBodyBytes, hasOldRules),
      ]
      if (issues.length > 0) return invalid(issues)
      const refused = await checkPatterns(edited.injection_detection, checkerOf(call))
      if (refused !== null) return refused
      const excess = await checkAgentTotal(redis, record, [{ ...record, ...edited }], record)
      if (excess !== null) return excess
      const changed = { ...record, ...edited }
      const connected = await checkScopeConnection(redis, changed, record)
      if (connected.kind === 'refusal') return connected
      const { confirm_affected: confirmed } = patch
      const counted = await countAffected(
        redis,
        changed,
        record,
        typeof confirmed === 'number' ? confirmed : undefined,
      )
      if (counted.kind === 'refusal') return counted
      const { affected_agents } = counted
      const effects = affected_agents === null ? null : { affected_agents }
      const ends = planEndNotice(changed, record.expires_at ?? null, call.context.now())
      const { guards } = connected
      const writes = [...ends, ...connected.writes]
      return { kind: 'edited', record: changed, guards, writes, effects }
    },
  },
  remove: {
    summary: 'Delete a scope',
    plan: (_, { organization_id: org, scope_id, integration_id, connection_id = null }) => ({
      kind: 'removed',
      writes: [
        ['HDEL', REDIS_KEYS.scopeOwners(org), scope_id],
        ['HDEL', REDIS_KEYS.integrationScopes(org, integration_id), scope_id],
        ...forgetScopeConnection({ organization_id: org, scope_id, connection_id }),
      ],
    }),
  },
})

const isStricter = (one: InjectionMode, other: InjectionMode): boolean =>
  (one === 'block' && other !== 'block') || (one === 'alert' && other === 'log')

const UNCHANGING =
  'An approval has made this scope, which never changes. Delete it to end what it allows, or create another one.'

/** Which scopes end within the times that a list is asked for. */
function readTimes({
  expires_after: after,
  expires_before: before,
}: {
  readonly expires_after?: string
  readonly expires_before?: string
}): Refusal | { readonly isAsked: boolean; readonly matches: (scope: Scope) => boolean } {
  const after_ms = after === undefined ? Number.NEGATIVE_INFINITY : readTime(after)
  const before_ms = before === undefined ? Number.POSITIVE_INFINITY : readTime(before)
  if (after_ms === null) return invalid([{ path: '/expires_after', message: TIME_MESSAGE }])
  if (before_ms === null) return invalid([{ path: '/expires_before', message: TIME_MESSAGE }])
  const isAsked = after !== undefined || before !== undefined
  const matches = ({ expires_at = null }: Scope): boolean => {
    if (!isAsked) return true
    const ends_ms = expires_at === null ? Number.NaN : Date.parse(expires_at)
    return ends_ms > after_ms && ends_ms < before_ms
  }
  return { isAsked, matches }
}
