import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import { arch, homedir, platform } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { forwardVariables } from '../../cli/forward/forward-variables.ts'
import { fromRoot } from '../../core/system/root.ts'
import { issueCertificate } from '../kit/issue-certificate.ts'
import { STORED_CREDENTIAL } from '../kit/operator.ts'
import { startAll, stopAll } from '../kit/shared-stack.ts'
import { tempFolder } from '../kit/temp-folder.ts'

/**
 * Lets clients of several languages call an API through the forward proxy, unchanged but for the variables of `agw env` and what
 * docs/guides/forward-proxy.md lists. A client has passed when its calls have arrived with the stored credential. One that is not
 * on this machine is named and left out. Node.js 24, and the packages of the Pythons that are there, are installed from their
 * registries into the cache folder.
 *
 * The SDKs call their default hosts: names that the gateway's resolver finds at an address of the loopback network, where a server
 * listens on port 443. Without the right to open that port they are left out.
 *
 *     node cli/prepare.mjs build && node dist/test/witness/forward-clients.js [client ...]
 */
const run = promisify(execFile)
const LIMIT_MS = 60_000
const INSTALL_LIMIT_MS = 180_000
const NODE_VERSION = '24.9.0'
const PYTHONS = ['3.8', '3.11', '3.13'] as const
const DEFAULT_HOSTS = ['api.openai.com', 'api.stripe.com', 'api.github.com'] as const
const DEFAULT_ADDRESS = '127.0.0.44'

const cache = join(process.env['AGW_CACHE_DIR'] ?? join(homedir(), '.cache', 'agw'), 'clients')
mkdirSync(cache, { recursive: true })

/** Null if it cannot be had. */
const tried = async <T>(work: () => Promise<T>): Promise<T | null> => work().catch(() => null)

async function findNode(): Promise<string | null> {
  const prefix = join(cache, 'node24')
  const name = `node-${platform()}-${arch()}`
  const file = join(prefix, 'node_modules', name, 'bin', 'node')
  if (existsSync(file)) return file
  const flags = ['--no-audit', '--no-fund', '--ignore-scripts', '--prefix', prefix]
  const installed = await tried(() =>
    run('npm', ['install', ...flags, `${name}@${NODE_VERSION}`], { timeout: INSTALL_LIMIT_MS }),
  )
  return installed === null ? null : file
}

interface Python {
  readonly file: string
  /** Of requests and httpx. */
  readonly packages: string
}

async function findPython(version: (typeof PYTHONS)[number]): Promise<Python | null> {
  const folder = join(homedir(), '.pyenv', 'versions')
  const kept = existsSync(folder)
    ? readdirSync(folder).filter((name) => name.startsWith(`${version}.`))
    : []
  const program = `python${version}`
  const places = [...kept.map((name) => join(folder, name, 'bin', program)), program]
  for (const file of places) {
    if ((await tried(() => run(file, ['--version']))) === null) continue
    const packages = join(cache, `py${version.replace('.', '')}`)
    const pip = ['-m', 'pip', 'install', '-q', '--disable-pip-version-check', '--target', packages]
    const isThere = existsSync(join(packages, 'requests')) && existsSync(join(packages, 'httpx'))
    const install = () =>
      run(file, [...pip, 'requests', 'httpx', '--upgrade'], { timeout: INSTALL_LIMIT_MS })
    if (!isThere && (await tried(install)) === null) continue
    return { file, packages }
  }
  return null
}

/** The test upstream has no package of theirs: what counts is that they have asked for it. */
const MAY_FAIL: ReadonlySet<string> = new Set(['pip', 'npm', 'Go'])
/** Java has no variable for a key: the program presents it when the proxy asks. */
const JAVA = `import java.net.*; import java.net.http.*;
public class Call {
  public static void main(String[] args) throws Exception {
    var key = new Authenticator() {
      protected PasswordAuthentication getPasswordAuthentication() {
        return new PasswordAuthentication("agent", args[1].toCharArray());
      }
    };
    var client = HttpClient.newBuilder().proxy(ProxySelector.getDefault()).authenticator(key).build();
    var answer = client.send(HttpRequest.newBuilder(URI.create(args[0])).build(), HttpResponse.BodyHandlers.ofString());
    if (answer.statusCode() != 200) throw new Exception(String.valueOf(answer.statusCode()));
  }
}
`

