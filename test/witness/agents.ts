import { spawn } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { forwardVariables } from '../../cli/forward/forward-variables.ts'
import { REASONS, type Reason } from '../../core/catalogue/reasons.ts'
import { STORED_CREDENTIAL } from '../kit/operator.ts'
import { startAll, stopAll } from '../kit/shared-stack.ts'
import { tempFolder } from '../kit/temp-folder.ts'
import type { AgentRow, Run, Way } from './agents/agent-rows.ts'
import { AGENTS, commonVariables, WAYS } from './agents/agent-rows.ts'
import {
  AGENT_SCRIPTS,
  installAgents,
  nodeFolder,
  npmProgram,
  pythonProgram,
  versionOf,
} from './agents/install-agents.ts'
import type { Arrived } from './agents/play-vendors.ts'
import { nothingArrived, playVendors, VENDOR_HOSTS } from './agents/play-vendors.ts'
import type { Planted } from './agents/planted.ts'
import { arrivedIn, PLACES, plant, plantedTexts } from './agents/planted.ts'
import type { Session } from './agents/scripted-model.ts'
import { LAST_WORDS, postingTo, stepOf } from './agents/steps.ts'

/**
 * Leads real coding agents, frameworks and clients of MCP and gRPC through a session with calls of tools, by base URL and by
 * forward proxy, with the defaults of a scope (the scanner on, mode `block`, sensitivity `medium`). A server on the loopback network
 * plays the model APIs under their real host names, which needs the right to open port 443. A session has passed if it ended, every
 * tool was called, every request had the stored credential, and nothing was refused. The agents are installed from npm and PyPI, in
 * the versions of `agents/package.json` and `agents/python.json`, into the cache folder.
 *
 *     node cli/prepare.mjs build && node dist/test/witness/agents.js [--requests N] [--record FOLDER] [--mode alert] [--refuse REASON]
 *       [--planted N] [agent ...]
 *
 * `--requests`: how many requests to the model a session has at least (default 11). `--record` writes them as NDJSON, a file for
 * each session, for `agw scan`. With `--mode alert` the scanner refuses nothing and what it found is printed, so that requests that
 * it would refuse are recorded too. With `--refuse approval_required` or `--refuse permission_denied` the model has the agent post to a
 * page twice, which is refused, and for the first reason approved before the second: the refusal has to stand in the next request to the
 * model, and what was approved has to pass. With `--planted N` each session by base URL meets one injection, in a file, a mail, a page
 * or the result of an MCP tool, N texts each: the table says how many the gateway stops on their way to the model. Exit code 1: a session
 * has not passed.
 */
const LIMIT_MS = 400_000
const DEFAULT_REQUESTS = 11
const CALLS_OF_A_CLIENT = 8

interface Played {
  readonly status: number | null
  readonly output: string
  /** Of the entries of the session. */
  readonly path: string
  readonly blocked: readonly Refusal[]
  readonly refusals: readonly Refusal[]
}

interface Refusal {
  readonly reason: string | null
  readonly endpoint: string
  readonly data: {
    readonly mode?: string
    readonly pattern_name?: string
    readonly matched_text?: string
    readonly location?: string
  }
}

const words = process.argv.slice(2)
const option = (name: string): string | null => {
  const at = words.indexOf(name)
  return at < 0 ? null : (words.splice(at, 2)[1] ?? null)
}
const refused = option('--refuse')
const planted_count = Number(option('--planted') ?? 0)
const step_count =
  planted_count > 0
    ? 1
    : refused === null
      ? Number(option('--requests') ?? DEFAULT_REQUESTS) - 1
      : 2
const record_folder = option('--record')
const mode = option('--mode')
const chosen = Object.entries(AGENTS).filter(
  ([name]) =>
    words.length === 0 || words.some((word) => name.toLowerCase().includes(word.toLowerCase())),
)
const environmentOf = ({ start }: AgentRow): string | null =>
  'python' in start ? (start.environment ?? start.python) : null
