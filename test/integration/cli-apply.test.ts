import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fromRoot } from '../../core/system/root.ts'
import { call } from '../kit/call.ts'
import { sharedStack } from '../kit/shared-stack.ts'
import { tempFolder } from '../kit/temp-folder.ts'

const stack = await sharedStack()
const keysOut = join(tempFolder('apply'), 'keys')
const env = {
  PATH: process.env['PATH'],
  AGW_URL: stack.apiUrl,
  AGW_TOKEN: stack.adminToken,
  APPLIED_TOKEN: 'a-token-that-was-applied',
}

/** The command as an operator gives it, with a text on its standard input. */
function agw(input: string, ...args: readonly string[]) {
  return new Promise<{ code: unknown; out: string; err: string }>((resolve) => {
    const child = execFile(
      process.execPath,
      [fromRoot('dist', 'cli', 'bin.js'), ...args],
      { env },
      (error, out, err) => resolve({ code: error === null ? 0 : error.code, out, err }),
    )
    child.stdin?.end(input)
  })
}

test('what is applied is in force at the proxy, and a kill outlives every further apply', async () => {
  const base_url = stack.ownBaseUrl()
  const file = (metadata: object): string =>
    JSON.stringify({
      integrations: [
        { name: 'applied api', base_url, auth: { type: 'bearer', token: '${APPLIED_TOKEN}' } },
      ],
      agents: [{ agent_name: 'applied', metadata }],
      scopes: [
        {
          name: 'all',
          agent: 'applied',
          integration: 'applied api',
          rules: [{ methods: ['GET'], paths: ['/**'] }],
        },
      ],
    })
  const applied = await agw(file({}), 'apply', '-f', '-', '--keys-out', keysOut)
  assert.equal(applied.code, 0)
  assert.match(applied.err, /^3 created; 0 unchanged\./)
  const { api_key } = JSON.parse(readFileSync(keysOut, 'utf8')) as { api_key: string }
  const ask = () =>
    call({
      to: stack.proxyUrl,
      path: `/${base_url}/hello`,
      headers: { authorization: `Bearer ${api_key}` },
    })
  const since = stack.api.mark()
  assert.equal((await ask()).status, 200)
  assert.match(JSON.stringify(since()), /"Bearer a-token-that-was-applied"/)
  assert.equal((await agw('', 'kill', 'applied', '--reason', 'a test')).code, 0)
  const again = await agw(file({ since: 1 }), 'apply', '-f', '-')
  assert.equal(again.out, '~ agent applied\n    metadata.since: (none) → 1\n')
  assert.equal((await ask()).status, 403)
  const same = await agw(file({ since: 1 }), 'diff', '-f', '-', '--exit-code', '-o', 'json')
  assert.deepEqual([same.code, same.out], [0, ''])
  const different = await agw(file({}), 'diff', '-f', '-', '--exit-code', '-o', 'json')
  assert.equal(different.code, 1)
  assert.deepEqual(JSON.parse(different.out).members, [{ member: 'metadata.since', before: 1 }])
  const { out, err } = await agw('', 'dump', '-o', 'json')
  assert.match(err, /^applied is killed\. The file does not record this/m)
  const dumped = JSON.parse(out)
  assert.deepEqual(
    dumped.agents.filter(({ agent_name }: { agent_name: string }) => agent_name === 'applied'),
    [{ agent_name: 'applied', metadata: { since: 1 } }],
  )
})

test('a resource that the egress filter will refuse is applied, with a warning', async () => {
  const file = (name: string, host: string): string =>
    JSON.stringify({
      integrations: [{ name, base_url: `http://${host}/v1`, auth: { type: 'none' } }],
    })
  const warning =
    'base_url: 10.77.1.2 is not a public address (private). Connections to it are refused unless AGW_EGRESS_ALLOW_CIDRS includes its range, for example 10.77.1.2/32.'
  const applied = await agw(file('inside', '10.77.1.2'), 'apply', '-f', '-')
  assert.deepEqual([applied.code, applied.out], [0, '+ integration inside\n'])
  assert.ok(applied.err.startsWith(`Warning: inside: ${warning}\n`), applied.err)
  const renamed = await agw(file('renamed', '10.77.1.2'), 'apply', '-f', '-', '-o', 'json')
  assert.deepEqual([renamed.code, JSON.parse(renamed.out).warnings], [0, [warning]])
  const outside = await agw(file('outside', '8.8.8.8'), 'apply', '-f', '-', '-o', 'json')
  assert.deepEqual([outside.code, 'warnings' in JSON.parse(outside.out)], [0, false])
  assert.doesNotMatch(outside.err, /Warning/)
})
