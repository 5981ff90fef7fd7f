import assert from 'node:assert/strict'
import { METHODS } from 'node:http'
import { call, type HttpAnswer } from '../call.ts'
import { rawHttp } from '../raw-http.ts'
import type { TestUpstream } from '../test-upstream.ts'
import type { RandomCall } from './random-call.ts'
import type { World } from './random-world.ts'

/** What `POST /admin/explain` answers. */
interface Explained {
  readonly answer: 'allowed' | 'refused'
  readonly error: string | null
  readonly details: Readonly<Record<string, unknown>>
  readonly integration: { readonly integration_id: string } | null
  readonly scope: { readonly scope_id: string } | null
  readonly rule: number | null
  readonly settings_from: readonly string[]
}

/** How the edge and `explain` agree, for the count; `logged` is held to the activity log afterwards. */
export interface Agreement {
  readonly kind: 'allowed' | 'tool_blocked' | 'refused' | 'key_refused' | 'refused_by_envoy'
  readonly reason: string
  readonly request_id: string | null
  readonly explained: Explained
}

export interface Compared {
  readonly proxyUrl: string
  readonly api: Pick<TestUpstream, 'received'>
  readonly world: World
}

/** What Envoy refuses before a processor sees it. */
const OF_ENVOY = ['bad_request', 'headers_too_large']
/** Decided before the agent is, so the same for any key of the organization. */
const BEFORE_AGENT = ['invalid_target_url', 'integration_not_found', 'ambiguous_target']
const REFUSED_KEY: Readonly<Record<string, readonly string[]>> = {
  revoked: ['invalid_api_key'],
  expired: ['invalid_api_key'],
  unknown: ['invalid_api_key'],
  none: ['authentication_required'],
}

/**
 * Asks `explain` about a call and sends it through Envoy. @throws where the two differ, or a refused call has arrived
 * @param mark a header value by which the call is recognized at the API
 */
export async function compareCall(
  { proxyUrl, api, world }: Compared,
  one: RandomCall,
  mark: string,
): Promise<Agreement> {
  const { agent, method, url } = one
  const explained: Explained = await world.operator.send('POST', '/admin/explain', {
    agent_id: agent.agent_id,
    method,
    url,
    headers: { ...one.headers, ...contentType(one) },
    ...(one.form === null ? {} : { body: one.form }),
  })
  const answer = await send(proxyUrl, one, mark)
  const arrived = api.received.filter((request) => request.header('x-case') === mark)
  const reason = answer.header('x-agw-reason') ?? ''
  const request_id = answer.header('x-agw-request-id') ?? null
  const says = `explain: ${JSON.stringify(explained)}; edge: ${answer.status} ${reason} ${answer.body.toString().slice(0, 600)}`
  const agree = (kind: Agreement['kind']): Agreement => ({ kind, reason, request_id, explained })

  if (reason !== '') assert.equal(arrived.length, 0, `a refused call arrived; ${says}`)
  if (OF_ENVOY.includes(reason)) {
    assert.ok(isOddForEnvoy(one), `Envoy refused a plain call; ${says}`)
    return agree('refused_by_envoy')
  }
  const refusedKey = refusedKeyOf(world, one)
  // An unknown key belongs to the default organization, which has other integrations.
  const isForeign = one.key === null || one.key === world.unknown_key
  if (isForeign && explained.error !== 'invalid_target_url') {
    assert.ok([...BEFORE_AGENT, ...(refusedKey ?? [])].includes(reason), says)
    return agree('key_refused')
  }
  if (refusedKey !== null && !BEFORE_AGENT.includes(explained.error ?? '')) {
    assert.ok(refusedKey.includes(reason), says)
    return agree('key_refused')
  }
  if (explained.answer === 'refused') {
    assert.equal(reason, explained.error, says)
    if (method !== 'HEAD') {
      // How to ask for access is for the agent alone.
      const { access_request: _, ...details } = answer.json().details
      assert.deepEqual(details, explained.details, says)
    }
    return agree('refused')
  }
  if (one.tool !== null && !isToolAllowed(world, explained.settings_from, one.tool)) {
    assert.equal(reason, 'mcp_tool_blocked', says)
    return agree('tool_blocked')
  }
  // The test upstream closes the connection on a method that Node does not know.
  if (!METHODS.includes(method)) {
    assert.equal(reason, 'upstream_reset', says)
    return agree('allowed')
  }
  assert.equal(reason, '', says)
  assert.equal(arrived.length, 1, says)
  assert.equal(arrived[0]?.method, method)
  return agree('allowed')
}

