import { hashKey, mintKey } from '../../core/keys/api-key.ts'
import {
  type ApiKey,
  type Integration,
  type Scope,
  SCOPE_DEFAULTS,
} from '../../core/catalogue/model.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { parseKeyRing } from '../../core/keys/seal.ts'
import { sealAuth } from '../../core/store/credential-binding.ts'
import { aScope, anAgent, anIntegration } from '../unit/policy-kit.ts'
import type { StoreModel } from './store-model.ts'

// What is stored when a simulation begins: one organization, one integration, some agents with two keys each.

export const ORG = 'org_default'
export const INTEGRATION = 'int_a'
export const WEBHOOK = 'whk_a'
export const ORIGIN = 'https://api.example.com'
export const ENCRYPTION_KEY = Buffer.alloc(32, 7).toString('base64')
export const ring = parseKeyRing(ENCRYPTION_KEY)
const CREATED_AT = '2026-01-01T00:00:00.000Z'

export const agentId = (number: number): string => `agt_${number}`
/** Minted once: that they are random changes nothing that happens. */
const KEYS = Array.from({ length: 8 }, () => mintKey('live'))
export const keyText = (agent: number, key: number): string => KEYS[agent * 2 + key] ?? ''
export const keyId = (agent: number, key: number): string => `key_${agent}_${key}`

/** Its credential says which version it is. */
export function integrationOf(version: number): Integration {
  const plain = anIntegration(`${ORIGIN}/v1`, { integration_id: INTEGRATION, name: `v${version}` })
  const auth = { type: 'bearer', token: `secret-${version}` } as const
  return { ...plain, auth: sealAuth(ring, { ...plain, auth }) }
}

export const versionOf = ({ name }: Pick<Integration, 'name'>): number => Number(name.slice(1))

export const scopeOf = (agent: number, isWide: boolean): Scope =>
  aScope({
    scope_id: `scp_${agent}`,
    agent_id: agentId(agent),
    integration_id: INTEGRATION,
    injection_detection: { ...SCOPE_DEFAULTS.injection_detection, enabled: false },
    rules: [{ methods: ['*'], paths: [isWide ? '/**' : '/open/**'] }],
  })

export const keyOf = (agent: number, key: number, revoked_at: string | null): ApiKey => {
  const text = keyText(agent, key)
  return {
    key_id: keyId(agent, key),
    organization_id: ORG,
    agent_id: agentId(agent),
    hash: hashKey(text),
    last4: text.slice(-4),
    name: 'key',
    agent_ids: null,
    uses: ['proxy'],
    created_at: CREATED_AT,
    expires_at: null,
    revoked_at,
    revoked_by: revoked_at === null ? null : 'operator',
  }
}

export function setUp(model: StoreModel, agents: number): void {
  const put = (key: string, field: string, value: unknown): void =>
    void model.run('HSET', [key, field, typeof value === 'string' ? value : JSON.stringify(value)])
  model.run('SET', [REDIS_KEYS.installation, 'ins_simulated'])
  put(REDIS_KEYS.organizations, ORG, { organization_id: ORG, name: 'simulated' })
  put(REDIS_KEYS.integrations(ORG), INTEGRATION, integrationOf(1))
  for (let agent = 0; agent < agents; agent++) {
    put(REDIS_KEYS.agents(ORG), agentId(agent), anAgent({ agent_id: agentId(agent) }))
    put(REDIS_KEYS.agentScopes(ORG, agentId(agent)), `scp_${agent}`, scopeOf(agent, true))
    for (const key of [0, 1]) {
      const record = keyOf(agent, key, null)
      put(REDIS_KEYS.apiKeys(ORG), record.key_id, record)
      put(REDIS_KEYS.apiKeyHashes, record.hash, `${ORG} ${record.key_id}`)
      model.run('ZADD', [REDIS_KEYS.apiKeyIndex(ORG, agentId(agent)), String(key), record.key_id])
    }
  }
  put(REDIS_KEYS.webhooks(ORG), WEBHOOK, {
    webhook_id: WEBHOOK,
    organization_id: ORG,
    name: 'receiver',
    url: 'https://receiver.example.com/',
    events: ['agent_killed'],
    secret: null,
    previous_secret: null,
    created_at: CREATED_AT,
  })
  put(REDIS_KEYS.webhookSubscriptions(ORG), 'agent_killed', '1')
}
