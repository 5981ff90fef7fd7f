import { mintKey } from '../../../core/keys/api-key.ts'
import { type Operator, operatorAt } from '../operator.ts'
import type { SeededRandom } from '../seeded-random.ts'
import type { SharedStack } from '../shared-stack.ts'
import { until } from '../until.ts'

export interface WorldAgent {
  readonly agent_id: string
  readonly state: 'active' | 'killed' | 'deleted'
  readonly keys: Readonly<Record<'active' | 'revoked' | 'expired', string>>
}

export interface Tools {
  readonly allow: readonly string[]
  readonly deny: readonly string[]
}

/** An organization of its own with random integrations, agents and scopes, set up through the admin API. */
export interface World {
  readonly operator: Operator
  readonly organization_id: string
  readonly origins: readonly string[]
  readonly base_urls: readonly string[]
  readonly agents: readonly WorldAgent[]
  /** Keys of the organization: for every agent, and for the first one only. */
  readonly organization_key: string
  readonly limited_key: string
  /** Has the form of a key, but is unknown. */
  readonly unknown_key: string
  /** Tool permissions by scope. */
  readonly tools: ReadonlyMap<string, Tools>
}

const PATHS = [
  '/**',
  '/**',
  '/*',
  '/items',
  '/items/*',
  '/items/**',
  '/Items/*',
  '/items/*/secret',
  '/items/1',
  '/v2/**',
  '/*/1',
  '/admin/**',
  '/tools',
  '/',
]
const METHODS = [
  '*',
  'GET',
  'GET',
  'POST',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'HEAD',
  'OPTIONS',
  'PURGE',
  '*',
]
const TOOLS: readonly Tools[] = [
  { allow: ['*'], deny: [] },
  { allow: ['*'], deny: ['delete_*'] },
  { allow: ['read_*'], deny: [] },
  { allow: ['read_*', 'delete_*'], deny: ['*_all'] },
]
const AGENTS = 5
/** Not over before the key is made, on a machine that is busy. */
const KEY_LIFE_MS = 3_000

export async function makeWorld(
  { operator, proxyUrl, origin }: Pick<SharedStack, 'operator' | 'proxyUrl' | 'origin'>,
  random: SeededRandom,
): Promise<World> {
  const made = await operator.send('POST', '/admin/organizations', { name: 'explained' })
  const own = operatorAt(proxyUrl, made.admin_token)
  const origins = [origin('plain', 'http'), origin('other', 'http'), origin('plain', 'https')]
  const integrations = await makeIntegrations(own, origins)
  const tools = new Map<string, Tools>()
  const agents: WorldAgent[] = []
  for (let i = 0; i < AGENTS; i++) {
    const ids = integrations.map(({ integration_id }) => integration_id)
    agents.push(await makeAgent(own, ids, random, i === 3 ? 'killed' : 'active', tools))
  }
  agents.push({ agent_id: await deletedAgent(own), state: 'deleted', keys: NO_KEYS })
  const [all, limited] = await Promise.all([
    own.makeOrganizationKey(),
    own.makeOrganizationKey({ agent_ids: [agents[0]?.agent_id] }),
  ])
  return {
    operator: own,
    organization_id: made.organization_id,
    origins,
    base_urls: integrations.map(({ base_url }) => base_url),
    agents,
    organization_key: all.key,
    limited_key: limited.key,
    unknown_key: mintKey('live'),
    tools,
  }
}

const NO_KEYS = { active: '', revoked: '', expired: '' } as const

function makeIntegrations(own: Operator, [plain = '', other = '', secure = '']: readonly string[]) {
  return Promise.all([
    own.makeIntegration(`${plain}/v1`),
    own.makeIntegration(`${plain}/v1/admin`, { auth: { type: 'none' } }),
    own.makeIntegration(`${plain}/v2`, {
      auth: { type: 'query', name: 'api_key', value: 'stored-credential-2' },
      allow_encoded_slashes: true,
    }),
    own.makeIntegration(`${plain}/V3/items`, {
      auth: { type: 'header', name: 'X-Api-Key', value: 'stored-credential-3' },
    }),
    own.makeIntegration(other, { allow_empty_segments: true }),
    own.makeIntegration(`${secure}/api/v1beta1`, { strip_agent_id: false }),
  ])
}

async function makeAgent(
  own: Operator,
  integration_ids: readonly string[],
  random: SeededRandom,
  state: 'active' | 'killed',
  tools: Map<string, Tools>,
): Promise<WorldAgent> {
  const { agent_id, api_key } = await own.makeAgent()
  const keysUrl = `/admin/agents/${agent_id}/keys`
  const revoked = await own.send('POST', keysUrl, { name: 'revoked' })
  await own.send('DELETE', `${keysUrl}/${revoked.key_id}`)
  const expires_ms = Date.now() + KEY_LIFE_MS
  const expires_at = new Date(expires_ms).toISOString()
  const expired = await own.send('POST', keysUrl, { name: 'expired', expires_at })
  for (const integration_id of integration_ids)
    for (let i = random.below(4); i > 0; i--) {
      const mcp_tools = random.pick(TOOLS)
      const scope = await own.makeScope(agent_id, integration_id, {
        priority: random.below(3),
        rules: Array.from({ length: 1 + random.below(3) }, () => ({
          methods: random.some(METHODS, 1, 2),
          paths: random.some(PATHS, 1, 2),
        })),
        mcp_tools,
      })
      tools.set(scope.scope_id, mcp_tools)
    }
  if (state === 'killed')
    await own.send('POST', `/admin/agents/${agent_id}/kill`, { reason: 'test' })
  await until('the key has expired', () => Date.now() > expires_ms)
  return {
    agent_id,
    state,
    keys: { active: api_key, revoked: revoked.key, expired: expired.key },
  }
}

async function deletedAgent(own: Operator): Promise<string> {
  const { agent_id } = await own.makeAgent()
  await own.send('DELETE', `/admin/agents/${agent_id}?cascade=true`)
  return agent_id
}
