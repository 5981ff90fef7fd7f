import { dueOf } from '../../core/oauth/grant-store.ts'
import { type Grant, grantOf } from '../../core/oauth/grant.ts'
import type { GrantOwner } from '../../core/oauth/refresh-grant.ts'
import { hashKey, mintKey } from '../../core/keys/api-key.ts'
import { Secret } from '../../core/keys/secret.ts'
import {
  APPROVAL_DEFAULTS,
  type ApiKey,
  type Connection,
  type Integration,
  type Scope,
  SCOPE_DEFAULTS,
  SELECTED,
} from '../../core/catalogue/model.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { parseKeyRing } from '../../core/keys/seal.ts'
import { ownerOfConnection, sealAuth } from '../../core/store/credential-binding.ts'
import { aScope, anAgent, anIntegration } from '../unit/policy-kit.ts'
import type { Plan } from './plan.ts'
import type { IssuedTokens } from './sim-provider.ts'
import { START_MS } from './sim-process.ts'
import type { StoreModel } from './store-model.ts'

// What is stored when a simulation begins: one organization, one integration, some agents with two keys each.

export const ORG = 'org_default'
export const INTEGRATION = 'int_a'
export const WEBHOOK = 'whk_a'
export const CONNECTION = 'con_a'
export const TOKEN = 'tok_1'
export const ORIGIN = 'https://api.example.com'
export const ENCRYPTION_KEY = Buffer.alloc(32, 7).toString('base64')
export const ring = parseKeyRing(ENCRYPTION_KEY)
/** How long a request can be decided, and an approval used. */
const VALID_S = 3
/** Of an access token: it is renewed after two thirds of it. */
export const LIFE_MS = 1_500
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

/** The scope that selects agents, and what it allows. */
export const TEAM_SCOPE = 'scp_team'
export const teamScope = (team: string): Scope =>
  aScope({
    scope_id: TEAM_SCOPE,
    agent_id: SELECTED,
    agent_selector: { match_labels: { team }, match_expressions: [] },
    integration_id: INTEGRATION,
    injection_detection: { ...SCOPE_DEFAULTS.injection_detection, enabled: false },
    rules: [{ methods: ['*'], paths: ['/team/**'] }],
  })

export const ownScopeId = (agent: number): string => `scp_${agent}`

export const scopeOf = (agent: number, isWide: boolean): Scope =>
  aScope({
    scope_id: ownScopeId(agent),
    agent_id: agentId(agent),
    integration_id: INTEGRATION,
    injection_detection: { ...SCOPE_DEFAULTS.injection_detection, enabled: false },
    rules: [
      {
        methods: ['*'],
        paths: ['/asked/**'],
        approval: { ...APPROVAL_DEFAULTS, valid_seconds: VALID_S },
      },
      { methods: ['*'], paths: [isWide ? '/**' : '/open/**'] },
    ],
  })

export const teamOf = (agent: number): string => (agent % 2 === 0 ? 'even' : 'odd')

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

/** What its tokens are bound to: its credential does not change. */
let ownerOfTokens: GrantOwner | null = null
export const connectionOwner = (): GrantOwner => {
  if (ownerOfTokens === null) throw new Error('nothing is set up')
  return ownerOfTokens
}

export const grantFor = ({ access_token, refresh_token }: IssuedTokens, now_ms: number): Grant =>
  grantOf(ring, connectionOwner(), null, {
    token: new Secret(access_token),
    refresh_token: new Secret(refresh_token),
    lifetime_s: LIFE_MS / 1000,
    style: 'basic',
    started_ms: now_ms,
  })

