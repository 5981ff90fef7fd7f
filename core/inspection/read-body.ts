import { findBodyMethods } from '../policy/find-body-methods.ts'
import { namesOtherCharset } from '../policy/names-other-charset.ts'
import { type BodyIdentity, readBodyIdentity } from '../policy/read-body-identity.ts'
import { type JsonRpcBody, readJsonRpc } from '../mcp/read-json-rpc.ts'
import type { CompiledInjectionSettings } from '../scanner/compile-settings.ts'
import { decodeCharset } from '../scanner/format/charset.ts'
import { type Inflated, inflateBody } from '../scanner/format/inflate-body.ts'
import { type ScanInput, type ScanResult, scanWithin } from '../scanner/scan-request.ts'
import type { SearchBudget } from '../scanner/text/search-budget.ts'

/** What a decision wants to know of a request; plain data, which a thread can hand to another. */
export type BodyQuestions = {
  /** Empty where the caller says none. */
  readonly content_type: string
  readonly content_encoding: string | null
  /** What a compressed body may inflate to. */
  readonly limit_bytes: number
  /** Who the body says that its sender is; null where nobody asks. */
  readonly identity: { readonly strips: boolean } | null
  readonly asks_methods: boolean
  readonly asks_tools: boolean
  /** What else of the request is scanned; null where nothing is. */
  readonly scan: Pick<ScanInput, 'path' | 'query' | 'headers'> | null
}

export type BodyFacts = {
  readonly identity: BodyIdentity | null
  /** Why the rest could not be read. */
  readonly unread:
    | null
    | { readonly kind: 'unsupported_encoding'; readonly content_encoding: string }
    | { readonly kind: 'too_large'; readonly limit_bytes: number }
  readonly methods: readonly string[]
  readonly json_rpc: JsonRpcBody | null
  readonly scan: ScanResult | null
  /** What the scan alone took. */
  readonly scan_ms: number
}

const NOTHING: BodyFacts = {
  identity: null,
  unread: null,
  methods: [],
  json_rpc: null,
  scan: null,
  scan_ms: 0,
}

/**
 * Reads a body once for all that a decision asks of it: time is linear in its size, so large ones are for a thread of
 * their own.
 * @param settings of the scan; null where nothing is scanned
 * @param budget says afterwards whether the result of the scan counts
 */
export const readBody = (
  body: Buffer | null,
  questions: BodyQuestions,
  settings: CompiledInjectionSettings | null,
  budget: SearchBudget,
): BodyFacts => {
  const { content_type, content_encoding, limit_bytes } = questions
  if (body === null || body.length === 0)
    return { ...NOTHING, ...scanOf(null, null, questions, settings, budget) }
  const identity =
    questions.identity !== null && content_encoding === null
      ? readBodyIdentity(body, content_type, questions.identity.strips)
      : null
  const { asks_methods, asks_tools, scan } = questions
  if (!asks_methods && !asks_tools && scan === null) return { ...NOTHING, identity }
  const inflated = inflateBody(body, content_encoding, limit_bytes, 'request')
  if (inflated.kind === 'unsupported') {
    const { content_encoding: encoding } = inflated
    const unread = { kind: 'unsupported_encoding', content_encoding: encoding } as const
    return { ...NOTHING, identity, unread }
  }
  if (inflated.kind === 'too_large') return { ...NOTHING, identity, unread: inflated }
  const { bytes } = inflated
  return {
    identity,
    unread: null,
    methods: asks_methods ? methodsIn(body, inflated, content_type) : [],
    json_rpc: asks_tools ? readJsonRpc(bytes) : null,
    ...scanOf(body, inflated, questions, settings, budget),
  }
}

/** In the bytes as they came, without their encoding, and in the charset they claim: the upstream may take any. */
const methodsIn = (
  body: Buffer,
  { bytes, was_compressed }: Extract<Inflated, { kind: 'inflated' }>,
  content_type: string,
): readonly string[] => {
  const decoded = namesOtherCharset(content_type) ? decodeCharset(bytes, content_type) : null
  const texts = [bytes, ...(was_compressed ? [body] : []), ...(decoded === null ? [] : [decoded])]
  return texts.flatMap((text) => findBodyMethods(text, content_type))
}

const scanOf = (
  body: Buffer | null,
  inflated: Inflated | null,
  { content_type, content_encoding, limit_bytes, scan }: BodyQuestions,
  settings: CompiledInjectionSettings | null,
  budget: SearchBudget,
): Pick<BodyFacts, 'scan' | 'scan_ms'> => {
  if (scan === null || settings === null) return { scan: null, scan_ms: 0 }
  const started_ms = performance.now()
  const type = content_type === '' ? null : content_type
  const input = { ...scan, body, content_type: type, content_encoding }
  const result = scanWithin(input, settings, limit_bytes, budget, inflated)
  return { scan: result, scan_ms: performance.now() - started_ms }
}
