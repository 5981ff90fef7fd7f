import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Header } from '../../core/request/header.ts'
import type { EffectiveSettings } from '../../core/decision/merge-settings.ts'
import { decideInjection, type InjectionDecision } from '../../core/scanner/decide-injection.ts'
import type { Finding } from '../../core/scanner/finding.ts'
import { inflateBody } from '../../core/scanner/format/inflate-body.ts'
import type { JobOwner } from '../../core/inspection/job-owner.ts'
import type { ScanPool } from '../../core/inspection/scan-pool.ts'
import { openByteScanner } from '../../core/scanner/scan-bytes.ts'
import {
  openStreamInflater,
  type StreamInflater,
} from '../../core/scanner/stream/stream-inflater.ts'
import { openStreamScanner } from '../../core/scanner/scan-stream.ts'
import type { StreamScanner } from '../../core/scanner/stream/passing-scan.ts'
import { settingsToScan } from '../../core/inspection/settings-to-scan.ts'
import { judgeDecision } from '../record/judge-decision.ts'
import type { Denial } from '../verdict/denial.ts'
import { namesOtherCharset } from '../../core/request/names-other-charset.ts'
import { ENDPOINT_EVENT, EndpointFilter, type FilteredEvents } from './endpoint-filter.ts'
import { EchoSearch, echoTexts } from './echo-search.ts'
import { EventFilter } from './event-filter.ts'
import { HeaderInspector } from './header-inspector.ts'
import { judgeHeaders, withoutMark } from './judge-headers.ts'
import type { CallPlace } from './judge-reference.ts'
import { filterTools, mayHoldTools } from './filter-tools.ts'
import { redirectRefused } from './redirect-refused.ts'
import { scanHeaders } from './scan-headers.ts'
import { redactHeaders, taintedNames } from './redact-headers.ts'
import {
  type BodyVerdict,
  headerOf,
  type HeadersVerdict,
  NOTHING_REMOVED,
  type ResponseInspector,
  type TrailersVerdict,
  UNCHANGED,
} from '../verdict/response-inspector.ts'

export interface InspectionOrder {
  readonly place: CallPlace
  readonly settings: EffectiveSettings
  readonly pool: ScanPool
  /** Whose jobs the scans are. */
  readonly owner: JobOwner
  /** Of the gateway; a scope may have a lower one. */
  readonly limit_bytes: number
  /** How the credential may come back in a header, where it is redacted; null if none is looked for. */
  readonly echo_forms: RegExp | null
  /** What a body is withheld for; empty if bodies are not searched for it. */
  readonly echo_secrets: readonly string[]
  /** Called when the API rejects the credential and a new one can be fetched; else null. */
  readonly onUnauthorized: (() => void) | null
  /** The call asks for a list of tools, or opens a stream in which one may come. */
  readonly lists_tools: boolean
  /** An event stream that answers a GET may name the endpoint of an MCP server, whatever the caller's `Accept` says. */
  readonly is_get: boolean
  /** The caller asks for an event stream. */
  readonly asks_events: boolean
  /** Called with findings that are let through. */
  readonly onFinding: (data: Readonly<Record<string, unknown>>) => void
  /** Called with the names of headers that lead to another integration, and are not sent on. */
  readonly onLeftOut: (headers: readonly string[]) => void
  /** Called if the response passes without being scanned whole. */
  readonly onUnscanned: (limit_bytes: number) => void
}

/** Most calls need no more than a look at the few headers that lead elsewhere. */
export function inspectResponse(order: InspectionOrder): ResponseInspector {
  const { injection, tools } = order.settings
  const scans = injection.enabled && injection.scan_responses
  const filters = order.lists_tools && !tools.is_unrestricted
  const guards = order.echo_secrets.length > 0
  const sees_every_response =
    scans || filters || guards || order.echo_forms !== null || order.onUnauthorized !== null
  return sees_every_response || order.is_get
    ? new Inspector(order, scans, filters, sees_every_response)
    : new HeaderInspector(order)
}

