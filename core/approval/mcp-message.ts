import { readString } from '../request/json-lexis.ts'
import { type JsonMember, skipValue, walkMembers } from '../request/walk-json.ts'

/** A message to an MCP server, without what clients write otherwise each time they send the same one. */
export interface McpMessage {
  /** What is sent: without the answer to a question of the gateway. */
  readonly sent: Buffer
  /** What an approval covers: `sent` without the values of `id` and `_meta.progressToken`, which only say which answer belongs to it. */
  readonly counted: Buffer
  /** `requestState` of the gateway that the client has sent back; null if there is none. */
  readonly state: string | null
  /** Whether the client can show a URL to its user, and nothing is pending between it and the API. */
  readonly may_ask: boolean
}

/** Before what the gateway seals, so that the state of an API is not taken for it. */
export const STATE_PREFIX = 'agw.'
/** The question of the gateway in `inputRequests`. */
export const QUESTION = 'agw_approval'
const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities'
const CAPABILITIES_MAX_BYTES = 4_096
const STATE_MAX_BYTES = 4_096
/** Of a call and its parameters, without those of its arguments. */
const NAMES_MAX = 1_000
const OPEN_OBJECT = 0x7b
const COMMA = 0x2c
/** A string or a number. */
const SCALAR = /^["\d-]/

interface Span {
  readonly start: number
  readonly end: number
}

/**
 * Null for what is not plainly one message: a name that is written twice or with escapes, since servers may differ in what they read. All
 * bytes of it count then.
 */
export function readMcpMessage(body: Buffer): McpMessage | null {
  if (body[0] !== OPEN_OBJECT) return null
  const found = new Map<string, Span & Pick<JsonMember, 'key_start' | 'comma_before'>>()
  const take = (path: string, start: number, inside: readonly string[]): number =>
    walkMembers(body, start, (member) => {
      const name = `${path}${body.toString('utf8', member.key_start + 1, member.key_end - 1)}`
      // Of the names that decide, none is written twice or in another way.
      if (found.has(name) || name.includes('\\') || found.size >= NAMES_MAX) return -1
      const { value_start } = member
      const isObject = body[value_start] === OPEN_OBJECT
      const end =
        isObject && inside.includes(name)
          ? take(`${name}.`, value_start, inside)
          : skipValue(body, value_start)
      found.set(name, { ...member, start: value_start, end })
      return end
    })
  if (take('', 0, ['params', 'params._meta']) !== body.length) return null
  const textOf = (name: string, max: number): string | null => {
    const span = found.get(name)
    return span === undefined || span.end - span.start > max
      ? null
      : body.toString('utf8', span.start, span.end)
  }
  const given = found.get('params.requestState')
  const state =
    given === undefined || given.end - given.start > STATE_MAX_BYTES || body[given.start] !== 0x22
      ? null
      : readString(body, given.start, given.end)
  const isOwn = state?.startsWith(STATE_PREFIX) === true
  const answers = isOwn ? [found.get('params.inputResponses'), given] : []
  const cuts = answers.flatMap((member) => (member === undefined ? [] : [wholeOf(body, member)]))
  const volatile = ['id', 'params._meta.progressToken'].flatMap((name) => {
    const span = found.get(name)
    return span !== undefined && SCALAR.test(body.toString('latin1', span.start, span.start + 1))
      ? [span]
      : []
  })
  return {
    sent: without(body, cuts),
    counted: without(body, [...cuts, ...volatile]),
    state: isOwn ? state : null,
    may_ask:
      (isOwn || (given === undefined && !found.has('params.inputResponses'))) &&
      showsUrls(textOf(`params._meta.${CAPABILITIES}`, CAPABILITIES_MAX_BYTES)),
  }
}

/** A member with the comma that belongs to it. */
function wholeOf(
  body: Buffer,
  { key_start, end, comma_before }: Span & Pick<JsonMember, 'key_start' | 'comma_before'>,
): Span {
  if (comma_before >= 0) return { start: comma_before, end }
  const next = body.indexOf(COMMA, end)
  return { start: key_start, end: next < 0 ? end : next + 1 }
}

function without(body: Buffer, spans: readonly Span[]): Buffer {
  if (spans.length === 0) return body
  const parts: Buffer[] = []
  let at = 0
  for (const { start, end } of spans.toSorted((a, b) => a.start - b.start)) {
    parts.push(body.subarray(at, start))
    at = Math.max(at, end)
  }
  return Buffer.concat([...parts, body.subarray(at)])
}

/** A client of revision 2026-07-28 says with each request what it can do. */
function showsUrls(text: string | null): boolean {
  if (text === null) return false
  try {
    const { elicitation } = JSON.parse(text) as { elicitation?: { url?: unknown } }
    return typeof elicitation?.url === 'object' && elicitation.url !== null
  } catch {
    return false
  }
}
