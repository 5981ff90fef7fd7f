import type { Header } from '../../core/request/header.ts'

/** In whole seconds, so that a repetition does not come too early. */
export const retryAfter = (left_ms: number): readonly Header[] => [
  { name: 'retry-after', value: String(Math.max(1, Math.ceil(left_ms / 1000))) },
]
