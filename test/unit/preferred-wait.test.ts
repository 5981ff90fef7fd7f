import assert from 'node:assert/strict'
import { test } from 'node:test'
import { preferredWait } from '../../core/request/preferred-wait.ts'

const ROWS: readonly (readonly [seconds: number | null, ...values: readonly string[]])[] = [
  [null],
  [null, ''],
  [null, 'respond-async'],
  [5, 'wait=5'],
  [5, 'respond-async, WAIT = "5" ; strict'],
  [0, 'wait=0'],
  [7, 'return=minimal', 'wait=7, wait=9'],
  [null, 'wait'],
  [null, 'wait=-5'],
  [null, 'wait=5s'],
  [null, 'wait=1e3'],
  [null, 'await=5'],
  [null, 'wait=9999999999'],
  [null, `${' '.repeat(1_024)}wait=5`],
]

test('the first wait of Prefer counts, and what is none is ignored', () => {
  for (const [seconds, ...values] of ROWS) {
    const headers = values.map((value) => ({ name: 'prefer', value }))
    assert.equal(
      preferredWait([{ name: 'x-prefer', value: 'wait=1' }, ...headers]),
      seconds,
      values[0],
    )
  }
})
