import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { describe, test } from 'node:test'
import { fromRoot } from '../../core/system/root.ts'

const agw = (...args: readonly string[]) =>
  new Promise<{ status: unknown; stderr: string }>((resolve) => {
    execFile(
      process.execPath,
      [fromRoot('dist', 'cli', 'bin.js'), ...args],
      { env: { ...process.env, AGW_TOKEN: 'agw_admin_none', AGW_URL: '' } },
      (error, _stdout, stderr) => resolve({ status: error?.code ?? 0, stderr }),
    )
  })

const wrong: readonly [args: readonly string[], says: RegExp][] = [
  [['activity', '--event', 'none'], /Allowed choices are request_allowed, /],
  [['activity', '--url', 'localhost:8081'], /must start with http:\/\/ or https:\/\//],
  [['scan', '-o', 'table'], /Allowed choices are json/],
  [['lock', 'everything', 'bot'], /takes no name. Nothing is locked/],
  [['lock', 'agent'], /needs a name or an id/],
  [['kill'], /missing required argument 'agent'/],
  [['apply', '--keys-out', 'keys'], /required option '-f, --file <file>'/],
  [['dump', '-o', 'table'], /Allowed choices are yaml, json/],
  [['reactivate', 'agt_1'], /required option '--reason <text>'/],
]
// Each starts a process of its own.
describe('wrong usage says what is wrong and exits with 2', { concurrency: 4 }, () => {
  for (const [args, says] of wrong)
    test(`agw ${args.join(' ')}`, async () => {
      const { status, stderr } = await agw(...args)
      assert.equal(status, 2, stderr)
      assert.match(stderr, says)
    })
})
