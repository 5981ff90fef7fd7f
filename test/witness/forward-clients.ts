import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { forwardVariables } from '../../cli/forward/forward-variables.ts'
import { fromRoot } from '../../core/root.ts'
import { STORED_CREDENTIAL } from '../kit/operator.ts'
import { startAll, stopAll } from '../kit/shared-stack.ts'
import { tempFolder } from '../kit/temp-folder.ts'

/**
 * Lets clients of several languages call an API through the forward proxy, unchanged but for the variables of `agw env`. A client
 * has passed when its calls have arrived with the stored credential. One that is not on this machine is named and left out.
 *
 *     node cli/prepare.mjs build && node dist/test/witness/forward-clients.js [client ...]
 */
const run = promisify(execFile)
const LIMIT_MS = 60_000

const words = process.argv.slice(2)
const stack = await startAll({})
const failed: string[] = []
try {
  const { operator, api, origin } = stack
  const to = origin('plain')
  const git = origin('git')
  const { agent } = await operator.makeAccess(to)
  const { integration_id } = await operator.makeIntegration(git)
  await operator.makeScope(agent.agent_id, integration_id)
  const folder = tempFolder('forward-clients')
  const [ca_file, bundle_file] = await Promise.all(
    ['ca.pem', 'ca-bundle.pem'].map(async (name) => {
      const text = await (await fetch(`${stack.apiUrl}/${name}`)).text()
      const file = join(folder, name)
      writeFileSync(file, text)
      return file
    }),
  )
  const proxy_url = `http://agent:${agent.api_key}@127.0.0.1:${stack.forwardPort}`
  const env = {
    PATH: process.env['PATH'],
    HOME: folder,
    GOFLAGS: '-mod=mod',
    GONOSUMDB: '*',
    GONOSUMCHECK: '1',
    GOPROXY: `${to}/go`,
    GOTOOLCHAIN: 'local',
    ...forwardVariables({ proxy_url, ca_file: ca_file ?? '', bundle_file: bundle_file ?? '' }),
  }
  const node = (code: string): readonly string[] => [
    process.execPath,
    '--input-type=module',
    '-e',
    `import { EnvHttpProxyAgent, setGlobalDispatcher, fetch } from 'undici'
     setGlobalDispatcher(new EnvHttpProxyAgent())
     ${code}`,
  ]
  const clients: Readonly<Record<string, readonly string[]>> = {
    curl: ['curl', '-sS', `${to}/curl`],
    'curl, HTTP/1.1': ['curl', '-sS', '--http1.1', `${to}/curl1`],
    wget: ['wget', '-q', `--ca-certificate=${bundle_file}`, '-O', '-', `${to}/wget`],
    'git clone': ['git', 'clone', '-q', `${git}/demo.git`, join(folder, 'demo')],
    'Python urllib': [
      'python3',
      '-c',
      `import urllib.request as u; u.urlopen('${to}/urllib').read()`,
    ],
    'Python requests': ['python3', '-c', `import requests; requests.get('${to}/requests')`],
    'Python httpx': ['python3', '-c', `import httpx; httpx.get('${to}/httpx')`],
    pip: [
      'pip3',
      'download',
      '--no-deps',
      '--retries=0',
      '--disable-pip-version-check',
      '-d',
      folder,
      '-i',
      `${to}/simple`,
      'demo',
    ],
    npm: ['npm', 'view', 'demo', '--fetch-retries=0', `--registry=${to}/npm/`],
    Go: ['go', 'mod', 'download', 'example.com/demo@v1.0.0'],
    Ruby: ['ruby', '-rnet/http', '-e', `Net::HTTP.get(URI('${to}/ruby'))`],
    undici: node(`await fetch('${to}/undici')`),
    'OpenAI SDK': node(`import OpenAI from 'openai'
      await new OpenAI({ apiKey: 'none', baseURL: '${to}/v1', fetch, maxRetries: 0 }).models.list().catch(() => {})`),
    Octokit: node(`import { Octokit } from '@octokit/rest'
      await new Octokit({ auth: 'none', baseUrl: '${to}', request: { fetch } }).rest.repos.get({ owner: 'a', repo: 'b' }).catch(() => {})`),
    Stripe: node(`import Stripe from 'stripe'
      const { hostname: host, port } = new URL('${to}')
      const httpClient = Stripe.createFetchHttpClient(fetch)
      await new Stripe('sk_test_none', { host, port, httpClient, maxNetworkRetries: 0 }).customers.list().catch(() => {})`),
    'Node.js fetch': [process.execPath, '--input-type=module', '-e', `await fetch('${to}/fetch')`],
  }
  for (const [name, [program = '', ...args]] of Object.entries(clients)) {
    if (words.length > 0 && !words.includes(name)) continue
    const sent = api.mark()
    const said = await run(program, args, {
      env,
      cwd: name === 'Go' ? folder : fromRoot(),
      timeout: LIMIT_MS,
    }).then(
      () => '',
      (error: { code?: unknown; stderr?: string; message: string }) =>
        error.code === 'ENOENT' || /No module named/.test(error.stderr ?? '')
          ? null
          : (error.stderr ?? error.message),
    )
    const calls = sent()
    const isOurs = calls.every(
      (one) => one.header('authorization') === `Bearer ${STORED_CREDENTIAL}`,
    )
    const outcome =
      said === null
        ? 'not on this machine'
        : calls.length > 0 && isOurs
          ? `passed (${calls.length} calls)`
          : `FAILED: ${said.trim().slice(-200)}`
    // Node.js before 24 does not read the variables, which the guide says.
    const isKnown = name === 'Node.js fetch' && Number(process.versions.node.split('.')[0]) < 24
    if (outcome.startsWith('FAILED') && !isKnown) failed.push(name)
    console.log(
      `${name.padEnd(18)} ${isKnown && calls.length === 0 ? `not proxied (Node.js ${process.versions.node})` : outcome}`,
    )
  }
} finally {
  await stopAll(stack)
}
process.exitCode = failed.length === 0 ? 0 : 1
