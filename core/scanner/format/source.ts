/** One text of a request that is scanned by itself, and how a place in it is named. */
export type Source = {
  readonly bytes: Buffer
  readonly format: 'json' | 'pairs' | 'text'
  /** `body`, `query`, `headers.x-note`, `body.file1`. */
  readonly location: string
  /** Words among bytes that are none: the learned model is not asked, which knows sentences. */
  readonly is_noise?: boolean
  /** Sessions and ids, so a run of Base64 is no finding by itself. */
  readonly holds_tokens?: boolean
}
