/** One text of a request that is scanned by itself, and how a place in it is named. */
export type Source = {
  readonly bytes: Buffer
  readonly format: 'json' | 'pairs' | 'text'
  /** `body`, `query`, `headers.x-note`, `body.file1`. */
  readonly location: string
}
