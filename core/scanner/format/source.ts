/** One text of a request that is scanned by itself, and how a place in it is named. */
export type Source = {
  readonly bytes: Buffer
  readonly format: 'json' | 'pairs' | 'text'
  /** `body`, `query`, `headers.x-note`, `body.file1`. */
  readonly location: string
  /** Single words among binary data; the learned model, which needs sentences, is not used. */
  readonly is_noise?: boolean
  /** Sessions and ids, so a run of Base64 is no finding by itself. */
  readonly holds_tokens?: boolean
}
