import type { CompiledInjectionSettings } from './compile-settings.ts'
import { decideInjection, type InjectionDecision } from './decide-injection.ts'
import { type Finding, holdsOnlyWorst } from './finding.ts'
import { type Inflated, inflateBody } from './format/inflate-body.ts'
import { spacesForPlus } from './format/pairs.ts'
import type { Source } from './format/source.ts'
import { asItStands, takeApart } from './format/take-apart.ts'
import { shapesAt } from './conversation/find-shape.ts'
import { scanSource } from './scan-source.ts'
import { SearchBudget } from './text/search-budget.ts'
import { isKnownClean, noteClean } from './clean-headers.ts'
import { holdsTokens, isUnreadHeader } from './usual-headers.ts'

export type ScanInput = {
  /** Null: not known, and the body is taken as sent to the API whose shape it has. */
  readonly method: string | null
  readonly body: Buffer | null
  readonly content_type: string | null
  readonly content_encoding: string | null
  /** Of the base URL, without a slash at its end. */
  readonly base_path: string
  /** Below the base URL, as it was sent. */
  readonly path: string
  /** Without the question mark, as it was sent. */
  readonly query: string
  /** All headers or some of them; standard ones are skipped here. */
  readonly headers: readonly (readonly [name: string, value: string])[]
}

export type ScanResult =
  | {
      readonly kind: 'scanned'
      readonly findings: readonly Finding[]
      readonly decision: InjectionDecision
    }
  /** The caller responds with 415, because it is not known what the upstream would read. */
  | { readonly kind: 'unsupported_encoding'; readonly content_encoding: string }
  /** The caller responds with 413: the body inflates to more than the limit. */
  | { readonly kind: 'too_large'; readonly limit_bytes: number }

/** What a compressed body may inflate to when the caller names no lower limit. */
export const INFLATED_LIMIT_BYTES = 8 * 1024 * 1024
/** More headers than any client sends. Those beyond are scanned as one text, so that their number costs nothing. */
const HEADER_COUNT = 200

interface Header {
  readonly name: string
  readonly value: string
}

interface CallSource extends Source {
  /** Where the text is the value of a header. */
  readonly header?: Header
}

const callSources = (input: ScanInput, settings: CompiledInjectionSettings): CallSource[] => {
  const sources: CallSource[] = []
  // For a whitelist on the whole request, every text of it counts.
  const mayLeaveOut = settings.whitelist_scope !== 'request' || settings.whitelist === null
  const headers: Header[] = []
  if (input.path.length > 1)
    sources.push({ bytes: Buffer.from(input.path), format: 'text', location: 'path' })
  if (input.query !== '')
    sources.push({
      bytes: spacesForPlus(Buffer.from(input.query)),
      format: 'pairs',
      location: 'query',
    })
  for (const [name, value] of input.headers.slice(0, HEADER_COUNT)) {
    const lower = name.toLowerCase()
    if (value === '' || (mayLeaveOut && isKnownClean(settings, lower, value))) continue
    if (!isUnreadHeader(lower)) headers.push({ name: lower, value })
  }
  const rest = input.headers.slice(HEADER_COUNT)
  return [
    ...sources,
    ...headers.map(headerSource),
    ...(rest.length === 0 ? [] : [restSource(rest)]),
  ]
}

const restSource = (headers: ScanInput['headers']): CallSource => ({
  bytes: Buffer.from(headers.map(([, value]) => value).join('\n')),
  format: 'text',
  location: 'headers',
})

const headerSource = (header: Header): CallSource => {
  const { name, value } = header
  return {
    header,
    bytes: Buffer.from(value),
    format: name === 'cookie' ? 'pairs' : 'text',
    location: `headers.${name.slice(0, 64)}`,
    is_noise: name === 'cookie',
    holds_tokens: holdsTokens(name),
  }
}

/** With `whitelist_scope: request`, one text that matches lets the whole request pass. */
const whitelistRequest = (
  sources: readonly Source[],
  settings: CompiledInjectionSettings,
  findings: readonly Finding[],
): Finding[] => {
  const isListed =
    findings.length > 0 &&
    settings.whitelist_scope === 'request' &&
    sources.some((source) => settings.whitelist?.search?.all.test(source.bytes) === true)
  return findings.map((finding) => (isListed ? { ...finding, whitelisted: true } : finding))
}

/** Speakers are known where the body has one reading: JSON as it was sent. */
const bodySources = (bytes: Buffer, input: ScanInput, limit_bytes: number): readonly Source[] => {
  const sources = takeApart(bytes, input.content_type, 'body', limit_bytes)
  const [only] = sources
  return sources.length === 1 && only?.format === 'json' && only.bytes === bytes
    ? [{ ...only, shapes: shapesAt(input) }]
    : sources
}

/** Scans everything in a request that its sender controls, and decides according to the settings. */
export const scanRequest = (
  input: ScanInput,
  settings: CompiledInjectionSettings,
  limit_bytes: number = INFLATED_LIMIT_BYTES,
): ScanResult => scanWithin(input, settings, limit_bytes, new SearchBudget())

/**
 * The same within a budget, which says whether the result counts.
 * @param known the decompressed body, if known
 */
export const scanWithin = (
  input: ScanInput,
  settings: CompiledInjectionSettings,
  limit_bytes: number,
  budget: SearchBudget,
  known: Inflated | null = null,
): ScanResult => {
  const sources = callSources(input, settings)
  if (input.body !== null && input.body.length > 0) {
    const inflated =
      known ?? inflateBody(input.body, input.content_encoding, limit_bytes, 'request')
    if (inflated.kind === 'unsupported')
      return { kind: 'unsupported_encoding', content_encoding: inflated.content_encoding }
    if (inflated.kind === 'too_large') return inflated
    sources.push(...bodySources(inflated.bytes, input, limit_bytes))
    // For an upstream that ignores encodings: the header of a compressed body may contain a text.
    if (input.content_encoding !== null) sources.push(asItStands(input.body, 'body'))
  }
  const findings: Finding[] = []
  for (const source of sources) {
    const isFound = scanSource(source, settings, findings, budget)
    if (source.header && !isFound && !budget.isUndecided)
      noteClean(settings, source.header.name, source.header.value)
    if (holdsOnlyWorst(findings) || budget.isUndecided) break
  }
  const standing = whitelistRequest(sources, settings, findings)
  return { kind: 'scanned', findings: standing, decision: decideInjection(standing, settings) }
}
