import { editBytes } from '../request/edit-bytes.ts'
import { findBodyOverrides } from '../request/find-body-overrides.ts'
import { namesOtherCharset } from '../request/names-other-charset.ts'
import { joinOverrides, NO_OVERRIDES, type Overrides } from '../request/overrides.ts'
import { readBodyIdentity, type SaidIdentity } from '../request/read-body-identity.ts'
import { type JsonRpcBody, readJsonRpc } from '../mcp/read-json-rpc.ts'
import type { McpHeaders } from '../mcp/read-mcp-headers.ts'
import type { CompiledInjectionSettings } from '../scanner/compile-settings.ts'
import { decodeCharset } from '../scanner/format/charset.ts'
import { type Inflated, inflateBody } from '../scanner/format/inflate-body.ts'
import { type ScanInput, type ScanResult, scanWithin } from '../scanner/scan-request.ts'
import type { SearchBudget } from '../scanner/text/search-budget.ts'

/** The facts of a request that a decision needs: plain data that can be sent between processes. */
export type BodyQuestions = {
  /** Empty if the caller gives none. */
  readonly content_type: string
  readonly content_encoding: string | null
  /** The maximum size of a decompressed body. */
  readonly limit_bytes: number
  /** The agent named in the body; null if it is not requested. */
  readonly identity: IdentityQuestion | null
  readonly asks_overrides: boolean
  /** Whether the call is for a batch endpoint: the calls in its body are then found in more forms. */
  readonly is_batch_path?: boolean
  /** Whether JSON-RPC is looked for, and the headers of an MCP call that must match it; null if it is not requested. */
  readonly json_rpc: { readonly headers: McpHeaders | null } | null
  /** Whether the body is used after the answer even if nothing was cut out of it. Only then is it kept. */
  readonly keeps_body: boolean
  /** Other parts of the request to scan; null if none. */
  readonly scan: Pick<ScanInput, 'method' | 'base_path' | 'path' | 'query' | 'headers'> | null
}

export type IdentityQuestion = {
  /** Whether an `agent_id` that names the agent is cut out of the body. */
  readonly strips: boolean
  /** The agent if it is known; null if only the body names it. */
  readonly agent_id: string | null
}

export type BodyFacts = {
  readonly identity: SaidIdentity | null
  /** Why the rest could not be read. */
  readonly unread:
    | null
    | { readonly kind: 'unsupported_encoding'; readonly content_encoding: string }
    | { readonly kind: 'too_large'; readonly limit_bytes: number }
  /** The methods and paths that the body names. */
  readonly overrides: Overrides
  readonly json_rpc: JsonRpcBody | null
  readonly scan: ScanResult | null
  /** Duration of the scan. */
  readonly scan_ms: number
}

export type BodyReading = {
  readonly facts: BodyFacts
  /** The body as it is sent to the upstream. All facts except the identity describe this body. */
  readonly sent: Buffer | null
  /** Whether `sent` differs from what the caller sent. */
  readonly is_stripped: boolean
}

const NOTHING: BodyFacts = {
  identity: null,
  unread: null,
  overrides: NO_OVERRIDES,
  json_rpc: null,
  scan: null,
  scan_ms: 0,
}

/**
 * Reads a body once for everything that a decision needs. The time is linear in its size, so large bodies are read in a scan
 * process. An `agent_id` that names the agent is removed first, and all other facts are read from the remaining bytes: removing
 * it after a check would invalidate the check, because it can turn a form into a JSON-RPC call.
 * @param settings of the scan; null where nothing is scanned
 * @param budget says afterwards whether the result of the scan counts
 */
export const readBody = (
  body: Buffer | null,
  questions: BodyQuestions,
  settings: CompiledInjectionSettings | null,
  budget: SearchBudget,
): BodyReading => {
  if (body === null || body.length === 0)
    return {
      facts: factsOf(null, null, questions, settings, budget),
      sent: body,
      is_stripped: false,
    }
  const { identity, sent, is_stripped } = cutIdentity(body, questions)
  return { facts: factsOf(sent, identity, questions, settings, budget), sent, is_stripped }
}

type Cut = Pick<BodyReading, 'is_stripped'> & {
  readonly identity: SaidIdentity | null
  readonly sent: Buffer
}