type Denied = Extract<HeadersVerdict, { readonly kind: 'deny' }>

class Inspector implements ResponseInspector {
  readonly #order: InspectionOrder
  readonly #limit_bytes: number
  readonly #scans: boolean
  readonly #filters: boolean
  #contentType = ''
  #contentEncoding: string | null = null
  #reading: Reading = 'whole'
  #scanner: StreamScanner | null = null
  #filter: EventFilter | null = null
  #endpoints: EndpointFilter | null = null
  #inflater: StreamInflater | null = null
  /** Searches what goes out for the credential; null if bodies are not searched. */
  #echo: EchoSearch | null = null
  /** Bytes of the stream that came, that were let out, and what the scanner still holds. */
  #released = 0
  /** Only the beginning of the response is scanned, as it passes. */
  #skips = false
  /**
   * The body is of unknown length, so Envoy sends what it has once its buffer is full. Asked for the whole body, it would wait
   * without an end if its buffer was full before that.
   */
  #mayBeCutShort = false
  /** Bytes of the response that came. */
  #received = 0
  #waiting: Buffer = Buffer.alloc(0)

  readonly sees_every_response: boolean

  constructor(
    order: InspectionOrder,
    scans: boolean,
    filters: boolean,
    sees_every_response: boolean,
  ) {
    this.#order = order
    this.#limit_bytes = Math.min(
      order.limit_bytes,
      order.settings.max_response_bytes ?? Number.POSITIVE_INFINITY,
    )
    this.#scans = scans
    this.#filters = filters
    this.sees_every_response = sees_every_response
    if (order.echo_secrets.length > 0) this.#echo = new EchoSearch(echoTexts(order.echo_secrets))
  }

  get may_read_body(): boolean {
    return this.#scans || this.#filters || this.#echo !== null || this.#order.asks_events
  }

  headers(headers: readonly Header[], end = false): HeadersVerdict | Promise<HeadersVerdict> {
    const verdict = this.#judgedHeaders(headers, end)
    if (verdict.kind === 'deny' || !this.#scans) return verdict
    return this.#scanned(verdict.headers, 'headers', verdict)
  }

  #judgedHeaders(headers: readonly Header[], end: boolean): HeadersVerdict {
    const { settings, onUnauthorized, place } = this.#order
    const limit_bytes = this.#limit_bytes
    if (onUnauthorized !== null && headerOf(headers, ':status') === '401') onUnauthorized()
    // Judged as it goes out: what is taken out of a value first may have hidden where it leads.
    const judged = judgeHeaders(this.#redacted(headers), place)
    if (judged.kind === 'deny') return judged
    if (judged.left_out.length > 0) this.#order.onLeftOut(judged.left_out)
    this.#contentType = headerOf(headers, 'content-type') ?? ''
    const encoding = headerOf(headers, 'content-encoding')?.trim().toLowerCase() ?? ''
    this.#contentEncoding = encoding === '' || encoding === 'identity' ? null : encoding
    const namesEndpoint = this.#order.is_get && isEventStream(this.#contentType)
    if (end || (!namesEndpoint && !this.#scans && !this.#filters && this.#echo === null))
      return { ...judged, body: 'unseen' }
    if (namesEndpoint) this.#endpoints = new EndpointFilter(place)
    this.#reading = readingOf(headers, this.#contentType, this.#filters, limit_bytes)
    const length = headerOf(headers, 'content-length')
    if (this.#reading === 'whole' && !(Number(length ?? 'unknown') <= limit_bytes)) {
      if (this.#maySkip) {
        this.#reading = 'bytes'
        this.#skips = true
      } else if (!this.#scans && !this.#filters) this.#reading = 'bytes'
      else if (length !== null) return { kind: 'deny', denial: tooLarge(limit_bytes) }
    }
    if (this.#reading === 'whole') {
      this.#mayBeCutShort = length === null && headerOf(headers, 'trailer') === null
      return { ...judged, body: this.#mayBeCutShort ? 'whole_or_beginning' : 'whole' }
    }
    const opened =
      this.#reading === 'bytes' && (this.#echo === null || this.#filters)
        ? !this.#filters
        : this.#openEvents()
    if (!opened) return { kind: 'deny', denial: this.#unreadable() }
    if (this.#scans) this.#scanner = this.#openScanner(this.#reading)
    if (this.#filters) this.#filter = new EventFilter(settings.tools)
    // Bytes pass unchanged or are cut, which a client sees by the length; events may be filtered.
    if (this.#reading === 'bytes' && this.#inflater === null) return { ...judged, body: 'chunks' }
    const changed = this.#inflater === null ? MEASURE : [...MEASURE, ...OF_ENCODING]
    const kept = judged.headers.filter(({ name }) => !changed.includes(name))
    return { kind: 'pass', headers: kept, body: 'chunks' }
  }

  cleaned(headers: readonly Header[]): readonly Header[] {
    return withoutMark(this.#redacted(headers))
  }

  #redacted(headers: readonly Header[]): readonly Header[] {
    const { echo_forms } = this.#order
    return echo_forms === null ? headers : redactHeaders(headers, echo_forms)
  }

  /**
   * Events that are read one by one go out as they are read: inflated.
   * @returns false if they cannot be read
   */
  #openEvents(): boolean {
    if (this.#endpoints !== null && namesOtherCharset(this.#contentType)) return false
    const isRead = this.#filters || this.#endpoints !== null || this.#echo !== null
    if (this.#contentEncoding === null || !isRead) return true
    const inflater = openStreamInflater(this.#contentEncoding)
    if (inflater === null || inflater === 'identity') return false
    this.#inflater = inflater
    this.#contentEncoding = null
    return true
  }

  #unreadable(): Denial {
    return this.#endpoints === null
      ? UNREADABLE
      : redirectRefused(ENDPOINT_EVENT, '', 'unreadable', this.#order.place.base_url)
  }

  #openScanner(reading: 'events' | 'bytes'): StreamScanner {
    const { settings, pool, owner } = this.#order
    const deferred = settingsToScan(settings)
    const open = reading === 'events' ? openStreamScanner : openByteScanner
    return open(
      settings.injection,
      (texts) => pool.scanTexts(texts, deferred, owner),
      this.#contentEncoding,
    )
  }

  body(bytes: Buffer, end: boolean): Promise<BodyVerdict> {
    return this.#reading === 'whole' ? this.#whole(bytes, end) : this.#streamed(bytes, end)
  }

  trailers(trailers: readonly Header[]): TrailersVerdict | Promise<TrailersVerdict> {
    const { echo_forms } = this.#order
    const verdict: TrailersVerdict =
      echo_forms === null
        ? NOTHING_REMOVED
        : { kind: 'pass', remove: taintedNames(trailers, echo_forms) }
    return this.#scans ? this.#scanned(trailers, 'trailers', verdict) : verdict
  }

  /** The verdict, or the denial of what is found in the headers. */
  #scanned<Verdict>(
    headers: readonly Header[],
    place: 'headers' | 'trailers',
    verdict: Verdict,
  ): Verdict | Denied | Promise<Verdict | Denied> {
    const { settings, pool } = this.#order
    const judge = (findings: readonly Finding[] | null): Verdict | Denied => {
      const denial =
        findings === null ? UNREADABLE : this.#judge(decideInjection(findings, settings.injection))
      return denial === null ? verdict : { kind: 'deny', denial }
    }
    const found = scanHeaders(headers, place, pool, settingsToScan(settings))
    return found instanceof Promise ? found.then(judge) : judge(found)
  }

  close(): void {
    this.#scanner?.close()
    this.#inflater?.close()
  }

  /** Whether a response over the limit passes without being scanned. A list of tools is always filtered. */
  get #maySkip(): boolean {
    return this.#order.settings.over_limit === 'pass_unscanned' && !this.#filters
  }

  async #whole(body: Buffer, end: boolean): Promise<BodyVerdict> {
    if (body.length === 0) return UNCHANGED
    const { settings, pool, owner } = this.#order
    const limit_bytes = this.#limit_bytes
    const isJudged = this.#scans || this.#filters
    if (body.length > limit_bytes && isJudged)
      return { kind: 'deny', denial: tooLarge(limit_bytes), before: null }
    // Envoy's buffer is smaller than our limit, or trailers follow that were not announced: the rest would pass unseen.
    if (this.#mayBeCutShort && !end) return { kind: 'deny', denial: UNREADABLE, before: null }
    const echoed = await this.#echoIn(body)
    if (echoed !== null) return { kind: 'deny', denial: echoed, before: null }
    if (this.#scans) {
      const input = {
        body,
        content_type: this.#contentType,
        content_encoding: this.#contentEncoding,
      }
      const result = await pool.scanResponse(input, settingsToScan(settings), limit_bytes, owner)
      if (result.kind === 'too_large') {
        const denial = this.#maySkip ? await this.#beginning(body) : tooLarge(limit_bytes)
        if (denial !== null) return { kind: 'deny', denial, before: null }
        this.#order.onUnscanned(limit_bytes)
        return UNCHANGED
      }
      // An unreadable response is blocked: its content for the agent is unknown (threat model, rule 13).
      if (result.kind !== 'scanned') return { kind: 'deny', denial: UNREADABLE, before: null }
      const denial = this.#judge(result.decision)
      if (denial !== null) return { kind: 'deny', denial, before: null }
    }
    if (!this.#filters) return UNCHANGED
    const inflated = inflateBody(body, this.#contentEncoding, limit_bytes, 'response')
    if (inflated.kind === 'too_large')
      return { kind: 'deny', denial: tooLarge(limit_bytes), before: null }
    if (inflated.kind !== 'inflated') return { kind: 'deny', denial: UNREADABLE, before: null }
    const isTooLong = !this.#order.is_get && inflated.bytes.length > LIST_MAX_BYTES
    if (isTooLong && mayHoldTools(inflated.bytes))
      return { kind: 'deny', denial: tooLarge(LIST_MAX_BYTES), before: null }
    const filtered = filterTools(inflated.bytes, settings.tools)
    if (filtered.kind === 'unreadable') return { kind: 'deny', denial: UNREADABLE, before: null }
    if (filtered.kind === 'unchanged') return UNCHANGED
    return { kind: 'pass', body: filtered.body, remove: OF_ENCODING }
  }

  async #streamed(received: Buffer, end: boolean): Promise<BodyVerdict> {
    const chunk = this.#inflater === null ? received : await this.#inflater.inflate(received)
    if (!Buffer.isBuffer(chunk)) return { kind: 'deny', denial: this.#unreadable(), before: null }
    let clean = chunk
    this.#received += received.length
    if (this.#scanner !== null) {
      const verdict = await this.#scanner.push(chunk, end)
      const waiting = this.#waiting.length === 0 ? chunk : Buffer.concat([this.#waiting, chunk])
      const count = verdict.clean_until_bytes - this.#released
      clean = count === waiting.length ? waiting : waiting.subarray(0, count)
      this.#waiting = waiting.subarray(count)
      this.#released = verdict.clean_until_bytes
      const denial =
        verdict.cut === null || verdict.cut === 'blocked'
          ? this.#judge(verdict.decision)
          : UNREADABLE
      if (denial !== null)
        return this.#guarded((await this.#filtered(clean, true)).out, { denial, end: false })
      // All within the limit was scanned, also the part of this chunk.
      if (this.#skips && this.#received > this.#limit_bytes) clean = this.#skipRest(clean)
    }
    const { out, denial } = await this.#filtered(clean, end)
    const verdict = await this.#guarded(out, { denial, end })
    return verdict.kind === 'pass' && verdict.body === received ? UNCHANGED : verdict
  }

  /** What may go out of a stream, without the credential. */
  async #guarded(
    out: Buffer,
    { denial, end }: { readonly denial: Denial | null; readonly end: boolean },
  ): Promise<BodyVerdict> {
    const { clean, is_found } = (await this.#echo?.push(out, end)) ?? {
      clean: out,
      is_found: false,
    }
    const refused = is_found ? ECHOED : denial
    if (refused === null) return { kind: 'pass', body: clean, remove: [] }
    return { kind: 'deny', denial: refused, before: clean.length === 0 ? null : clean }
  }

  /** Why a whole body is withheld; null if it does not hold the credential. */
  async #echoIn(body: Buffer): Promise<Denial | null> {
    if (this.#echo === null) return null
    if (this.#contentEncoding === null)
      return (await this.#echo.push(body, true)).is_found ? ECHOED : null
    const inflater = openStreamInflater(this.#contentEncoding)
    if (inflater === null || inflater === 'identity') return UNREADABLE
    try {
      let size_bytes = 0
      for (let at = 0; at < body.length; at += INFLATED_AT_ONCE_BYTES) {
        const part = await inflater.inflate(body.subarray(at, at + INFLATED_AT_ONCE_BYTES))
        if (!Buffer.isBuffer(part)) return UNREADABLE
        size_bytes += part.length
        if (size_bytes > this.#order.limit_bytes) return tooLarge(this.#order.limit_bytes)
        if ((await this.#echo.push(part, false)).is_found) return ECHOED
      }
      return null
    } finally {
      inflater.close()
    }
  }

  /** The rest of the response passes as it comes, behind what the scanner still held. */
  #skipRest(clean: Buffer): Buffer {
    this.#scanner?.close()
    this.#scanner = null
    this.#order.onUnscanned(this.#limit_bytes)
    return this.#waiting.length === 0 ? clean : Buffer.concat([clean, this.#waiting])
  }

  /** Scans a response that is over the limit only when it is inflated, up to the limit. */
  async #beginning(body: Buffer): Promise<Denial | null> {
    const scanner = this.#openScanner('bytes')
    try {
      for (let at = 0; at < body.length; at += INFLATED_AT_ONCE_BYTES) {
        const part = body.subarray(at, at + INFLATED_AT_ONCE_BYTES)
        const { cut, decision, scanned_bytes } = await scanner.push(part, false)
        const denial = cut === null || cut === 'blocked' ? this.#judge(decision) : UNREADABLE
        if (denial !== null || scanned_bytes >= this.#limit_bytes) return denial
      }
      return null
    } finally {
      scanner.close()
    }
  }

  /** In slices, since a chunk that was inflated may be long. */
  async #filtered(bytes: Buffer, end: boolean): Promise<FilteredEvents> {
    if (this.#filter === null && this.#endpoints === null) return { out: bytes, denial: null }
    if (bytes.length <= FILTERED_AT_ONCE_BYTES) return this.#filteredSlice(bytes, end)
    const passed: Buffer[] = []
    for (let at = 0; at < bytes.length; at += FILTERED_AT_ONCE_BYTES) {
      if (at > 0) await nextTurn()
      const next = at + FILTERED_AT_ONCE_BYTES
      const { out, denial } = this.#filteredSlice(
        bytes.subarray(at, next),
        end && next >= bytes.length,
      )
      passed.push(out)
      if (denial !== null) return { out: Buffer.concat(passed), denial }
    }
    return { out: Buffer.concat(passed), denial: null }
  }

  #filteredSlice(bytes: Buffer, end: boolean): FilteredEvents {
    const listed = this.#filter === null ? bytes : this.#filter.push(bytes, end)
    if (listed === null) return { out: Buffer.alloc(0), denial: UNREADABLE }
    return this.#endpoints?.push(listed, end) ?? { out: listed, denial: null }
  }

  #judge(decision: InjectionDecision): Denial | null {
    const judged = judgeDecision(decision, null)
    if (judged?.kind === 'deny') return judged.denial
    if (judged !== null) this.#order.onFinding(judged.data)
    return null
  }
}

/** Response headers that no longer apply to a body that may be shortened, and to one that goes out inflated. */
const MEASURE: readonly string[] = ['content-length']
const OF_ENCODING: readonly string[] = ['content-encoding', 'etag', 'content-md5', 'digest']

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

/** The credential itself is in no record. */
const ECHOED: Denial = { reason: 'credential_echoed', details: {} }

const tooLarge = (limit_bytes: number): Denial => ({
  reason: 'response_too_large',
  details: { limit_bytes },
})

/** `whole`: held until it is complete; `events`: let go event by event; `bytes`: let go as it comes. */
type Reading = 'whole' | 'events' | 'bytes'

/** Some clients look for the name anywhere in the type. */
const isEventStream = (content_type: string): boolean =>
  content_type.toLowerCase().includes('text/event-stream')

/** Of the answer to `tools/list`, which is read in some 13 ms. No model has room for a longer one. */
const LIST_MAX_BYTES = 1 << 20

/** Of events, in a few milliseconds. */
const FILTERED_AT_ONCE_BYTES = 65_536

/** Of a compressed body that is longer than the limit, where only its beginning is scanned. */
const INFLATED_AT_ONCE_BYTES = 4_096

/** A body that says it is no longer is held, whatever its type: a refusal says more than a response that is cut. */
const HELD_ANYWAY_BYTES = 65_536

/**
 * How a body is read. Its type decides only what it is held for: what says that it is text comes as a document, and all
 * else is judged by its bytes as they pass, so that a picture of any size is not held.
 */
function readingOf(
  headers: readonly Header[],
  content_type: string,
  filters: boolean,
  limit_bytes: number,
): Reading {
  const type = content_type.split(';', 1)[0]?.trim().toLowerCase() ?? ''
  if (isEventStream(content_type)) return 'events'
  if (ENDLESS.test(type)) return 'bytes'
  const length = headerOf(headers, 'content-length')
  const isShort = length !== null && Number(length) <= Math.min(HELD_ANYWAY_BYTES, limit_bytes)
  if (JSON_STREAM.test(type) && !filters && !isShort) return 'bytes'
  return filters || isShort || isText(content_type, type) ? 'whole' : 'bytes'
}

/** A charset declares text, and of two types it is unknown which one a client uses. */
const isText = (content_type: string, type: string): boolean =>
  TEXT.test(type) || type.includes(',') || /;\s*charset\s*=/i.test(content_type)

/** Never whole, so it cannot be held. */
const ENDLESS = /^multipart\/x-mixed-replace$/
/** One JSON text after the other, as they come: model APIs and watches stream so, without an end. */
const JSON_STREAM =
  /^application\/(?:[a-z0-9.+-]*[+.-])?(?:ndjson|jsonl|jsonlines|json-lines|json-seq|json-stream|stream\+json)$/
const TEXT = new RegExp(
  [
    '^(?:text|message|multipart)/',
    '^image/svg',
    '^application/(?:x-www-form-urlencoded|http|rtf|toml|sql|typescript|x-(?:sh|tex|latex|python|php|httpd-php|perl|ruby))$',
    // The formats that a vendor's API names in its own types, as those of files and diffs.
    '^application/vnd\\..*[+.-](?:raw|text|html|markdown|diff|patch)$',
    '^application/(?:[a-z0-9.+-]*[+.-])?(?:json|json5|xml|x-ndjson|jsonl|ndjson|yaml|x-yaml|javascript|ecmascript|graphql-response)(?:[+-]|$)',
  ].join('|'),
)
