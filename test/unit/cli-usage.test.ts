import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { fromRoot } from '../../core/root.ts'

const agw = (...args: readonly string[]) =>
  spawnSync(process.execPath, [fromRoot('dist', 'cli', 'bin.js'), ...args], {
    encoding: 'utf8',
    env: { ...process.env, AGW_TOKEN: 'agw_admin_none', AGW_URL: '' },
  })

const wrong: readonly [args: readonly string[], says: RegExp][] = [
  [['activity', '--event', 'none'], /Allowed choices are request_allowed, /],
  [['activity', '--url', 'localhost:8081'], /It begins with http:\/\/ or https:\/\//],
  [['scan', '-o', 'table'], /Allowed choices are json/],
  [['kill'], /missing required argument 'agent'/],
  [['apply', '--keys-out', 'keys'], /required option '-f, --file <file>'/],
  [['dump', '-o', 'table'], /Allowed choices are yaml, json/],
  [['reactivate', 'agt_1'], /required option '--reason <text>'/],
]
for (const [args, says] of wrong)
  test(`wrong usage says what is wrong and exits with 2: agw ${args.join(' ')}`, () => {
    const { status, stderr } = agw(...args)
    assert.equal(status, 2, stderr)
    assert.match(stderr, says)
  })
