import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PLAIN_FILLINGS } from '../../bench/timing/fillings.ts'
import { filled, growthIfTooFast } from '../../bench/timing/measure.ts'
import { SUBJECTS } from '../../bench/timing/subjects.ts'
import { repetitions } from '../kit/repetitions.ts'

// A small part of `npm run bench -- timing`, with a bound that only what is not linear exceeds, on a busy machine, too.

const BYTES = 8_192
/** What was quadratic in a native call or a search, for every subject. */
const ALWAYS = ['"a" "\\u0301\\u0323"* "a"', '"a" " "* "a"']
const always = PLAIN_FILLINGS.filter(({ name }) => ALWAYS.includes(name))

for (const [turn, subject] of SUBJECTS.entries())
  test(`the time is linear in the text: ${subject.name}`, () => {
    assert.equal(always.length, ALWAYS.length)
    const count = repetitions(3)
    const others = Array.from(
      { length: count },
      (_, i) => PLAIN_FILLINGS[(turn * 7 + i * 37) % PLAIN_FILLINGS.length],
    )
    for (const filling of [...always, ...others]) {
      if (filling === undefined) continue
      const bytes = Math.min(subject.limit_bytes, BYTES)
      const growth = growthIfTooFast(filled(subject, filling), bytes)
      assert.equal(growth, null, filling.name)
    }
  })
