import { readFileSync } from 'node:fs'
import type { TestBegin, TestEnd } from './event-reporter.ts'

export interface TestEvents {
  readonly ends: readonly TestEnd[]
  /** Tests and suites that have not ended yet. */
  readonly open: number
}

/** What event-reporter.ts has written so far. */
export function readEvents(file: string): TestEvents {
  const lines = readFileSync(file, 'utf8').split('\n')
  // The last line is empty, or not yet whole.
  const events = lines.slice(0, -1).map((line) => JSON.parse(line) as TestBegin | TestEnd)
  const ends = events.filter((event): event is TestEnd => 'passed' in event)
  return { ends, open: events.length - 2 * ends.length }
}
