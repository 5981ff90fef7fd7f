import { spawn } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { forwardVariables } from '../../cli/forward/forward-variables.ts'
import { fromRoot } from '../../core/root.ts'
import { issueCertificate } from '../kit/issue-certificate.ts'
import { STORED_CREDENTIAL } from '../kit/operator.ts'
import { startAll, stopAll } from '../kit/shared-stack.ts'
import { tempFolder } from '../kit/temp-folder.ts'
import { answerAsModel, LAST_WORDS, STEP_COUNT } from './scripted-model.ts'

/**
 * Leads real coding agents through a session of eight calls of tools, by base URL and by forward proxy, with the defaults of a
 * scope (the scanner on, mode `block`, sensitivity `medium`). A server on the loopback network plays the model APIs under their real
 * host names, which needs the right to open port 443. An agent has passed if the session ended and nothing was refused. The agents
 * are installed from npm, in the versions of `coding-agents/package.json`, into the cache folder.
 *
 *     node cli/prepare.mjs build && node dist/test/witness/coding-agents.js [--record FILE] [agent ...]
 *
 * `--record` appends the requests to the model as NDJSON, for `agw scan`. Exit code 1: an agent did not end its session.
 */
const LIMIT_MS = 120_000
const INSTALL_LIMIT_MS = 600_000
const ADDRESS = '127.0.0.45'
const HOSTS = {
  openai: 'api.openai.com',
  anthropic: 'api.anthropic.com',
  google: 'generativelanguage.googleapis.com',
} as const
const PROMPT = 'Work through the release checklist, step by step.'

interface Run {
  readonly home: string
  readonly key: string
  /** What stands before the origin of the API: empty by forward proxy. */
  readonly before: string
}

interface CodingAgent {
  readonly program: string
  readonly args: readonly string[]
  readonly env: (run: Run) => Readonly<Record<string, string>>
  readonly prepare?: (run: Run) => void
}

const AGENTS: Readonly<Record<string, CodingAgent>> = {
  'Codex CLI': {
    program: 'codex',
    args: ['exec', '--dangerously-bypass-approvals-and-sandbox', '--skip-git-repo-check', PROMPT],
    env: ({ key }) => ({ OPENAI_API_KEY: key }),
    prepare: ({ home, before }) => {
      mkdirSync(join(home, '.codex'), { recursive: true })
      const provider = [
        'model = "gpt-5"',
        'model_provider = "gateway"',
        '[model_providers.gateway]',
        'name = "gateway"',
        `base_url = "${before}https://${HOSTS.openai}/v1"`,
        'wire_api = "responses"',
        'env_key = "OPENAI_API_KEY"',
      ]
      writeFileSync(join(home, '.codex', 'config.toml'), `${provider.join('\n')}\n`)
    },
  },
  'Claude Code': {
    program: 'claude',
    args: ['-p', PROMPT, '--allowedTools', 'Bash', 'Read', 'Write', 'Edit'],
    env: ({ key, before }) => ({
      ANTHROPIC_AUTH_TOKEN: key,
      ANTHROPIC_BASE_URL: `${before}https://${HOSTS.anthropic}`,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    }),
  },
  'Gemini CLI': {
    program: 'gemini',
    args: ['--skip-trust', '--yolo', '-m', 'gemini-2.5-flash', '-p', PROMPT],
    env: ({ key, before }) => ({
      GEMINI_API_KEY: key,
      GOOGLE_GEMINI_BASE_URL: `${before}https://${HOSTS.google}`,
    }),
    prepare: ({ home }) => {
      mkdirSync(join(home, '.gemini'), { recursive: true })
      const settings = { security: { auth: { selectedType: 'gemini-api-key' } } }
      writeFileSync(join(home, '.gemini', 'settings.json'), JSON.stringify(settings))
    },
  },
  'Qwen Code': {
    program: 'qwen',
    args: ['--auth-type', 'openai', '--yolo', '-p', PROMPT],
    env: ({ key, before }) => ({
      OPENAI_API_KEY: key,
      OPENAI_BASE_URL: `${before}https://${HOSTS.openai}/v1`,
      OPENAI_MODEL: 'gpt-5',
    }),
  },
}

const [flag, file, ...rest] = process.argv.slice(2)
const recordFile = flag === '--record' ? (file ?? null) : null
const wanted = recordFile === null ? process.argv.slice(2) : rest
const installed = await install()
const stack = await startAll({})
const { operator } = stack
let folder = ''
let asked: { turn: number; hasCredential: boolean }[] = []
const model = await playModels()
let hasFailed = false
try {
  const { agent } = await operator.makeAccess(`${stack.ownBaseUrl()}/unused`)
  for (const host of Object.values(HOSTS)) {
    const auth =
      host === HOSTS.google
        ? { type: 'header', name: 'x-goog-api-key', value: STORED_CREDENTIAL }
        : { type: 'bearer', token: STORED_CREDENTIAL }
    const { integration_id } = await operator.makeIntegration(`https://${host}`, { auth })
    const rules = [{ methods: ['*'], paths: ['/**'] }]
    // No further member: the defaults are what is tried.
    const scope = { name: host, agent_id: agent.agent_id, integration_id, rules }
    await operator.send('POST', '/admin/scopes', scope)
  }
  console.log(`scope: defaults; ${STEP_COUNT} calls of tools a session`)
  for (const [name, one] of Object.entries(AGENTS))
    for (const way of ['base URL', 'forward proxy'] as const)
      if (
        wanted.length === 0 ||
        wanted.some((word) => name.toLowerCase().includes(word.toLowerCase()))
      )
        await play(name, one, way, agent.api_key, agent.agent_id)
} finally {
  model.close()
  await stopAll(stack)
}
process.exit(hasFailed ? 1 : 0)

