import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { type Budget, exceededBudget } from '../../bench/exceeded-budget.ts'
import { rotate } from '../../bench/rotate.ts'
import { fromRoot } from '../../core/system/root.ts'

test('a stage is reported above its budget by 15 % and by more than the clock can err', () => {
  const rows: readonly (readonly [measured: Budget, budget: Budget, stages: readonly string[]])[] =
    [
      [{ whole: 8 }, { whole: 8 }, []],
      [{ whole: 9.1 }, { whole: 8 }, []],
      [{ whole: 9.3 }, { whole: 8 }, ['whole']],
      [{ whole: 1 }, { whole: 8 }, []],
      [{ store: 0.3 }, { store: 0.2 }, []],
      [{ store: 0.4 }, { store: 0.2 }, ['store']],
      [{ launcher: 0.1 }, { launcher: 0 }, []],
      [{ launcher: 0.2 }, { launcher: 0 }, ['launcher']],
      [{ other: 9 }, { whole: 8 }, []],
      [{ whole: 20, store: 2 }, { whole: 8, store: 1 }, ['whole', 'store']],
    ]
  for (const [measured, budget, stages] of rows)
    assert.deepEqual(
      exceededBudget(measured, budget).map(({ stage }) => stage),
      stages,
      JSON.stringify([measured, budget]),
    )
})

test('each subject of a measurement has each place in its rounds equally often', () => {
  const subjects = ['plain', 'answering', 'product']
  const rounds = Array.from({ length: 6 }, (_, round) => rotate(subjects, round))
  for (const round of rounds) assert.deepEqual([...round].sort(), [...subjects].sort())
  for (const place of subjects.keys())
    for (const subject of subjects)
      assert.equal(rounds.filter((round) => round[place] === subject).length, 2)
  assert.deepEqual(rotate([], 3), [])
})

test('every row of the file has a budget for the whole and for each stage', () => {
  const budgets = JSON.parse(readFileSync(fromRoot('bench', 'budget.json'), 'utf8')) as object
  for (const [row, budget] of Object.entries(budgets) as [string, Budget][])
    assert.deepEqual(
      Object.keys(budget),
      ['Envoy', 'ext-proc', 'access log', 'admin', 'store', 'launcher', 'whole'],
      row,
    )
})
