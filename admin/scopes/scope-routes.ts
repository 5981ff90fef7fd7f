import { Type } from 'typebox'
import { type InjectionMode, SCOPE_DEFAULTS, SPEAKERS } from '../../core/model.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { Route } from '../http/define-route.ts'
import { invalid } from '../http/outcome.ts'
import { BULK_LIMIT } from '../resources/bulk-limit.ts'
import { defineResource } from '../resources/define-resource.ts'
import { checkAgentTotal } from './check-agent-total.ts'
import { canonicalScope } from './canonical-scope.ts'
import { checkNewScopes } from './check-new-scopes.ts'
import { checkerOf, checkPatterns } from './check-patterns.ts'
import { checkScopeSettings } from './check-scope-settings.ts'
import { makeScope } from './make-scope.ts'
import {
  BULK_SCOPES,
  EditableScope,
  NewScope,
  SCOPE_NULLABLE,
  SCOPE_RESOURCE,
  SCOPE_WHOLE,
  ScopeView,
} from './scope-schemas.ts'
import { scopeStore } from './scope-store.ts'
import { scopeView } from './scope-view.ts'

export const scopeRoutes: readonly Route[] = defineResource({
  ...SCOPE_RESOURCE,
  tag: 'scopes',
  view: ScopeView,
  store: scopeStore,
  show: (_, scopes) => scopes.map(scopeView),
  about: ({ agent_id, integration_id, scope_id }) => ({ agent_id, integration_id, scope_id }),
  targets: ({ organization_id, agent_id }) => [{ what: 'agent', organization_id, agent_id }],
  needs: ({ injection_detection: { mode, roles } }) =>
    SPEAKERS.some((speaker) => isStricter(roles?.[speaker] ?? mode, mode))
      ? ['injection_roles']
      : [],
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
    },
    narrow: async ({ context: { redis }, actor: { organization_id: org }, query }) => {
      const { agent_id, integration_id } = query
      const part = query.q?.toLowerCase()
      if (agent_id === undefined && integration_id === undefined && part === undefined) return {}
      const users =
        agent_id !== undefined
          ? REDIS_KEYS.agentScopes(org, agent_id)
          : integration_id !== undefined
            ? REDIS_KEYS.integrationScopes(org, integration_id)
            : null
      return {
        matches: (scope) =>
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
    read_only: ['scope_id', 'agent_id', 'integration_id', 'created_at'],
    whole: SCOPE_WHOLE,
    nullable: SCOPE_NULLABLE,
    defaults: SCOPE_DEFAULTS,
    apply: async ({ call, record, value }) => {
      const { settings, redis } = call.context
      const edited = canonicalScope(value)
      // Rules from before a limit are kept while something else is changed.
      const hasOldRules = JSON.stringify(edited.rules) === JSON.stringify(record.rules)
      const issues = checkScopeSettings(edited, settings.maxBodyBytes, hasOldRules)
      if (issues.length > 0) return invalid(issues)
      const refused = await checkPatterns(edited.injection_detection, checkerOf(call))
      if (refused !== null) return refused
      const excess = await checkAgentTotal(redis, record, [{ ...record, ...edited }], record)
      if (excess !== null) return excess
      return { kind: 'edited', record: { ...record, ...edited } }
    },
  },
  remove: {
    summary: 'Delete a scope',
    plan: (_, { organization_id: org, scope_id, integration_id }) => ({
      kind: 'removed',
      writes: [
        ['HDEL', REDIS_KEYS.scopeOwners(org), scope_id],
        ['HDEL', REDIS_KEYS.integrationScopes(org, integration_id), scope_id],
      ],
    }),
  },
})

const isStricter = (one: InjectionMode, other: InjectionMode): boolean =>
  (one === 'block' && other !== 'block') || (one === 'alert' && other === 'log')