async function play(
  name: string,
  { program, args, env, prepare }: CodingAgent,
  way: 'base URL' | 'forward proxy',
  key: string,
  agent_id: string,
): Promise<void> {
  const home = tempFolder('coding-agent')
  folder = join(home, 'work')
  mkdirSync(folder)
  writeFileSync(join(folder, 'AGENTS.md'), '# Agents\n\nRun the tests before you commit.\n')
  for (const copy of ['CLAUDE.md', 'GEMINI.md', 'QWEN.md'])
    cpSync(join(folder, 'AGENTS.md'), join(folder, copy))
  const run = { home, key, before: way === 'base URL' ? `${stack.proxyUrl}/` : '' }
  prepare?.(run)
  const [ca_file, bundle_file] = await Promise.all(
    ['ca.pem', 'ca-bundle.pem'].map(async (one) => {
      const path = join(home, one)
      writeFileSync(path, await (await fetch(`${stack.apiUrl}/${one}`)).text())
      return path
    }),
  )
  const proxy_url = `http://agent:${key}@127.0.0.1:${stack.forwardPort}`
  const proxied = forwardVariables(
    { proxy_url, ca_file: ca_file ?? '', bundle_file: bundle_file ?? '' },
    {},
  )
  asked = []
  const from = new Date().toISOString()
  const { status, output } = await execute(join(installed, 'node_modules', '.bin', program), args, {
    cwd: folder,
    env: {
      PATH: process.env['PATH'],
      HOME: home,
      TERM: 'dumb',
      DISABLE_TELEMETRY: '1',
      GEMINI_TELEMETRY_ENABLED: 'false',
      ...env(run),
      ...(way === 'base URL' ? { NO_PROXY: '127.0.0.1' } : proxied),
    },
  })
  const path = `/admin/activity?agent_id=${agent_id}&decision=blocked&from=${from}&limit=100`
  const { data } = await operator.send('GET', path)
  const refusals = (data as { reason: string; endpoint: string; data: object }[]).filter(
    // Telemetry and update checks of the agents go to hosts that are not listed.
    ({ reason }) => reason !== 'integration_not_found',
  )
  const turns = Math.max(0, ...asked.map(({ turn }) => turn))
  const isComplete = status === 0 && output.includes(LAST_WORDS) && turns === STEP_COUNT
  const hasKept = asked.every(({ hasCredential }) => hasCredential)
  if (!isComplete || refusals.length > 0 || !hasKept) hasFailed = true
  console.log(
    `${name}, ${way}: ${isComplete ? 'complete' : 'NOT COMPLETE'}, ${turns} of ${STEP_COUNT} tools, ${asked.length} requests to the model, ${refusals.length} refused${hasKept ? '' : ', WITHOUT THE STORED CREDENTIAL'}`,
  )
  for (const { reason, endpoint, data: why } of refusals.slice(0, 5))
    console.log(`  ${reason} ${endpoint} ${JSON.stringify(why).slice(0, 300)}`)
  if (!isComplete) console.log(output.slice(-1_500).replaceAll(/^/gm, '  | '))
}

function execute(
  program: string,
  args: readonly string[],
  options: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
): Promise<{ readonly status: number | null; readonly output: string }> {
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      ...options,
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: LIMIT_MS,
    })
    let output = ''
    const add = (part: Buffer): void => void (output += part.toString())
    child.stdout.on('data', add)
    child.stderr.on('data', add)
    child.on('error', (error) => resolve({ status: null, output: String(error) }))
    child.on('close', (status) => resolve({ status, output }))
  })
}

async function playModels(): Promise<Server> {
  const issued = await issueCertificate(stack.api.certificates, Object.values(HOSTS))
  const certificate = { cert: readFileSync(issued.cert_file), key: readFileSync(issued.key_file) }
  const server = createServer(certificate, (request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => void parts.push(part))
    request.on('end', () => {
      const body = Buffer.concat(parts).toString()
      const turn = answerAsModel(request, response, body, folder)
      if (turn === null) return
      const hasCredential = JSON.stringify(request.rawHeaders).includes(STORED_CREDENTIAL)
      asked.push({ turn: turn.turn, hasCredential })
      if (recordFile === null) return
      const line = {
        id: turn.path,
        method: 'POST',
        path: turn.path,
        body,
        content_type: 'application/json',
      }
      writeFileSync(recordFile, `${JSON.stringify(line)}\n`, { flag: 'a' })
    })
  })
  for (const host of Object.values(HOSTS)) stack.dns.set(host, [ADDRESS])
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(443, ADDRESS, resolve)
  })
  const { port } = server.address() as AddressInfo
  console.log(`model APIs at ${ADDRESS}:${port}`)
  return server
}

async function install(): Promise<string> {
  const at = join(process.env['AGW_CACHE_DIR'] ?? join(homedir(), '.cache', 'agw'), 'coding-agents')
  const pinned = readFileSync(fromRoot('test', 'witness', 'coding-agents', 'package.json'), 'utf8')
  const kept = join(at, 'package.json')
  if (
    existsSync(join(at, 'node_modules')) &&
    existsSync(kept) &&
    readFileSync(kept, 'utf8') === pinned
  )
    return at
  mkdirSync(at, { recursive: true })
  writeFileSync(kept, pinned)
  const made = await new Promise<number | null>((resolve) => {
    spawn('npm', ['install', '--no-audit', '--no-fund'], {
      cwd: at,
      stdio: 'inherit',
      timeout: INSTALL_LIMIT_MS,
    }).on('close', resolve)
  })
  if (made !== 0) throw new Error('the agents could not be installed from npm')
  return at
}
