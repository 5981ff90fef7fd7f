import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { fromRoot } from '../../core/system/root.ts'
import { STORED_CREDENTIAL } from '../kit/operator.ts'
import { sharedStack } from '../kit/shared-stack.ts'
import { tempFolder } from '../kit/temp-folder.ts'

// `agw run` and `agw env`, with clients that every machine has; test/witness/forward-clients.ts has those of other languages.

const run = promisify(execFile)
const stack = await sharedStack()
const { operator, api, origin } = stack
const { agent, base_url } = await stack.makeAccess()
const home = tempFolder('forward-clients')
const proxy = `http://127.0.0.1:${stack.forwardPort}`
const env = {
  PATH: process.env['PATH'],
  HOME: home,
  AGW_URL: stack.apiUrl,
  AGW_TOKEN: stack.adminToken,
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_TERMINAL_PROMPT: '0',
}

const agw = (...args: readonly string[]) =>
  run(process.execPath, [fromRoot('dist', 'cli', 'bin.js'), ...args], { env, cwd: fromRoot() })

const runAs = (...command: readonly string[]) =>
  agw('run', agent.agent_id, '--proxy', proxy, '--', ...command)

/** undici reads the variables in every release of Node.js. */
const FETCH = `import { EnvHttpProxyAgent, fetch } from 'undici'
  const answer = await fetch(process.argv[1], { dispatcher: new EnvHttpProxyAgent() })
  console.log(JSON.stringify([answer.status, Object.keys(process.env).filter((name) => name.startsWith('AGW_'))]))`

test('agw run: the calls of a command are the agent’s, with a key for as long as it runs', async () => {
  const sent = api.mark()
  const node = [process.execPath, '--input-type=module', '-e', FETCH, `${base_url}/echo`]
  const { stdout } = await runAs(...node)
  assert.deepEqual(JSON.parse(stdout), [200, []])
  assert.deepEqual(
    sent().map((one) => one.header('authorization')),
    [`Bearer ${STORED_CREDENTIAL}`],
  )
  const { data } = await operator.send('GET', `/admin/agents/${agent.agent_id}/keys`)
  const left = data.filter(
    ({ name, revoked_at }: Record<string, unknown>) => name === 'agw run' && revoked_at === null,
  )
  assert.deepEqual(left, [])
})

test('agw run: git clones without any setting of its own', async () => {
  const { integration_id } = await operator.makeIntegration(`${origin('git')}/demo.git`)
  await operator.makeScope(agent.agent_id, integration_id)
  const folder = join(home, 'demo')
  await runAs('git', 'clone', '-q', `${origin('git')}/demo.git`, folder)
  assert.ok(readFileSync(join(folder, 'data.bin')).length > 0)
})

test('agw run: the exit code is the command’s', async () => {
  await assert.rejects(runAs(process.execPath, '-e', 'process.exit(7)'), { code: 7 })
  await assert.rejects(runAs('/no/such/program'), /cannot be run/)
})

test('agw run and agw env extend NO_PROXY of the user', async () => {
  const set = {
    ...env,
    NO_PROXY: 'internal.corp, .svc,$(touch x)',
    no_proxy: 'host.docker.internal',
  }
  const bin = [fromRoot('dist', 'cli', 'bin.js')]
  const show = ['sh', '-c', 'echo $NO_PROXY,$no_proxy']
  const ran = await run(
    process.execPath,
    [...bin, 'run', agent.agent_id, '--proxy', proxy, '--', ...show],
    { env: set, cwd: fromRoot() },
  )
  const all = 'internal.corp,.svc,host.docker.internal,localhost,127.0.0.1,::1'
  assert.equal(ran.stdout.trim(), `${all},${all}`)
  const shown = await run(process.execPath, [...bin, 'env', agent.agent_id, '--proxy', proxy], {
    env: set,
    cwd: fromRoot(),
  })
  assert.match(shown.stdout, new RegExp(`^export no_proxy="${all}"$`, 'm'))
})

test('agw env: a shell that evaluates it has the variables, and no key is printed', async () => {
  const { stdout } = await agw('env', agent.agent_id, '--proxy', proxy)
  assert.ok(!stdout.includes('agw_live_'))
  const shown = await run(
    'sh',
    ['-c', `${stdout}\nprintf '%s\\n' "$HTTPS_PROXY" "$SSL_CERT_FILE"`],
    {
      env: { ...env, AGW_KEY: 'the-key' },
    },
  )
  const [url, file] = shown.stdout.split('\n')
  assert.equal(url, `http://${agent.agent_id}:the-key@127.0.0.1:${stack.forwardPort}`)
  assert.match(readFileSync(file ?? '', 'utf8'), /BEGIN CERTIFICATE/)
  await assert.rejects(agw('env', agent.agent_id, '--format', 'docker'), /Set AGW_KEY/)
})
