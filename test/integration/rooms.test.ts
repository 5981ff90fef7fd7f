import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { fromRoot } from '../../core/root.ts'
import type { Rooms } from '../rooms/analyse-rooms.ts'

/** Folders that several stages of one call enter, and why. */
const SHARED: Readonly<Record<string, string>> = {
  core: 'model and secrets',
  'core/policy': 'pure functions that read headers, targets and bodies',
  'ext-proc/envoy': 'reads the request and writes the answer',
  'ext-proc/kill':
    'registers the call, looks at the flag once more at the end, and lets the call go',
  'ext-proc/record': 'notes each stage once',
  'ext-proc/response': 'is planned when the call is forwarded, and used when the response comes',
  'ext-proc/verdict': 'pass and deny',
}

test('a plain allowed GET goes through the stages in order and returns to none; no other folder is entered twice', () => {
  const args = ['--expose-internals', fromRoot('dist/test/rooms/run.js'), '--json']
  const { stdout, stderr, status } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  assert.equal(status, 0, stderr)
  const { stages, stages_of } = JSON.parse(stdout) as Rooms
  assert.deepEqual(stages, [
    'receive',
    'admission',
    'plan',
    'rate',
    'body',
    'tools',
    'scan',
    'credential',
    'forward',
    'answer',
  ])
  const shared = Object.entries(stages_of).filter(([, found]) => found.length > 1)
  assert.deepEqual(shared.map(([room]) => room).sort(), Object.keys(SHARED))
  for (const room of ['ext-proc/policy', 'ext-proc/rate', 'core/credential', 'core/inspection'])
    assert.equal(stages_of[room]?.length, 1, room)
})
