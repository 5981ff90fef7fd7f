import { readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type HttpAnswer, call } from '../kit/call.ts'
import { operatorAt } from '../kit/operator.ts'
import { startStack } from '../kit/start-stack.ts'

/**
 * Runs the cases of agent-egress-bench against the running product and prints, for each category, how many attacks and
 * how many benign cases were blocked. The cases are given by their folder.
 *
 *     node cli/prepare.mjs build && node dist/test/witness/egress-bench.js [--product FOLDER] [--all] CASES
 *
 * A case goes as a call to an API that answers what the case says, under the default sensitivity. Categories about the
 * caller's own secrets in a request, and about shell commands, are run with `--all` alone: the gateway has no rule for
 * these. WebSocket is refused as a whole, so its cases are left out.
 */
const OTHER_SUBJECTS = new Set([
  'url',
  'request_body',
  'headers',
  'hostname_exfiltration',
  'crypto_financial',
  'encoding_evasion',
  'shell_obfuscation',
])
interface Case {
  readonly id: string
  readonly category: string
  readonly input_type: string
  readonly expected_verdict: 'block' | 'allow'
  readonly payload: {
    readonly method?: string
    readonly url?: string
    readonly headers?: Readonly<Record<string, string>>
    readonly body?: string
    readonly content_type?: string
    readonly response_body?: string
    readonly agent_card?: object
    readonly jsonrpc_messages?: readonly { readonly id?: unknown; readonly method?: string }[]
  }
}

const LEFT_OUT = 'websocket_frame'

interface Sent {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

const words = process.argv.slice(2)
const option = (name: string): string | undefined => {
  const at = words.indexOf(name)
  return at < 0 ? undefined : words.splice(at, 2)[1]
}
const product = option('--product')
const [folder] = words.filter((word) => word !== '--all')
if (folder === undefined) throw new Error('name the folder of the cases')

let said: { readonly type: string; readonly body: string } = { type: 'text/plain', body: 'ok' }
const api = createServer((request, response) => {
  request.resume()
  request.once('end', () => response.writeHead(200, { 'content-type': said.type }).end(said.body))
})
await new Promise<void>((resolve) => api.listen(0, '127.0.0.1', resolve))
const origin = `http://127.0.0.1:${(api.address() as AddressInfo).port}`
const stack = await startStack({ AGW_EGRESS_ALLOW_CIDRS: '127.0.0.0/8' }, product)
try {
  const { headers } = await operatorAt(stack.apiUrl, stack.adminToken).makeAccess(origin, {
    auth: { type: 'none' },
    scope: {
      injection_detection: { enabled: true, mode: 'block', scan_responses: true },
    },
  })
  const totals = new Map<
    string,
    { attacks: number; blocked: number; benign: number; alarms: number }
  >()
  const wrong: string[] = []
  for (const one of casesIn(folder)) {
    const total = totals.get(one.category) ?? { attacks: 0, blocked: 0, benign: 0, alarms: 0 }
    totals.set(one.category, total)
    const why = await blockOf(one, headers.authorization)
    const isAttack = one.expected_verdict === 'block'
    total[isAttack ? 'attacks' : 'benign']++
    if (why !== null) total[isAttack ? 'blocked' : 'alarms']++
    if (isAttack === (why === null))
      wrong.push(`${isAttack ? 'missed' : 'alarm '} ${one.id}${why === null ? '' : ` ${why}`}`)
  }
  for (const [category, { attacks, blocked, benign, alarms }] of totals)
    console.log(
      `${category.padEnd(22)} blocked ${blocked} of ${attacks} attacks, ${alarms} of ${benign} benign cases`,
    )
  for (const line of wrong) console.log(line)
} finally {
  await stack.stop()
  api.close().closeAllConnections()
}
process.exit()

function casesIn(root: string): readonly Case[] {
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.json'))
    .sort()
    .map((name) => JSON.parse(readFileSync(join(root, name), 'utf8')) as Case)
    .filter(({ input_type }) => input_type !== LEFT_OUT)
    .filter(({ category }) => words.includes('--all') || !OTHER_SUBJECTS.has(category))
}

/** By what a case was blocked; null when all of it passed. */
async function blockOf(one: Case, authorization: string): Promise<string | null> {
  const { payload } = one
  const send = (path: string, more: Sent = {}): Promise<HttpAnswer> =>
    call({
      to: stack.proxyUrl,
      path: `/${path}`,
      ...more,
      headers: [...Object.entries(more.headers ?? {}), ['authorization', authorization]],
    })
  said = { type: 'text/plain', body: 'ok' }
  switch (one.input_type) {
    case 'response_content': {
      const body = payload.response_body ?? ''
      said = {
        type: /^[{[]/.test(body)
          ? 'application/json'
          : body.startsWith('<')
            ? 'text/html'
            : 'text/plain',
        body,
      }
      return verdictOf(await send(here(payload.url)))
    }
    case 'a2a_agent_card':
      said = { type: 'application/json', body: JSON.stringify(payload.agent_card) }
      return verdictOf(await send(`${origin}/.well-known/agent-card.json`))
    case 'mcp_tool_definition':
    case 'mcp_tool_result': {
      const [message = {}] = payload.jsonrpc_messages ?? []
      said = { type: 'application/json', body: JSON.stringify(message) }
      const asked =
        one.input_type === 'mcp_tool_result'
          ? { method: 'tools/call', params: { name: 'search', arguments: {} } }
          : { method: 'tools/list', params: {} }
      return verdictOf(
        await send(`${origin}/mcp`, post({ jsonrpc: '2.0', id: message.id ?? 1, ...asked })),
      )
    }
    case 'mcp_tool_call':
    case 'mcp_tool_sequence':
    case 'a2a_message': {
      for (const message of payload.jsonrpc_messages ?? []) {
        said = {
          type: 'application/json',
          body: JSON.stringify({ jsonrpc: '2.0', id: message.id ?? null, result: { content: [] } }),
        }
        const why = verdictOf(await send(`${origin}/mcp`, post(message)))
        if (why !== null) return why
      }
      return null
    }
    default: {
      // A target without an integration is refused as such, whatever it is; only SSRF is about the host itself.
      const target = one.category === 'ssrf_bypass' ? (payload.url ?? '') : here(payload.url)
      const headers = {
        ...withoutAuthorization(payload.headers),
        ...(payload.content_type === undefined ? {} : { 'content-type': payload.content_type }),
      }
      const { method = 'GET', body } = payload
      return verdictOf(
        await send(target, { method, headers, ...(body === undefined ? {} : { body }) }),
      )
    }
  }
}

/** A response that comes back other than the API sent it had something withheld. */
function verdictOf(answer: HttpAnswer): string | null {
  const reason = answer.header('x-agw-reason')
  if (reason !== undefined)
    return `${answer.status} ${reason} ${String(answer.json()?.details?.pattern_name ?? answer.json()?.error?.data?.details?.pattern_name ?? '')}`
  return answer.body.toString() === said.body ? null : 'withheld in part'
}

function post(message: object): Sent {
  return {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify(message),
  }
}

/** A call has one `Authorization`, and it is the agent's key. */
function withoutAuthorization(
  headers: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => name.toLowerCase() !== 'authorization'),
  )
}

/** The address of a case with its host replaced by our API, spelled as it is sent. */
function here(url = ''): string {
  const { pathname, search } = new URL(url)
  return `${origin}${pathname}${search}`
}