const words = process.argv.slice(2)
const node24 = await findNode()
const pythons = await Promise.all(
  PYTHONS.map(async (version) => [version, await findPython(version)] as const),
)
const gh = [join(cache, 'gh', 'usr', 'bin', 'gh'), '/usr/bin/gh'].find((file) => existsSync(file))
const stack = await startAll({})
const defaults = await serveDefaultHosts()
const failed: string[] = []
try {
  const { operator, api, origin } = stack
  const to = origin('plain')
  const git = origin('git')
  const { agent } = await operator.makeAccess(to)
  const { integration_id } = await operator.makeIntegration(git)
  await operator.makeScope(agent.agent_id, integration_id)
  const more = [origin('mcp'), ...DEFAULT_HOSTS.map((name) => `https://${name}`)]
  for (const base_url of more) {
    const made = await operator.makeIntegration(base_url)
    await operator.makeScope(agent.agent_id, made.integration_id)
  }
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
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GH_TOKEN: 'none',
    // What wget and Java need in place of variables.
    WGETRC: join(folder, 'wgetrc'),
    GOFLAGS: '-mod=mod',
    GONOSUMDB: '*',
    GONOSUMCHECK: '1',
    GOPROXY: `${to}/go`,
    GOTOOLCHAIN: 'local',
    ...forwardVariables({ proxy_url, ca_file: ca_file ?? '', bundle_file: bundle_file ?? '' }, {}),
  }
  writeFileSync(env.WGETRC, `ca_certificate = ${bundle_file}\n`)
  const trust = join(folder, 'trust.p12')
  const keytool = ['-importcert', '-noprompt', '-storetype', 'PKCS12', '-storepass', 'changeit']
  await tried(() =>
    run('keytool', [...keytool, '-alias', 'agw', '-keystore', trust, '-file', ca_file ?? '']),
  )
  writeFileSync(join(folder, 'Call.java'), JAVA)
  const java = [
    '-Djdk.http.auth.tunneling.disabledSchemes=',
    '-Dhttps.proxyHost=127.0.0.1',
    `-Dhttps.proxyPort=${stack.forwardPort}`,
    `-Djavax.net.ssl.trustStore=${trust}`,
    '-Djavax.net.ssl.trustStorePassword=changeit',
  ]
  const python = (version: string, code: string): readonly string[] => {
    const found = pythons.find(([name]) => name === version)?.[1]
    if (found === null || found === undefined) return ['/no/such/python']
    const { file, packages } = found
    return [file, '-c', `import sys; sys.path.insert(0, '${packages}')\n${code}`]
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
    wget: ['wget', '-q', '-O', '-', `${to}/wget`],
    'git clone': ['git', 'clone', '-q', `${git}/demo.git`, join(folder, 'demo')],
    'git push': [
      'git',
      '-C',
      join(folder, 'demo'),
      'push',
      '-q',
      'origin',
      'HEAD:refs/heads/pushed',
    ],
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
    ...Object.fromEntries(
      PYTHONS.flatMap((version) => [
        [
          `Python ${version} urllib`,
          python(version, `import urllib.request as u; u.urlopen('${to}/urllib').read()`),
        ],
        [
          `Python ${version} requests`,
          python(version, `import requests; requests.get('${to}/r').raise_for_status()`),
        ],
        [
          `Python ${version} httpx`,
          python(version, `import httpx; httpx.get('${to}/httpx').raise_for_status()`),
        ],
      ]),
    ),
    Go: ['go', 'mod', 'download', 'example.com/demo@v1.0.0'],
    Java: ['java', ...java, join(folder, 'Call.java'), `${to}/java`, agent.api_key],
    Ruby: ['ruby', '-rnet/http', '-e', `Net::HTTP.get(URI('${to}/ruby'))`],
    undici: node(`await fetch('${to}/undici')`),
    'Node.js 24 fetch': [
      node24 ?? '/no/such/node',
      '--input-type=module',
      '-e',
      `await fetch('${to}/f24')`,
    ],
    'Node.js 24 https': [
      node24 ?? '/no/such/node',
      '--input-type=module',
      '-e',
      `import { get } from 'node:https'
       get('${to}/h24', (answer) => answer.resume()).on('error', (error) => { throw error })`,
    ],
    'MCP client': node(`import { Client } from '@modelcontextprotocol/sdk/client/index.js'
      import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
      const client = new Client({ name: 'agent', version: '1.0.0' })
      const transport = new StreamableHTTPClientTransport(new URL('${origin('mcp')}/mcp'), { fetch })
      await client.connect(transport)
      const { tools } = await client.listTools()
      if (tools.length === 0) throw new Error('no tools')
      await client.callTool({ name: 'add', arguments: { a: 2, b: 40 } })
      await transport.terminateSession()
      await client.close()`),
    ...(defaults === null
      ? {}
      : {
          'OpenAI SDK': node(`import OpenAI from 'openai'
      await new OpenAI({ apiKey: 'none', fetch, maxRetries: 0 }).models.list()`),
          Octokit: node(`import { Octokit } from '@octokit/rest'
      await new Octokit({ auth: 'none', request: { fetch } }).rest.repos.get({ owner: 'a', repo: 'b' })`),
          Stripe: node(`import Stripe from 'stripe'
      const httpClient = Stripe.createFetchHttpClient(fetch)
      await new Stripe('sk_test_none', { httpClient, maxNetworkRetries: 0 }).customers.list()`),
          'OpenAI, Node.js 24': [
            node24 ?? '/no/such/node',
            '--input-type=module',
            '-e',
            `import OpenAI from 'openai'
      await new OpenAI({ apiKey: 'none', maxRetries: 0 }).models.list()`,
          ],
          gh: [gh ?? '/no/such/gh', 'api', 'repos/a/b'],
        }),
    'Node.js fetch': [process.execPath, '--input-type=module', '-e', `await fetch('${to}/fetch')`],
  }
  if (defaults === null) say('default hosts', 'left out: port 443 cannot be opened')
  for (const [name, [program = '', ...args]] of Object.entries(clients)) {
    if (words.length > 0 && !words.includes(name)) continue
    const sent = api.mark()
    const sentToDefaults = defaults?.mark() ?? (() => [])
    const problem = await run(program, args, {
      env,
      cwd: name === 'Go' ? folder : fromRoot(),
      timeout: LIMIT_MS,
    }).then(
      () => '',
      (error: { code?: unknown; stderr?: string; message: string }) =>
        error.code === 'ENOENT' ? null : (error.stderr ?? error.message),
    )
    const credentials = [...sent().map((one) => one.header('authorization')), ...sentToDefaults()]
    const isOurs = credentials.every((one) => one === `Bearer ${STORED_CREDENTIAL}`)
    const hasPassed = credentials.length > 0 && isOurs && (problem === '' || MAY_FAIL.has(name))
    const major = Number(process.versions.node.split('.')[0])
    if (problem === null) say(name, 'not on this machine')
    // Node.js before 24 does not read the variables, which the guide says.
    else if (name === 'Node.js fetch' && major < 24 && credentials.length === 0)
      say(name, `not proxied (Node.js ${process.versions.node})`)
    else if (hasPassed) say(name, `passed (${credentials.length} calls)`)
    else {
      failed.push(name)
      say(name, `FAILED: ${problem.trim().slice(-300)}`)
    }
  }
} finally {
  defaults?.stop()
  await stopAll(stack)
}
process.exitCode = failed.length === 0 ? 0 : 1

function say(name: string, outcome: string): void {
  process.stdout.write(`${name.padEnd(22)} ${outcome}\n`)
}

/** The APIs of the SDKs, on port 443; null if this user may not open it. */
async function serveDefaultHosts() {
  const { cert_file, key_file } = await issueCertificate(stack.api.certificates, DEFAULT_HOSTS)
  const server = createServer(
    { cert: readFileSync(cert_file), key: readFileSync(key_file) },
    (request, response) => {
      seen.push(request.headers.authorization ?? '')
      request.resume()
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end('{"object":"list","data":[],"has_more":false,"url":"/v1/x"}')
    },
  )
  const seen: string[] = []
  const isOpen = await new Promise<boolean>((resolve) => {
    server.once('error', () => resolve(false))
    server.listen(443, DEFAULT_ADDRESS, () => resolve(true))
  })
  if (!isOpen) return null
  for (const name of DEFAULT_HOSTS) stack.dns.set(name, [DEFAULT_ADDRESS])
  return {
    mark: () => {
      const from = seen.length
      return () => seen.slice(from)
    },
    stop: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}