/** A compressed body is neither searched for an identity nor changed. */
const cutIdentity = (
  body: Buffer,
  { identity: asked, content_type, content_encoding }: BodyQuestions,
): Cut => {
  if (asked === null || content_encoding !== null)
    return { identity: null, sent: body, is_stripped: false }
  const said = readBodyIdentity(body, content_type, asked.strips)
  if (said.kind !== 'named') return { identity: said, sent: body, is_stripped: false }
  const { agent_id, cut } = said
  const identity = { kind: 'named', agent_id } as const
  if (cut === null || (asked.agent_id !== null && asked.agent_id !== agent_id))
    return { identity, sent: body, is_stripped: false }
  const sent = editBytes(body, cut)
  // Another reader may take the rest for the whole body, and a name in it for the agent.
  const left = readBodyIdentity(sent, content_type, false)
  return {
    identity: left.kind === 'none' ? identity : { kind: 'ambiguous' },
    sent,
    is_stripped: true,
  }
}

const factsOf = (
  body: Buffer | null,
  identity: SaidIdentity | null,
  questions: BodyQuestions,
  settings: CompiledInjectionSettings | null,
  budget: SearchBudget,
): BodyFacts => {
  const { asks_overrides, json_rpc, scan, content_encoding, limit_bytes } = questions
  if (body === null || body.length === 0)
    return { ...NOTHING, identity, ...scanOf(null, null, questions, settings, budget) }
  if (!asks_overrides && json_rpc === null && scan === null) return { ...NOTHING, identity }
  const inflated = inflateBody(body, content_encoding, limit_bytes, 'request')
  if (inflated.kind === 'unsupported') {
    const { content_encoding: encoding } = inflated
    const unread = { kind: 'unsupported_encoding', content_encoding: encoding } as const
    return { ...NOTHING, identity, unread }
  }
  if (inflated.kind === 'too_large') return { ...NOTHING, identity, unread: inflated }
  const scanned = scanOf(body, inflated, questions, settings, budget)
  return {
    identity,
    unread: null,
    overrides: asks_overrides ? overridesIn(body, inflated, questions) : NO_OVERRIDES,
    json_rpc: json_rpc === null ? null : readJsonRpc(inflated.bytes, json_rpc.headers),
    scan: scanned.scan,
    scan_ms: scanned.scan_ms,
  }
}

/** In the bytes as received, decompressed, and in the charset they claim: the upstream may use any of these. */
const overridesIn = (
  body: Buffer,
  { bytes, was_compressed }: Extract<Inflated, { kind: 'inflated' }>,
  { content_type, is_batch_path }: BodyQuestions,
): Overrides => {
  const isOther = namesOtherCharset(content_type) || mayBeWide(bytes)
  if (!isOther && !was_compressed) return findBodyOverrides(bytes, content_type, is_batch_path)
  const decoded = isOther ? decodeCharset(bytes, content_type) : null
  const texts = [bytes, ...(was_compressed ? [body] : []), ...(decoded === null ? [] : [decoded])]
  return texts
    .map((text) => findBodyOverrides(text, content_type, is_batch_path))
    .reduce((all, found) => (found === NO_OVERRIDES ? all : joinOverrides(all, found)))
}

/** UTF-16 and UTF-32, which some JSON readers detect by themselves, have a byte-order mark or zero bytes. */
const mayBeWide = (bytes: Buffer): boolean =>
  bytes[0] === 0xff ||
  bytes[0] === 0xfe ||
  bytes[0] === 0 ||
  bytes[1] === 0 ||
  bytes[2] === 0 ||
  bytes[3] === 0

const UNSCANNED = { scan: null, scan_ms: 0 } as const

const scanOf = (
  body: Buffer | null,
  inflated: Inflated | null,
  { content_type, content_encoding, limit_bytes, scan }: BodyQuestions,
  settings: CompiledInjectionSettings | null,
  budget: SearchBudget,
): Pick<BodyFacts, 'scan' | 'scan_ms'> => {
  if (scan === null || settings === null) return UNSCANNED
  const started_ms = performance.now()
  const type = content_type === '' ? null : content_type
  // Written out: a spread takes 3 µs and makes a hidden class for each call, which only a full collection frees.
  const { method, base_path, path, query, headers } = scan
  const input = {
    method,
    base_path,
    path,
    query,
    headers,
    body,
    content_type: type,
    content_encoding,
  }
  const result = scanWithin(input, settings, limit_bytes, budget, inflated)
  return { scan: result, scan_ms: performance.now() - started_ms }
}
