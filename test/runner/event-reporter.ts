/** How one test has ended. A suite ends after its tests and passes or fails with them. */
export interface TestEnd {
  readonly passed: boolean
  readonly is_suite: boolean
  readonly name: string
  readonly file: string
  /** 0 for a test that is in no other. */
  readonly nesting: number
  readonly duration_ms: number
  readonly skipped: string | null
}

interface Event {
  readonly type: string
  readonly data: {
    readonly name: string
    readonly file?: string
    readonly nesting: number
    readonly skip?: string | boolean
    readonly details: { readonly type?: string; readonly duration_ms: number }
  }
}

/** A test or suite that is to end with a TestEnd. */
export interface TestBegin {
  readonly begins: true
}

/** A reporter of `node:test`: one line of JSON for each test and suite, when it is known and when it has ended. */
// oxlint-disable-next-line import/no-default-export -- node:test wants the default export of a reporter.
export default async function* reportEvents(source: AsyncIterable<Event>): AsyncGenerator<string> {
  for await (const { type, data } of source) {
    if (type === 'test:enqueue') yield `${JSON.stringify({ begins: true } satisfies TestBegin)}\n`
    if (type !== 'test:pass' && type !== 'test:fail') continue
    const { name, file = '', nesting, skip, details } = data
    const end: TestEnd = {
      passed: type === 'test:pass',
      is_suite: details.type === 'suite',
      name,
      file,
      nesting,
      duration_ms: details.duration_ms,
      skipped: skip === undefined || skip === false ? null : String(skip),
    }
    yield `${JSON.stringify(end)}\n`
  }
}
