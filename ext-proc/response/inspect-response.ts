import type { Header } from '../../core/policy/header.ts'
import type { EffectiveSettings } from '../../core/policy/merge-settings.ts'
import type { InjectionDecision } from '../../core/scanner/decide-injection.ts'
import { inflateBody } from '../../core/scanner/format/inflate-body.ts'
import type { ScanPool } from '../../core/inspection/scan-pool.ts'
import { openStreamScanner, type StreamScanner } from '../../core/scanner/scan-stream.ts'
import type { Secret } from '../../core/secret.ts'
import { deferredSettings } from '../policy/deferred-settings.ts'
import { findingData } from '../record/finding-data.ts'
import type { Denial } from '../verdict/denial.ts'
import { EventFilter } from './event-filter.ts'
import { HeaderInspector } from './header-inspector.ts'
import { judgeHeaders } from './judge-headers.ts'
import type { CallPlace } from './judge-reference.ts'
import { filterTools } from './filter-tools.ts'
import { redactHeaders, taintedNames } from './redact-headers.ts'
import {
  type BodyVerdict,
  headerOf,
  type HeadersVerdict,
  type ResponseInspector,
  UNCHANGED,
} from '../verdict/response-inspector.ts'

export interface InspectionOrder {
  readonly place: CallPlace
  readonly settings: EffectiveSettings
  readonly pool: ScanPool
  readonly limit_bytes: number
  /** A credential that travels in the query, and may come back in a header. */
  readonly query_secret: Secret | null
  /** Is told when the API does not take the credential, where that can be helped; else null. */
  readonly onUnauthorized: (() => void) | null
  /** The call asks for a list of tools, or opens a stream in which one may come. */
  readonly lists_tools: boolean
  /** Is told of what was found and let through. */
  readonly onFinding: (data: Readonly<Record<string, unknown>>) => void
}

/** Most calls need no more than a look at the few headers that lead elsewhere. */
export function inspectResponse(order: InspectionOrder): ResponseInspector {
  const { injection, tools } = order.settings
  const scans = injection.enabled && injection.scan_responses
  const filters = order.lists_tools && !tools.is_unrestricted
  return scans || filters || order.query_secret !== null || order.onUnauthorized !== null
    ? new Inspector(order, scans, filters)
    : new HeaderInspector(order.place)
}

class Inspector implements ResponseInspector {
  readonly #order: InspectionOrder
  readonly #scans: boolean
  readonly #filters: boolean
  #contentType = ''
  #contentEncoding: string | null = null
  #isEventStream = false
  #scanner: StreamScanner | null = null
  #filter: EventFilter | null = null
  /** Bytes of the stream that came, that were let out, and what the scanner still holds. */
  #released = 0
  #waiting: Buffer = Buffer.alloc(0)

  constructor(order: InspectionOrder, scans: boolean, filters: boolean) {
    this.#order = order
    this.#scans = scans
    this.#filters = filters
  }

  readonly sees_every_response = true

  get may_read_body(): boolean {
    return this.#scans || this.#filters
  }

