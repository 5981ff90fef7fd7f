import type { Header } from '../../core/request/header.ts'
import type { Denial } from '../verdict/denial.ts'
import { BODY_MODE, writePass, writeTrailers } from '../envoy/write-response.ts'
import {
  headerOf,
  type HeadersVerdict,
  NOTHING_REMOVED,
  type ResponseInspector,
} from '../verdict/response-inspector.ts'
import { headerChanges } from './header-changes.ts'

export interface ResponseIo {
  /** Sends an answer to Envoy, unless the call has been ended. */
  write(bytes: Buffer): void
  /** Ends the call; `isOut` when the response's headers have gone out, so that it is cut rather than answered. */
  refuse(denial: Denial, isOut: boolean): Promise<void>
  fail(error: unknown): void
}

const LOOK = {
  whole: BODY_MODE.buffered,
  whole_or_beginning: BODY_MODE.buffered_partial,
  chunks: BODY_MODE.streamed,
} as const

/** Details of what an API has sent, now or into a cache of Envoy's; an older configuration of Envoy sends none. */
const OF_API = /^(?:$|via_upstream$|cache\.)/

/** An error of another filter of the same Envoy, to which the call did not get through. No API can choose these details. */
const isOfFilter = (headers: readonly Header[], code_details: string): boolean =>
  !OF_API.test(code_details) && Number(headerOf(headers, ':status')) >= 400

/** Larger bodies are not sent here only to see that Envoy does. */
const UNREAD_BODY_MAX_BYTES = 65_536

/** A body with a length is sent whole, because Envoy would remove the length of one that is sent in chunks. */
function unreadBody(headers: readonly Header[]): 'unseen' | 'whole' | 'chunks' {
  const length = headerOf(headers, 'content-length')
  if (length === null) return 'chunks'
  return Number(length) <= UNREAD_BODY_MAX_BYTES ? 'whole' : 'unseen'
}

/** What Envoy says of the response, answered by the inspector; without one everything passes. */
export class ResponsePhase {
  readonly #inspector: ResponseInspector | null
  readonly #io: ResponseIo
  readonly #request_body: number
  #isStreamed = false
  /** The body is only asked for to see that Envoy sends it. */
  #isUnread = false
  /** Chunks may come before the one before is answered; they are looked at one after the other. */
  #last: Promise<unknown> = Promise.resolve()

  /** @param request_body how Envoy goes on with what the caller sends */
  constructor(
    inspector: ResponseInspector | null,
    io: ResponseIo,
    request_body: number = BODY_MODE.none,
  ) {
    this.#inspector = inspector
    this.#io = io
    this.#request_body = request_body
  }

  /**
   * @param code_details Envoy's, of the response; empty if they are not known
   * @param end no body follows
   * @param asksForBody the body is sent here even if it is not inspected, unless it is large
   * @returns whether Envoy was asked to send the body
   */
  headers(
    headers: readonly Header[],
    code_details = '',
    end = false,
    asksForBody = false,
  ): boolean | Promise<boolean> {
    const fail = (error: unknown): false => {
      // Thrown on, it would end the process and all it holds.
      this.#io.fail(error)
      return false
    }
    try {
      const verdict = this.#judged(headers, code_details, end)
      if (!(verdict instanceof Promise)) return this.#answer(headers, verdict, asksForBody)
      const answered = verdict
        .then((judged) => this.#answer(headers, judged, asksForBody))
        .catch(fail)
      this.#last = answered
      return answered
    } catch (error) {
      return fail(error)
    }
  }

  #answer(headers: readonly Header[], verdict: HeadersVerdict, asksForBody: boolean): boolean {
    if (verdict.kind === 'deny') {
      this.#io.refuse(verdict.denial, false).catch((error: unknown) => this.#io.fail(error))
      return false
    }
    this.#isUnread = verdict.body === 'unseen'
    const body = verdict.body === 'unseen' && asksForBody ? unreadBody(headers) : verdict.body
    this.#isStreamed = body === 'chunks'
    const changes = headerChanges(headers, verdict.headers)
    const mode =
      body === 'unseen' ? null : { request_body: this.#request_body, response_body: LOOK[body] }
    this.#io.write(
      writePass('response_headers', changes === null ? null : { ...changes, body: null }, mode),
    )
    return mode !== null
  }

  #judged(
    headers: readonly Header[],
    code_details: string,
    end: boolean,
  ): HeadersVerdict | Promise<HeadersVerdict> {
    const inspector = this.#inspector
    // Without an inspector nothing was forwarded, so this is an answer of Envoy's own.
    if (inspector === null) return { kind: 'pass', headers, body: 'unseen' }
    return isOfFilter(headers, code_details)
      ? { kind: 'pass', headers: inspector.cleaned(headers), body: 'unseen' }
      : inspector.headers(headers, end)
  }

  body(bytes: Buffer, end: boolean): void {
    this.#last = this.#last
      .then(() => this.#body(bytes, end))
      .catch((error: unknown) => this.#io.fail(error))
  }

  /** Answered after the chunks before them. */
  trailers(trailers: readonly Header[]): void {
    this.#last = this.#last
      .then(() => this.#trailers(trailers))
      .catch((error: unknown) => this.#io.fail(error))
  }

  async #trailers(trailers: readonly Header[]): Promise<void> {
    const verdict = (await this.#inspector?.trailers(trailers)) ?? NOTHING_REMOVED
    if (verdict.kind === 'deny') await this.#io.refuse(verdict.denial, true)
    else this.#io.write(writeTrailers('response_trailers', verdict.remove))
  }

  async #body(bytes: Buffer, end: boolean): Promise<void> {
    const verdict = this.#isUnread ? undefined : await this.#inspector?.body(bytes, end)
    if (verdict === undefined || (verdict.kind === 'pass' && verdict.body === null)) {
      this.#io.write(writePass('response_body', null, null))
      return
    }
    if (verdict.kind === 'deny') {
      // With the last chunk it would look like the whole answer.
      if (!end && verdict.before !== null && verdict.before.length > 0)
        this.#io.write(
          writePass('response_body', { set: [], remove: [], body: verdict.before }, null),
        )
      await this.#io.refuse(verdict.denial, this.#isStreamed)
      return
    }
    const body = verdict.body ?? bytes
    const set = this.#isStreamed ? [] : [{ name: 'content-length', value: String(body.length) }]
    this.#io.write(writePass('response_body', { set, remove: verdict.remove, body }, null))
  }
}