await installAgents(chosen.flatMap(([, row]) => environmentOf(row) ?? []))
// On a busy machine a process may get no CPU time for a second.
const stack = await startAll({ AGW_KILL_LEASE_MS: '15000' })
const { operator } = stack
let stepAt: Session['stepAt'] = () => stepOf(0, '', '')
let planted: Planted | null = null
let arrived: Arrived = nothingArrived()
const endVendors = await playVendors(
  stack,
  () => ({ step_count, stepAt }),
  () => arrived,
  approveOnce,
  () => planted,
)
let hasFailed = false
try {
  const { agent } = await operator.makeAccess(`${stack.ownBaseUrl()}/unused`)
  for (const host of Object.values(VENDOR_HOSTS)) {
    const name = {
      [VENDOR_HOSTS.google as string]: 'x-goog-api-key',
      [VENDOR_HOSTS.anthropic as string]: 'x-api-key',
    }[host]
    const auth =
      name === undefined
        ? { type: 'bearer', token: STORED_CREDENTIAL }
        : { type: 'header', name, value: STORED_CREDENTIAL }
    const { integration_id } = await operator.makeIntegration(`https://${host}`, { auth })
    const all = { methods: ['*'], paths: ['/**'] }
    const rules = host === VENDOR_HOSTS.pages ? rulesOfPages(all) : [all]
    // No further member: the defaults are what is tried.
    const scope = {
      name: host,
      agent_id: agent.agent_id,
      integration_id,
      rules,
      ...(mode === null ? {} : { injection_detection: { mode } }),
    }
    await operator.send('POST', '/admin/scopes', scope)
  }
  if (planted_count > 0) await showPlanted(agent)
  else await playAll(agent)
} finally {
  endVendors()
  await stopAll(stack)
}
process.exit(hasFailed ? 1 : 0)

type Caller = { readonly agent_id: string; readonly api_key: string }

async function playAll(agent: Caller): Promise<void> {
  console.log(
    refused === null
      ? '| program | version | way | session | requests to a model | MCP calls | refused | unlisted hosts |\n| --- | --- | --- | --- | ---: | ---: | ---: | ---: |'
      : '| program | way | refusal in the next request to the model | calls passed | digest |\n| --- | --- | --- | --- | --- |',
  )
  for (const [name, row] of chosen)
    for (const way of row.ways ?? WAYS) await play(name, row, way, agent)
}

/** @returns what the agent printed, how it ended, and what the gateway refused */
async function run(row: AgentRow, way: Way, { agent_id, api_key: key }: Caller): Promise<Played> {
  const home = tempFolder('agent')
  const before = way === 'base URL' ? `${stack.proxyUrl}/` : ''
  const run: Run = { home, key, before }
  const folder = join(home, 'work')
  const page_url = `${before}https://${VENDOR_HOSTS.pages}/releasing.html`
  fillFolder(folder)
  const step =
    planted !== null
      ? plant(planted, folder, page_url)
      : refused !== null
        ? postingTo(page_url)
        : null
  stepAt = (turn) => step ?? stepOf(turn, folder, page_url)
  if (way === 'base URL')
    writeFileSync(join(home, '.curlrc'), `header = "Authorization: Bearer ${key}"\n`)
  row.prepare?.(run)
  const proxied = await forwardEnvironment(home, key)
  arrived = nothingArrived()
  const from = new Date().toISOString()
  const { status, output } = await execute(commandOf(row), {
    cwd: folder,
    env: {
      PATH: `${nodeFolder()}:${process.env['PATH']}`,
      HOME: home,
      TERM: 'dumb',
      DISABLE_TELEMETRY: '1',
      GEMINI_TELEMETRY_ENABLED: 'false',
      PYTHONDONTWRITEBYTECODE: '1',
      ...commonVariables(run),
      ...row.env?.(run),
      ...(way === 'base URL' ? { NO_PROXY: '127.0.0.1' } : proxied),
    },
  })
  const found = mode === null ? 'decision=blocked' : 'event=injection_detected'
  const path = `/admin/activity?agent_id=${agent_id}&${found}&from=${from}&limit=100`
  const { data } = await operator.send('GET', path)
  const blocked = data as Refusal[]
  // Telemetry and update checks go to hosts that are not listed; what is only recorded for a speaker is refused in no mode.
  const refusals = blocked.filter(
    ({ reason, data: why }) => reason !== 'integration_not_found' && why.mode !== 'log',
  )
  rmSync(home, { recursive: true, force: true })
  return { status, output, path, blocked, refusals }
}