  headers(headers: readonly Header[]): HeadersVerdict {
    const { query_secret, settings, onUnauthorized, place } = this.#order
    if (onUnauthorized !== null && headerOf(headers, ':status') === '401') onUnauthorized()
    // Judged as it goes out: what is taken out of a value first may have hidden where it leads.
    const judged = judgeHeaders(
      query_secret === null ? headers : redactHeaders(headers, query_secret),
      place,
    )
    if (judged.kind === 'deny') return judged
    this.#contentType = headerOf(headers, 'content-type') ?? ''
    const encoding = headerOf(headers, 'content-encoding')?.trim().toLowerCase() ?? ''
    this.#contentEncoding = encoding === '' || encoding === 'identity' ? null : encoding
    const type = this.#contentType.split(';', 1)[0]?.trim().toLowerCase() ?? ''
    this.#isEventStream = type === 'text/event-stream'
    const isLooked = this.may_read_body && isText(this.#contentType)
    if (!isLooked) return { ...judged, body: 'unseen' }
    if (!this.#isEventStream) return { ...judged, body: 'whole' }
    if (this.#filters && this.#contentEncoding !== null) return { kind: 'deny', denial: UNREADABLE }
    if (this.#scans) this.#scanner = this.#openScanner()
    if (this.#filters) this.#filter = new EventFilter(settings.tools)
    const unmeasured = judged.headers.filter(({ name }) => name !== 'content-length')
    return { kind: 'pass', headers: unmeasured, body: 'chunks' }
  }

  #openScanner(): StreamScanner {
    const { settings, pool } = this.#order
    const deferred = deferredSettings(settings)
    return openStreamScanner(
      settings.injection.mode,
      (texts) => pool.scanTexts(texts, deferred),
      this.#contentEncoding,
    )
  }

  body(bytes: Buffer, end: boolean): Promise<BodyVerdict> {
    return this.#isEventStream ? this.#streamed(bytes, end) : this.#whole(bytes)
  }

  trailers(trailers: readonly Header[]): readonly string[] {
    const { query_secret } = this.#order
    return query_secret === null ? [] : taintedNames(trailers, query_secret)
  }

  close(): void {
    this.#scanner?.close()
  }

  async #whole(body: Buffer): Promise<BodyVerdict> {
    if (body.length === 0) return UNCHANGED
    const { settings, pool, limit_bytes } = this.#order
    if (this.#scans) {
      const input = {
        body,
        content_type: this.#contentType,
        content_encoding: this.#contentEncoding,
      }
      const result = await pool.scanResponse(input, deferredSettings(settings), limit_bytes)
      // What cannot be read is blocked: nobody can tell what the agent would be told (threats.md 13).
      if (result.kind !== 'scanned') return { kind: 'deny', denial: UNREADABLE, before: null }
      const denial = this.#judge(result.decision)
      if (denial !== null) return { kind: 'deny', denial, before: null }
    }
    if (!this.#filters) return UNCHANGED
    const inflated = inflateBody(body, this.#contentEncoding, limit_bytes, 'response')
    if (inflated.kind !== 'inflated') return { kind: 'deny', denial: UNREADABLE, before: null }
    const filtered = filterTools(inflated.bytes, settings.tools)
    if (filtered.kind === 'unreadable') return { kind: 'deny', denial: UNREADABLE, before: null }
    if (filtered.kind === 'unchanged') return UNCHANGED
    const remove = ['content-encoding', 'etag', 'content-md5', 'digest']
    return { kind: 'pass', body: filtered.body, remove }
  }

  async #streamed(chunk: Buffer, end: boolean): Promise<BodyVerdict> {
    let clean: Buffer = chunk
    if (this.#scanner !== null) {
      const verdict = await this.#scanner.push(chunk, end)
      const waiting = this.#waiting.length === 0 ? chunk : Buffer.concat([this.#waiting, chunk])
      const count = verdict.clean_until_bytes - this.#released
      clean = waiting.subarray(0, count)
      this.#waiting = waiting.subarray(count)
      this.#released = verdict.clean_until_bytes
      const denial =
        verdict.cut === null || verdict.cut === 'blocked'
          ? this.#judge(verdict.decision)
          : UNREADABLE
      if (denial !== null) return { kind: 'deny', denial, before: this.#filtered(clean, true) }
    }
    const out = this.#filtered(clean, end)
    return out === null
      ? { kind: 'deny', denial: UNREADABLE, before: null }
      : { kind: 'pass', body: out, remove: [] }
  }

  #filtered(bytes: Buffer, end: boolean): Buffer | null {
    return this.#filter === null ? bytes : this.#filter.push(bytes, end)
  }

  #judge(decision: InjectionDecision): Denial | null {
    const { reported } = decision
    if (reported === null) return null
    const data = findingData(decision, this.#order.settings.injection.mode)
    if (decision.outcome !== 'blocked') {
      this.#order.onFinding(data)
      return null
    }
    const { pattern_name, severity, matched_text, location } = reported
    return {
      reason: 'security_block',
      details: { pattern_name, severity, matched_text, location },
      data,
    }
  }
}

/** The response is in a form that cannot be looked at, so it is kept from the agent. */
const UNREADABLE: Denial = {
  reason: 'security_block',
  details: {
    pattern_name: 'unreadable_response',
    severity: 'high',
    matched_text: '',
    location: 'response.body',
  },
}

/**
 * Types whose bodies are text that a model may read; images, archives and the like pass. Who names a charset says that
 * it is text, and of two types nobody knows which one a client takes.
 */
const isText = (content_type: string): boolean => {
  const type = content_type.split(';', 1)[0]?.trim().toLowerCase() ?? ''
  if (ENDLESS.test(type)) return false
  return TEXT.test(type) || type.includes(',') || /;\s*charset\s*=/i.test(content_type)
}

/** Never whole, so it cannot be held. */
const ENDLESS = /^multipart\/x-mixed-replace$/
const TEXT = new RegExp(
  [
    '^$',
    '^(?:text|message|multipart)/',
    '^image/svg',
    '^application/(?:x-www-form-urlencoded|http|rtf|toml|sql|typescript|x-(?:sh|tex|latex|python|php|httpd-php|perl|ruby))$',
    // The formats that a vendor's API names in its own types, as those of files and diffs.
    '^application/vnd\\..*[+.-](?:raw|text|html|markdown|diff|patch)$',
    '^application/(?:[a-z0-9.+-]*[+.-])?(?:json|json5|xml|x-ndjson|jsonl|ndjson|yaml|x-yaml|javascript|ecmascript|graphql-response)(?:[+-]|$)',
  ].join('|'),
)
