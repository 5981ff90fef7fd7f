import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { fromRoot } from '../../core/system/root.ts'

// The simulation trusts its model of the store as far as the product's scripts do the same on it as on the real one.

/** The tests of scripts; they run on the real store by themselves. */
const TESTS = ['kill-scripts', 'rate-script', 'refusal-batches', 'explain-unsaved']

test('the tests of the scripts pass on the model of the store, too', () => {
  const files = TESTS.map((name) => fromRoot('dist', 'test', 'unit', `${name}.test.js`))
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const { stdout, status } = spawnSync(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', '--test', '--test-reporter=tap', ...files],
    { encoding: 'utf8', env: { ...env, UNIT_STORE: 'model' } },
  )
  assert.equal(status, 0, stdout)
  assert.ok(Number(/^# pass (\d+)$/m.exec(stdout)?.[1]) > 60, stdout)
})