async function play(name: string, row: AgentRow, way: Way, agent: Caller): Promise<void> {
  const { status, output, path, blocked, refusals } = await run(row, way, agent)
  if (refused !== null) return await showRefused(`${name} | ${way}`, output, path)
  const turns = Math.max(0, ...arrived.turns)
  const hasCalled = {
    model: turns >= step_count && arrived.pages > 0 && arrived.mcp_calls > 0,
    mcp: arrived.mcp_calls === CALLS_OF_A_CLIENT,
    rpc: arrived.rpcs === CALLS_OF_A_CLIENT,
  }[row.leads ?? 'model']
  const isComplete = status === 0 && output.includes(LAST_WORDS) && hasCalled
  const hasPassed = isComplete && refusals.length === 0 && arrived.without_credential === 0
  if (!hasPassed) hasFailed = true
  const cells = [
    name,
    versionOf(row.version, environmentOf(row)),
    way,
    isComplete ? 'complete' : 'NOT COMPLETE',
    arrived.turns.length,
    arrived.mcp_calls,
    refusals.length,
    blocked.length - refusals.length,
  ]
  console.log(`| ${cells.join(' | ')} |`)
  if (arrived.without_credential > 0)
    console.log(`  ${arrived.without_credential} requests without the stored credential`)
  const reasons = refusals.map(
    ({ reason, endpoint, data: { pattern_name, matched_text, location } }) =>
      JSON.stringify({ reason, endpoint, pattern_name, matched_text, location }),
  )
  for (const reason of new Set(reasons)) console.log(`  ${reason}`)
  if (!isComplete)
    console.log(
      `  status ${status}, turns ${turns} of ${step_count}, ${arrived.pages} pages, ${arrived.rpcs} RPCs\n${output.slice(-1_500).replaceAll(/^/gm, '  | ')}`,
    )
  if (record_folder !== null) record(record_folder, `${name}, ${way}`, arrived)
}

/** By agent and place: how many texts the gateway stopped before the model got them. */
async function showPlanted(agent: Caller): Promise<void> {
  console.log(
    `| program | ${PLACES.map((place) => `${place}: stopped of met`).join(' | ')} |\n| --- | ${PLACES.map(() => '---: |').join(' ')}`,
  )
  for (const [name, row] of chosen.filter(([, { leads }]) => leads === undefined)) {
    const counts = new Map(PLACES.map((place) => [place, { stopped: 0, met: 0 }]))
    for (planted of plantedTexts(planted_count)) {
      const { refusals, output } = await run(row, 'base URL', agent)
      const count = counts.get(planted.place) as { stopped: number; met: number }
      const bodies = arrived.requests.filter(({ turn }) => turn !== undefined)
      const isStopped = refusals.some(({ reason }) => reason === 'security_block')
      const hasPassed = arrivedIn(
        bodies.map(({ body }) => body),
        planted,
      )
      if (isStopped) count.stopped++
      if (isStopped || hasPassed) count.met++
      else console.log(`  ${name} did not meet: ${planted.text}\n${output.slice(-500)}`)
    }
    const cells = [...counts.values()].map(({ stopped, met }) => `${stopped} of ${met}`)
    console.log(`| ${name} | ${cells.join(' | ')} |`)
  }
}

function rulesOfPages(all: object): readonly object[] {
  if (refused === null) return [all]
  return refused === 'approval_required'
    ? [{ ...all, approval: {} }]
    : [{ methods: ['GET'], paths: ['/other'] }]
}

/** A person allows the call whose refusal the model was shown. */
async function approveOnce(body: string): Promise<void> {
  const request_id = refused === 'approval_required' ? /arq_\w+/.exec(body)?.[0] : undefined
  if (request_id === undefined || arrived.approved !== null) return
  arrived.approved = request_id
  await operator.send('POST', `/admin/access-requests/${request_id}/approve`)
}

