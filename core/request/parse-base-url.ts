import { decodePath } from './decode-path.ts'
import { encodeSegment } from './encode-segment.ts'
import { readUrl, type UrlProblem } from './read-url.ts'

export interface BaseUrl {
  /** Canonical, so that two spellings of a base URL are the same text (409 for the second). */
  readonly base_url: string
  readonly scheme: 'http' | 'https'
  readonly host: string
  readonly port: number
  readonly origin: string
  /** Decoded like those of a target. */
  readonly segments: readonly string[]
}

export type ParsedBaseUrl =
  | { readonly ok: true; readonly base: BaseUrl }
  | { readonly ok: false; readonly reason: UrlProblem }

/** @param text the base URL as an operator writes it. */
export function parseBaseUrl(text: string): ParsedBaseUrl {
  const url = readUrl(Buffer.from(text, 'utf8').toString('latin1'), 0, 2)
  if (typeof url === 'string') return { ok: false, reason: url }
  if (url.raw_query !== null) return { ok: false, reason: 'query' }
  const path = decodePath(url.raw_path)
  if (typeof path === 'string') return { ok: false, reason: path }
  if (path.has_empty_segment) return { ok: false, reason: 'empty_segment' }
  const { scheme, host, port, origin } = url
  const { segments } = path
  const base_url = origin + segments.map((segment) => `/${encodeSegment(segment)}`).join('')
  return { ok: true, base: { base_url, scheme, host, port, origin, segments } }
}
