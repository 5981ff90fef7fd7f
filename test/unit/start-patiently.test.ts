import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startPatiently } from '../../admin/gate/start-patiently.ts'

/** Fails with the messages, one after the other, and then starts. */
function starting(messages: readonly string[]) {
  const warnings: string[] = []
  let attempts = 0
  const start = async (): Promise<number> => {
    const message = messages[attempts++]
    if (message !== undefined) throw new Error(message)
    return attempts
  }
  const started = startPatiently(start, (text) => void warnings.push(text))
  return { started, warnings, attempts: () => attempts }
}

test('a store that does not answer in time is asked three times', async () => {
  const late = 'Command timed out'
  const twice = starting([late, late])
  assert.equal(await twice.started, 3)
  assert.equal(twice.warnings.length, 2)
  const always = starting([late, late, late, late])
  await assert.rejects(always.started, /Command timed out/)
  assert.equal(always.attempts(), 3)
})

test('any other error ends the start', async () => {
  const other = starting(['port 8081 is in use'])
  await assert.rejects(other.started, /in use/)
  assert.equal(other.attempts(), 1)
  assert.equal(other.warnings.length, 0)
})