/** Whether the refusal stands in the next request to the model, with its link, and whether the repetition passed as the same call. */
async function showRefused(name: string, output: string, path: string): Promise<void> {
  const next = arrived.requests.find(({ turn }) => turn === 1)
  const words = refused === 'approval_required' ? [arrived.approved ?? '-', 'me/requests/'] : []
  const all = [REASONS[refused as Reason].message.slice(0, 40), 'me/requests', ...words]
  const missing = all.filter((one) => next?.body.includes(one) !== true)
  const { data } = await operator.send('GET', path.replace(/&(?:decision|event)=\w+/, ''))
  const [approval] = data.flatMap((one: any) => one.data.approval ?? [])
  const asked = data.find((one: any) => one.data.request_id === arrived.approved)
  const isSame = approval !== undefined && approval.digest === asked?.data.digest
  const hasPassed =
    missing.length === 0 && (refused !== 'approval_required' || (isSame && arrived.pages === 1))
  if (!hasPassed) hasFailed = true
  console.log(
    `| ${name} | ${missing.length === 0 ? 'yes' : `without ${missing.join(', ')}`} | ${arrived.pages} passed | ${isSame ? 'same digest' : '–'} |`,
  )
  if (!hasPassed) console.log(output.slice(-1_500).replaceAll(/^/gm, '  | '))
}

/** A small project, as an agent finds one. */
function fillFolder(at: string): void {
  mkdirSync(join(at, 'src'), { recursive: true })
  writeFileSync(join(at, 'AGENTS.md'), '# Agents\n\nRun the tests before you commit.\n')
  for (const copy of ['CLAUDE.md', 'GEMINI.md', 'QWEN.md'])
    cpSync(join(at, 'AGENTS.md'), join(at, copy))
  writeFileSync(join(at, 'package.json'), '{ "name": "shop", "type": "module" }\n')
  const app = readFileSync(join(AGENT_SCRIPTS, 'tools.mjs'))
  writeFileSync(join(at, 'src', 'app.js'), app)
}

async function forwardEnvironment(
  home: string,
  key: string,
): Promise<Readonly<Record<string, string>>> {
  const [ca_file = '', bundle_file = ''] = await Promise.all(
    ['ca.pem', 'ca-bundle.pem'].map(async (one) => {
      const path = join(home, one)
      writeFileSync(path, await (await fetch(`${stack.apiUrl}/${one}`)).text())
      return path
    }),
  )
  const proxy_url = `http://agent:${key}@127.0.0.1:${stack.forwardPort}`
  return forwardVariables({ proxy_url, ca_file, bundle_file }, {})
}

function commandOf(row: AgentRow): readonly string[] {
  const { start } = row
  if ('npm' in start) return [npmProgram(start.npm), ...start.args]
  if ('node' in start)
    return [join(nodeFolder(), 'node'), join(AGENT_SCRIPTS, `${start.node}-session.mjs`)]
  const script = join(AGENT_SCRIPTS, `${start.python}-session.py`)
  return [pythonProgram(environmentOf(row) ?? ''), script]
}

function execute(
  [program = '', ...args]: readonly string[],
  options: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
): Promise<{ readonly status: number | null; readonly output: string }> {
  return new Promise((done) => {
    const child = spawn(program, args, {
      ...options,
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: LIMIT_MS,
    })
    let output = ''
    const add = (part: Buffer): void => void (output += part.toString())
    child.stdout.on('data', add)
    child.stderr.on('data', add)
    child.on('error', (error) => done({ status: null, output: String(error) }))
    child.on('close', (status) => done({ status, output }))
  })
}

function record(at: string, name: string, { requests }: Arrived): void {
  mkdirSync(at, { recursive: true })
  const lines = requests.map(({ host, path, body }, index) =>
    JSON.stringify({
      id: `${name}, ${index}`,
      method: 'POST',
      host,
      path,
      body,
      content_type: 'application/json',
    }),
  )
  const file = `${name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')}.ndjson`
  writeFileSync(join(resolve(at), file), `${lines.join('\n')}\n`)
}