/** With the first tokens of the provider. */
function setUpConnection(
  model: StoreModel,
  { introspects, reuse_s }: Plan['provider'],
  tokens: IssuedTokens,
): void {
  const plain = anIntegration(`${ORIGIN}/v1`, { integration_id: INTEGRATION })
  const auth = {
    type: 'oauth2_authorization_code',
    authorization_url: `${PROVIDER}/authorize`,
    token_url: `${PROVIDER}/token`,
    client_id: 'gateway',
    client_secret: 'hidden',
    ...(introspects ? { introspection_url: `${PROVIDER}/introspect` } : {}),
    ...(reuse_s > 0 ? { refresh_reuse_s: String(reuse_s) } : {}),
  } as const
  const connection = {
    connection_id: CONNECTION,
    organization_id: ORG,
    integration_id: INTEGRATION,
    name: 'connection',
    subject: 'shared',
    status: 'active',
    granted_by: 'ops@example.com',
    refreshed_at: CREATED_AT,
    created_at: CREATED_AT,
  } as const
  const unsealed = ownerOfConnection(plain, { connection_id: CONNECTION, auth })
  const sealed: Connection = { ...connection, auth: sealAuth(ring, { ...unsealed, auth }) }
  ownerOfTokens = { ...ownerOfConnection(plain, sealed), connection_id: CONNECTION }
  const grant = grantFor(tokens, START_MS)
  model.run('HSET', [REDIS_KEYS.connections(ORG), CONNECTION, JSON.stringify(sealed)])
  model.run('HSET', [REDIS_KEYS.grants(ORG), CONNECTION, JSON.stringify(grant)])
  model.run('ZADD', [REDIS_KEYS.grantsDue, String(dueOf(grant)), `${ORG} ${CONNECTION}`])
}

const PROVIDER = 'https://provider.example.com'

export function setUp(
  model: StoreModel,
  { agents, subject, provider }: Pick<Plan, 'agents' | 'subject' | 'provider'>,
  tokens: IssuedTokens,
): void {
  const put = (key: string, field: string, value: unknown): void =>
    void model.run('HSET', [key, field, typeof value === 'string' ? value : JSON.stringify(value)])
  model.run('SET', [REDIS_KEYS.installation, 'ins_simulated'])
  put(REDIS_KEYS.organizations, ORG, { organization_id: ORG, name: 'simulated' })
  put(REDIS_KEYS.integrations(ORG), INTEGRATION, integrationOf(1))
  for (let agent = 0; agent < agents; agent++) {
    put(
      REDIS_KEYS.agents(ORG),
      agentId(agent),
      anAgent({ agent_id: agentId(agent), labels: { team: teamOf(agent) } }),
    )
    const isWide = subject !== 'scopes'
    put(REDIS_KEYS.agentScopes(ORG, agentId(agent)), ownScopeId(agent), scopeOf(agent, isWide))
    put(REDIS_KEYS.scopeOwners(ORG), ownScopeId(agent), agentId(agent))
    for (const key of [0, 1]) {
      const record = keyOf(agent, key, null)
      put(REDIS_KEYS.apiKeys(ORG), record.key_id, record)
      put(REDIS_KEYS.apiKeyHashes, record.hash, `${ORG} ${record.key_id}`)
      model.run('ZADD', [REDIS_KEYS.apiKeyIndex(ORG, agentId(agent)), String(key), record.key_id])
    }
  }
  if (subject === 'scopes') {
    put(REDIS_KEYS.agentScopes(ORG, SELECTED), TEAM_SCOPE, teamScope('even'))
    put(REDIS_KEYS.scopeOwners(ORG), TEAM_SCOPE, SELECTED)
  }
  if (subject === 'approvals')
    put(REDIS_KEYS.adminTokens(ORG), TOKEN, { token_id: TOKEN, role: 'admin', expires_at: null })
  if (subject === 'refresh') setUpConnection(model, provider, tokens)
  put(REDIS_KEYS.webhooks(ORG), WEBHOOK, {
    webhook_id: WEBHOOK,
    organization_id: ORG,
    name: 'receiver',
    url: 'https://receiver.example.com/',
    events: ['agent_killed', 'locked'],
    secret: null,
    previous_secret: null,
    created_at: CREATED_AT,
  })
  for (const event of ['agent_killed', 'locked'])
    put(REDIS_KEYS.webhookSubscriptions(ORG), event, '1')
}
