import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { sharedStack } from '../kit/shared-stack.ts'
import { bigBody } from '../kit/test-upstream/big-body.ts'
import { tempFolder } from '../kit/temp-folder.ts'

const run = promisify(execFile)
const stack = await sharedStack()
const access = await stack.operator.makeAccess(stack.origin('git'), {
  auth: { type: 'basic', username: 'git-stored-user', password: 'git-stored' },
  rules: [
    { methods: ['GET'], paths: ['/demo.git/info/refs'] },
    { methods: ['POST'], paths: ['/demo.git/git-upload-pack'] },
  ],
})

/** Without the configuration, helpers and prompts of the user who runs the tests. */
const env = (home: string) => ({
  PATH: process.env['PATH'],
  HOME: home,
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_TERMINAL_PROMPT: '0',
})

test('git clones over smart HTTP with the key as the password', async () => {
  const sent = stack.api.mark()
  const folder = tempFolder('clone')
  const { host } = new URL(stack.proxyUrl)
  const url = `http://agent:${access.agent.api_key}@${host}/${access.base_url}/demo.git`
  await run('git', ['clone', '-q', url, join(folder, 'demo')], { env: env(folder) })
  const data = readFileSync(join(folder, 'demo', 'data.bin'))
  assert.ok(data.equals(Buffer.concat([...bigBody(data.length)])))
  assert.ok(sent().length >= 2)
  const stored = `Basic ${Buffer.from('git-stored-user:git-stored').toString('base64')}`
  assert.ok(sent().every((call) => call.header('authorization') === stored))
})

test('git push is refused, and nothing reaches the upstream', async () => {
  const folder = tempFolder('push')
  const { host } = new URL(stack.proxyUrl)
  const url = `http://agent:${access.agent.api_key}@${host}/${access.base_url}/demo.git`
  await run('git', ['clone', '-q', url, join(folder, 'demo')], { env: env(folder) })
  const sent = stack.api.mark()
  const push = run('git', ['push', 'origin', 'main:other'], {
    cwd: join(folder, 'demo'),
    env: env(folder),
  })
  await assert.rejects(push)
  // Which references there are is asked at the path that a fetch asks at, and rules do not look at queries.
  assert.deepEqual([...new Set(sent().map(({ method }) => method))], ['GET'])
})
