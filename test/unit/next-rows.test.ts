import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { fromRoot } from '../../core/system/root.ts'

interface Rows {
  readonly begin: number
  readonly end: number
}

// A module of the console without a page, imported as built.
const { nextRows } = (await import(
  fromRoot('dist', 'admin', 'console', 'parts', 'next-rows.js')
)) as { nextRows: (drawn: Rows, wanted: Rows, seen: number, count: number) => Rows }

const COUNT = 12
const rows = (begin: number, end: number): Rows => ({ begin, end })

function* stepsTo(wanted: Rows, seen: number, from: Rows): Generator<Rows> {
  for (let drawn = from, steps = 0; steps < 100; steps++) {
    const next = nextRows(drawn, wanted, seen, COUNT)
    if (next === drawn) return
    yield next
    drawn = next
  }
  assert.fail('it does not end')
}

const newRows = (before: Rows, after: Rows): number => {
  const kept = Math.max(0, Math.min(before.end, after.end) - Math.max(before.begin, after.begin))
  return after.end - after.begin - kept
}

describe('rows of a scrolled list', () => {
  it('draws what comes into view in steps, and drops what is out of view', () => {
    assert.deepEqual(
      [...stepsTo(rows(26, 64), 34, rows(1, 39))],
      [rows(26, 51), rows(26, 63), rows(26, 64)],
    )
    assert.deepEqual(
      [...stepsTo(rows(0, 30), 0, rows(25, 63))],
      [rows(13, 30), rows(1, 30), rows(0, 30)],
    )
  })

  it('begins with the first row that is seen after a jump, and draws the spare rows last', () => {
    assert.deepEqual(
      [...stepsTo(rows(492, 530), 500, rows(0, 38))],
      [rows(500, 512), rows(500, 524), rows(494, 530), rows(492, 530)],
    )
  })

  it('follows a list that becomes shorter', () => {
    assert.deepEqual([...stepsTo(rows(0, 5), 0, rows(40, 78))], [rows(0, 5)])
    assert.deepEqual([...stepsTo(rows(0, 0), 0, rows(0, 12))], [rows(0, 0)])
  })

  it('reaches what is wanted from anywhere, never with more new rows in a step than given', () => {
    for (let from = 0; from < 120; from += 7)
      for (let seen = 0; seen < 120; seen += 5) {
        const wanted = rows(Math.max(0, seen - 8), seen + 30)
        let last = rows(from, from + 38)
        for (const step of stepsTo(wanted, seen, last)) {
          assert.ok(newRows(last, step) <= COUNT, JSON.stringify({ last, step }))
          assert.ok(step.begin >= wanted.begin && step.end <= wanted.end)
          last = step
        }
        assert.deepEqual(last, wanted)
      }
  })
})
