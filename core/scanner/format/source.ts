import type { Shape } from '../conversation/shapes.ts'

/** One text of a request that is scanned separately, and how a position in it is named. */
export type Source = {
  readonly bytes: Buffer
  readonly format: 'json' | 'pairs' | 'text'
  /** `body`, `query`, `headers.x-note`, `body.file1`. */
  readonly location: string
  /** Single words within binary data. The learned model needs sentences and is not used. */
  readonly is_noise?: boolean
  /** Session tokens and ids, so a run of Base64 alone is not a finding. */
  readonly holds_tokens?: boolean
  /** Of a JSON body: what it may be by the method and path of its request. */
  readonly shapes?: readonly Shape[] | 'any'
}
