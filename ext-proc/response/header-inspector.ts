import type { Header } from '../../core/request/header.ts'
import {
  type BodyVerdict,
  type HeadersVerdict,
  NOTHING_REMOVED,
  type ResponseInspector,
  type TrailersVerdict,
  UNCHANGED,
} from '../verdict/response-inspector.ts'
import { judgeHeaders, withoutMark } from './judge-headers.ts'
import type { CallPlace } from './judge-reference.ts'

interface HeaderOrder {
  readonly place: CallPlace
  readonly onLeftOut: (headers: readonly string[]) => void
}

/** Judges headers that lead a client elsewhere or set a cookie, and leaves the body alone. */
export class HeaderInspector implements ResponseInspector {
  readonly sees_every_response = false
  readonly may_read_body = false
  readonly #order: HeaderOrder

  constructor(order: HeaderOrder) {
    this.#order = order
  }

  headers(headers: readonly Header[]): HeadersVerdict {
    const judged = judgeHeaders(headers, this.#order.place)
    if (judged.kind === 'deny') return judged
    if (judged.left_out.length > 0) this.#order.onLeftOut(judged.left_out)
    return { kind: 'pass', headers: judged.headers, body: 'unseen' }
  }

  cleaned(headers: readonly Header[]): readonly Header[] {
    return withoutMark(headers)
  }

  body(): Promise<BodyVerdict> {
    return Promise.resolve(UNCHANGED)
  }

  trailers(): TrailersVerdict {
    return NOTHING_REMOVED
  }

  close(): void {}
}
