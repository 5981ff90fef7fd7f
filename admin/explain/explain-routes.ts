import { Type } from 'typebox'
import { storedKilledAt } from '../../core/decision/stored-killed-at.ts'
import type { Agent, Integration, Scope } from '../../core/model.ts'
import { compileIntegrations } from '../../core/policy/compile-integrations.ts'
import { compileScopes } from '../../core/policy/compile-scopes.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { openAuth } from '../../core/store/credential-binding.ts'
import { readRecord } from '../resources/records.ts'
import { Strict } from '../http/common-schemas.ts'
import { PATTERN_MESSAGE } from '../http/describe-problem.ts'
import { defineRoute, type Route } from '../http/define-route.ts'
import { answer } from '../http/outcome.ts'
import { explainCall } from './explain-call.ts'
import { Explanation } from './explanation.ts'

const Question = Strict({
  agent_id: Type.String({ minLength: 1, maxLength: 128 }),
  method: Type.String({
    pattern: "^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,32}$",
    [PATTERN_MESSAGE]: 'must be an HTTP method of at most 32 characters',
    description: 'As the agent sends it: methods are case-sensitive',
  }),
  url: Type.String({ minLength: 1, maxLength: 16_384, description: 'The absolute target URL' }),
})

export const explainRoutes: readonly Route[] = [
  defineRoute({
    method: 'POST',
    path: '/admin/explain',
    role: 'viewer',
    tag: 'explain',
    summary: 'Explain which integration, scope and rule apply to a call, without making it',
    body: Question,
    answers: { 200: Explanation },
    handle: async ({ context: { redis, ring }, actor, body }) => {
      const org = actor.organization_id
      const [agent, scopeTexts, integrationTexts] = await Promise.all([
        readRecord<Agent>(redis, REDIS_KEYS.agents(org), body.agent_id),
        redis.hvals(REDIS_KEYS.agentScopes(org, body.agent_id)),
        redis.hvals(REDIS_KEYS.integrations(org)),
      ])
      const scopes = scopeTexts.map((text) => JSON.parse(text) as Scope)
      const integrations = integrationTexts.map((text) => JSON.parse(text) as Integration)
      const record = agent?.record ?? null
      const explanation = explainCall({
        method: body.method,
        url: body.url,
        agent: {
          agent: record,
          killed_at: record === null ? null : storedKilledAt(record),
          scopes: compileScopes(scopes),
        },
        integrations: compileIntegrations(integrations),
        now_ms: Date.now(),
      })
      const found = explanation.integration?.integration_id
      const integration = integrations.find(({ integration_id }) => integration_id === found)
      const unusable =
        explanation.answer === 'allowed' && integration && openAuth(ring, integration) === null
      if (unusable)
        return answer(200, {
          ...explanation,
          answer: 'refused',
          error: 'credential_unavailable',
          details: { base_url: integration.base_url },
        })
      return answer(200, explanation)
    },
  }),
]
