import type { SeededRandom } from '../seeded-random.ts'
import type { World, WorldAgent } from './random-world.ts'

/** How the key of a call is chosen. All but the first two must be refused, whatever `explain` says of the agent. */
export type KeyState =
  | 'agent'
  | 'organization'
  | 'limited'
  | 'revoked'
  | 'expired'
  | 'unknown'
  | 'none'

export interface RandomCall {
  readonly agent: WorldAgent
  readonly key_state: KeyState
  readonly key: string | null
  readonly method: string
  /** The target as an operator writes it. */
  readonly url: string
  /** The tool that the body calls; null for a call without a body. */
  readonly tool: string | null
  /** Headers by which some servers choose another method or address. */
  readonly headers: Readonly<Record<string, string>>
  /** A form, instead of a tool call; null for none. */
  readonly form: string | null
  readonly http_version: '1.1' | '2'
}

const words = (text: string): readonly string[] => text.split(/\s+/)
const METHODS = words(
  `GET GET GET POST POST PUT PATCH DELETE HEAD OPTIONS TRACE TRACK PURGE M-SEARCH REPORT PROPFIND get patch Delete`,
)
const SEGMENTS: readonly string[] = [
  ...words(
    `items items items 1 1 secret admin tools v1 v2 Items ITEMS 1%2fsecret 1%2Fsecret 1%252fsecret a%5cb a\\b .. . %2e%2e
    %2E ..%2f.. ..; ;x a;b=c %3b %00 a%0ab %7f %c3%a9 é %ff %c0%ae ％２ｅ ．． %ef%bc%8f 1%3fa 1%23a 1%26_method=DELETE
    %253f % %zz %u002e * ** a%20b ſecret K %e2%84%aa items%2f %2fitems`,
  ),
  '',
  '',
  'a b',
  'x'.repeat(300),
]
const PLAIN_SEGMENTS = words(`items items 1 secret tools admin v2`)
const PLAIN_QUERIES = ['', '', '?a=1']
const BELOW_ORIGIN = [
  '',
  ...words(`/v1 /V1 /v%31 /v1/admin /v1%2fadmin /V1/ADMIN /v2 /v10 /V3/items`),
]
const QUERIES = words(
  `? ? ?a=1 ?_method=DELETE ?.method=delete ?method=DELETE ?method=card ?_url=/items/1 ?rest_route=/admin
  ?%5fmethod=PUT&a=1 ?a=1;_method=DELETE ?api_key=x ?a=% ?a=%ff ?url=https://x/.. ?a=é ?a[]=1 ?q=%2e%2e/ ?a=1#b
  ?X-HTTP-Method-Override=DELETE`,
)
const TOOL_NAMES = [
  ...words(`read_repo delete_repo read_all delete_all write Delete_repo`),
  'read_repo\u200b',
]
const KEY_STATES: readonly KeyState[] = [
  'agent',
  'agent',
  'agent',
  'agent',
  'organization',
  'organization',
  'limited',
  'revoked',
  'expired',
  'unknown',
  'none',
]

const OVERRIDE_HEADERS: readonly Readonly<Record<string, string>>[] = [
  { 'x-http-method-override': 'DELETE' },
  { x_method_override: 'GET' },
  { 'x-original-url': '/admin', 'x-forwarded-host': 'evil.test' },
  { destination: '/v1/admin' },
  { 'x-method': 'PUT, PATCH' },
]
const FORMS = ['a=1', '_method=DELETE', '_method=put&a=1', 'rest_route=/admin']

export function randomCall(world: World, random: SeededRandom): RandomCall {
  const agent =
    random.below(4) === 0
      ? random.pick(world.agents)
      : random.pick(world.agents.filter(({ state }) => state === 'active'))
  const key_state = random.pick(KEY_STATES)
  const tool = random.below(4) === 0 ? random.pick(TOOL_NAMES) : null
  const method = tool === null ? random.pick(METHODS) : 'POST'
  const hasForm = tool === null && ['POST', 'PUT', 'PATCH'].includes(method)
  return {
    agent,
    key_state,
    key: keyOf(world, agent, key_state),
    method,
    headers: random.below(4) === 0 ? random.pick(OVERRIDE_HEADERS) : {},
    form: hasForm && random.below(2) === 0 ? random.pick(FORMS) : null,
    url: randomUrl(world, random),
    tool,
    http_version: random.pick(['1.1', '2']),
  }
}

function keyOf(world: World, agent: WorldAgent, state: KeyState): string | null {
  switch (state) {
    case 'agent':
      // The keys of a deleted agent are deleted with it.
      return agent.state === 'deleted' ? world.organization_key : agent.keys.active
    case 'organization':
      return world.organization_key
    case 'limited':
      return world.limited_key
    case 'revoked':
    case 'expired':
      return agent.state === 'active' ? agent.keys[state] : world.unknown_key
    case 'unknown':
      return world.unknown_key
    case 'none':
      return null
  }
}

/** Most are ordinary but for one oddity at most, so that as many calls are allowed as refused. */
function randomUrl(world: World, random: SeededRandom): string {
  const isOdd = random.below(3) === 0
  const base = isOdd ? spelledOrigin(world, random) : random.pick(world.base_urls)
  const plain = random.some(PLAIN_SEGMENTS, 0, 3)
  if (random.below(3) === 0) plain[random.below(plain.length + 1)] = random.pick(SEGMENTS)
  const slash = random.below(6) === 0 ? '/' : ''
  const query = random.pick(random.below(3) === 0 ? QUERIES : PLAIN_QUERIES)
  return base + plain.map((segment) => `/${segment}`).join('') + slash + query
}

/** An origin in some spelling, and mostly the path of a base URL. */
function spelledOrigin(world: World, random: SeededRandom): string {
  const origin = random.pick(world.origins)
  const spelled = random.pick([
    origin,
    origin,
    origin,
    origin.toUpperCase(),
    origin.replace('://', ':/'),
    origin.replace('.test', '.test.'),
    origin.replace(/:\d+$/, ''),
    origin.replace(/^http:/, 'https:'),
    origin.replace('://', '://user@'),
    origin.replace('http', 'ftp'),
    origin.replace('api', 'ap%69'),
    'http://unknown.test',
    'http://',
    '/',
  ])
  return spelled + random.pick(BELOW_ORIGIN)
}
