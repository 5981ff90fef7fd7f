import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { fromRoot } from '../../core/system/root.ts'
import { repetitions } from '../kit/repetitions.ts'

/** With the kept ones there are 300: so many find each edit of test/simulation/mutations.ts several times. */
const SEEDS = 243
const seeds = process.env['TEST_REPETITIONS'] === 'few' ? repetitions(SEEDS) : SEEDS

test('what the gateway promises holds in a simulation with crashes, lost messages, failovers and wrong clocks', () => {
  const file = fromRoot('dist', 'test', 'simulation', 'run.js')
  // Most of what it makes lives for a moment.
  const args = ['--max-semi-space-size=64', file, '--seeds', String(seeds), '--failures', '1']
  // A process of its own, since clocks and timers are replaced.
  const { stdout, stderr, status } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  assert.equal(status, 0, stdout + stderr)
  process.stdout.write(stdout)
})
