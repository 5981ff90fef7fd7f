import type { Header } from '../../core/policy/header.ts'
import {
  type BodyVerdict,
  type HeadersVerdict,
  type ResponseInspector,
  UNCHANGED,
} from '../verdict/response-inspector.ts'
import { judgeHeaders, withoutMark } from './judge-headers.ts'
import type { CallPlace } from './judge-reference.ts'

/** Judges headers that lead a client elsewhere or set a cookie, and leaves the body alone. */
export class HeaderInspector implements ResponseInspector {
  readonly sees_every_response = false
  readonly may_read_body = false
  readonly #place: CallPlace

  constructor(place: CallPlace) {
    this.#place = place
  }

  headers(headers: readonly Header[]): HeadersVerdict {
    const judged = judgeHeaders(headers, this.#place)
    return judged.kind === 'deny' ? judged : { ...judged, body: 'unseen' }
  }

  cleaned(headers: readonly Header[]): readonly Header[] {
    return withoutMark(headers)
  }

  body(): Promise<BodyVerdict> {
    return Promise.resolve(UNCHANGED)
  }

  trailers(): readonly string[] {
    return []
  }

  close(): void {}
}
