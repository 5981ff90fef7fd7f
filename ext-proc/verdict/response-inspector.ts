import type { Header } from '../../core/policy/header.ts'
import type { Denial } from './denial.ts'

/** What becomes of the response's headers, and how its body is looked at from there. */
export type HeadersVerdict =
  | {
      readonly kind: 'pass'
      /** The headers as they go out; the same list where nothing changes. */
      readonly headers: readonly Header[]
      /** `whole`: held until it is complete; `chunks`: each is held until it is answered. */
      readonly body: 'unseen' | 'whole' | 'chunks'
    }
  | { readonly kind: 'deny'; readonly denial: Denial }

export type BodyVerdict =
  | {
      readonly kind: 'pass'
      /** Replaces the whole body or the chunk; null leaves it. */
      readonly body: Buffer | null
      /** A header of the response that no longer holds; only for a whole body. */
      readonly remove: readonly string[]
    }
  | {
      readonly kind: 'deny'
      readonly denial: Denial
      /** What of a stream may still go out before it is cut. */
      readonly before: Buffer | null
    }

/** Looks at one response as it passes; its calls follow one another. */
export interface ResponseInspector {
  /** Whether it must see the response whatever is in its headers. */
  readonly sees_every_response: boolean
  /** Whether the body may have to be read, and so must come in an encoding that can be undone. */
  readonly may_read_body: boolean
  headers(headers: readonly Header[]): HeadersVerdict
  body(bytes: Buffer, end: boolean): Promise<BodyVerdict>
  /** The names of trailers that must not go out. */
  trailers(trailers: readonly Header[]): readonly string[]
  close(): void
}

export const UNCHANGED: BodyVerdict = { kind: 'pass', body: null, remove: [] }

export function headerOf(headers: readonly Header[], name: string): string | null {
  for (const header of headers) if (header.name === name) return header.value
  return null
}
