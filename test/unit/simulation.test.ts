import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { fromRoot } from '../../core/system/root.ts'
import { repetitions } from '../kit/repetitions.ts'

/** So many seeds find each edit of test/simulation/mutations.ts several times. */
const SEEDS = 300

test('what the gateway promises holds in a simulation with crashes, lost messages, failovers and wrong clocks', () => {
  const file = fromRoot('dist', 'test', 'simulation', 'run.js')
  // Most of what it makes lives for a moment.
  const args = [
    '--max-semi-space-size=64',
    file,
    '--seeds',
    String(repetitions(SEEDS)),
    '--failures',
    '1',
  ]
  // A process of its own, since clocks and timers are replaced.
  const { stdout, stderr, status } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  assert.equal(status, 0, stdout + stderr)
  process.stdout.write(stdout)
})