/** The reasons that the key may be refused for; null for a key that opens the agent's calls. */
function refusedKeyOf(world: World, { key_state, agent }: RandomCall): readonly string[] | null {
  if (key_state === 'limited')
    return agent.agent_id === world.agents[0]?.agent_id ? null : ['key_not_allowed']
  return REFUSED_KEY[key_state] ?? null
}

function contentType({ tool, form }: RandomCall): Readonly<Record<string, string>> {
  if (tool !== null) return { 'content-type': 'application/json' }
  return form === null ? {} : { 'content-type': 'application/x-www-form-urlencoded' }
}

const send = (proxyUrl: string, one: RandomCall, mark: string): Promise<HttpAnswer> => {
  const headers = {
    'x-case': mark,
    ...(one.key === null ? {} : { authorization: `Bearer ${one.key}` }),
    'x-agw-agent-id': one.agent.agent_id,
    ...one.headers,
    ...contentType(one),
  }
  const body = one.tool === null ? (one.form ?? undefined) : toolCall(one.tool)
  return isPlain(one.url) && one.method === one.method.toUpperCase()
    ? call({
        to: proxyUrl,
        path: `/${one.url}`,
        method: one.method,
        http_version: one.http_version,
        headers,
        ...(body === undefined ? {} : { body }),
      })
    : sendRaw(proxyUrl, one, headers, body ?? '')
}

/** What no client library would send goes over a connection of its own, which Envoy may close. */
async function sendRaw(
  proxyUrl: string,
  { method, url }: RandomCall,
  headers: Readonly<Record<string, string>>,
  body: string,
): Promise<HttpAnswer> {
  const lines = Object.entries({
    host: new URL(proxyUrl).host,
    ...headers,
    'content-length': String(Buffer.byteLength(body)),
  })
  const head = [`${method} /${url} HTTP/1.1`, ...lines.map((line) => line.join(': ')), '', ''].join(
    '\r\n',
  )
  const { answers } = await rawHttp(proxyUrl, Buffer.from(head + body))
  const [answer] = answers
  assert.ok(answer !== undefined, 'no answer')
  const header = (name: string): string | undefined =>
    new RegExp(`^${name}: *(.*)$`, 'im').exec(answer.head)?.[1]?.trim()
  return {
    status: answer.status,
    headers: [],
    body: Buffer.from(answer.body, 'latin1'),
    trailers: {},
    header,
    json: () => JSON.parse(answer.body),
  }
}

const toolCall = (name: string): string =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name } })

const isPlain = (url: string): boolean => /^[!-~]*$/.test(url)

/** Envoy refuses bytes in a path that the standard does not allow there, and a fragment. */
const isOddForEnvoy = ({ url }: RandomCall): boolean => !isPlain(url) || url.includes('#')

/** A model of tool permissions for the lists and names that the world has: the strictest of the scopes that apply. */
function isToolAllowed({ tools }: World, scope_ids: readonly string[], name: string): boolean {
  const lists = scope_ids.map((scope_id) => tools.get(scope_id) ?? { allow: [], deny: [] })
  const isUnrestricted = lists.every(({ allow, deny }) => allow.includes('*') && deny.length === 0)
  if (isUnrestricted) return true
  if (name.includes('\u200b')) return false
  const matches = (glob: string, text: string): boolean =>
    new RegExp(`^${glob.replaceAll('*', '.*')}$`).test(text)
  return (
    lists.every(({ allow }) => allow.some((glob) => matches(glob, name))) &&
    !lists.some(({ deny }) => deny.some((glob) => matches(glob, name.toLowerCase())))
  )
}
