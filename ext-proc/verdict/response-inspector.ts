import type { Header } from '../../core/request/header.ts'
import type { Denial } from './denial.ts'

/** Changes to the response headers, and how the body is inspected. */
export type HeadersVerdict =
  | {
      readonly kind: 'pass'
      /** The headers to send; the same list if nothing changes. */
      readonly headers: readonly Header[]
      /**
       * `whole`: buffered until complete; `whole_or_beginning`: until complete or over Envoy's limit; `chunks`: each chunk waits
       * for the processor.
       */
      readonly body: 'unseen' | 'whole' | 'whole_or_beginning' | 'chunks'
    }
  | { readonly kind: 'deny'; readonly denial: Denial }

export type BodyVerdict =
  | {
      readonly kind: 'pass'
      /** Replaces the whole body or the chunk; null keeps it. */
      readonly body: Buffer | null
      /** A response header that is no longer valid; only for a whole body. */
      readonly remove: readonly string[]
    }
  | {
      readonly kind: 'deny'
      readonly denial: Denial
      /** The part of a stream that may still be sent before it is cut. */
      readonly before: Buffer | null
    }

/** The names of trailers that are removed, or why the response is cut. */
export type TrailersVerdict =
  | { readonly kind: 'pass'; readonly remove: readonly string[] }
  | { readonly kind: 'deny'; readonly denial: Denial }

/** Inspects one response while it passes. Its methods are called in sequence. */
export interface ResponseInspector {
  /** Whether it must see the response regardless of its headers. */
  readonly sees_every_response: boolean
  /** Whether the body may have to be read and therefore needs an encoding that can be decoded. */
  readonly may_read_body: boolean
  /** @param end no body follows */
  headers(headers: readonly Header[], end?: boolean): HeadersVerdict | Promise<HeadersVerdict>
  /** The headers of an error by a filter of the same Envoy, to which the call did not get through: not judged, only cleaned. */
  cleaned(headers: readonly Header[]): readonly Header[]
  body(bytes: Buffer, end: boolean): Promise<BodyVerdict>
  trailers(trailers: readonly Header[]): TrailersVerdict | Promise<TrailersVerdict>
  close(): void
}

export const NOTHING_REMOVED: TrailersVerdict = { kind: 'pass', remove: [] }
export const UNCHANGED: BodyVerdict = { kind: 'pass', body: null, remove: [] }

export function headerOf(headers: readonly Header[], name: string): string | null {
  for (const header of headers) if (header.name === name) return header.value
  return null
}
