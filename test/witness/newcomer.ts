import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { chromium } from 'playwright-core'
import { fromRoot } from '../../core/system/root.ts'
import { startDnsServer } from '../kit/dns-server.ts'
import { STORED_CREDENTIAL } from '../kit/operator.ts'
import { pageHand } from '../kit/page-hand.ts'
import { tempFolder } from '../kit/temp-folder.ts'
import { startTestUpstream } from '../kit/test-upstream.ts'
import { until } from '../kit/until.ts'
import { PROMPT } from './agents/agent-rows.ts'
import { installAgents, nodeFolder, npmProgram } from './agents/install-agents.ts'
import { nothingArrived, playVendors } from './agents/play-vendors.ts'
import { LAST_WORDS, stepOf } from './agents/steps.ts'

/**
 * The clock of a newcomer: a fresh clone, `npm start`, and then from "ready" to the first allowed call of a real Claude Code or Codex, by
 * the console alone and by a terminal alone. Prints seconds, clicks or commands, and what was typed. The agent calls a model that is played
 * at its real name on the loopback network, so port 443 must be free, as must be 8080 to 8083, and this needs the right to open them.
 *
 *     node cli/prepare.mjs build && node dist/test/witness/newcomer.js [--pictures FOLDER] [codex]
 */
const LIMIT_MS = 120_000
const CLICKS_MAX = 8
const COMMANDS_MAX = 5
const START_LIMIT_MS = 900_000
const words = process.argv.slice(2)
const pictures = words.includes('--pictures') ? words[words.indexOf('--pictures') + 1] : undefined
const say = (line: string): void => void process.stdout.write(`${line}\n`)
const problems: string[] = []

interface Client {
  /** As its tab is called. */
  readonly name: string
  readonly template: string
  readonly api: string
  readonly program: string
  /** The pasted lines, with a first task and without a question to anybody. */
  readonly begun: (copied: string) => string
}

const TASK = JSON.stringify(PROMPT)
const CLIENTS: readonly Client[] = [
  {
    name: 'Claude Code',
    template: 'anthropic',
    api: 'Anthropic',
    program: 'claude',
    begun: (copied) => copied.replace(/^ *claude$/m, `claude -p ${TASK}`),
  },
  {
    name: 'Codex',
    template: 'openai',
    api: 'OpenAI',
    program: 'codex',
    begun: (copied) =>
      copied.replace(
        /^ *codex (.*)$/m,
        `codex exec --dangerously-bypass-approvals-and-sandbox --skip-git-repo-check -m gpt-5 $1 ${TASK}`,
      ),
  },
]

await installAgents([])
const [api, dns] = await Promise.all([startTestUpstream(), startDnsServer({})])
const home = tempFolder('home')
const clone = join(tempFolder('clone'), 'gateway')
const arrived = nothingArrived()
const session = { step_count: 0, stepAt: () => stepOf(0, home, '') }
const endVendors = await playVendors(
  { api, dns },
  () => session,
  () => arrived,
  () => Promise.resolve(),
)
const ENV = {
  PATH: `${process.env['PATH']}`,
  HOME: home,
  TERM: 'dumb',
  // What a machine keeps between clones.
  npm_config_cache: process.env['npm_config_cache'] ?? join(homedir(), '.npm'),
  AGW_CACHE_DIR: process.env['AGW_CACHE_DIR'] ?? join(homedir(), '.cache', 'agw'),
}
/** Where the played model is. */
const LOOPBACK = {
  AGW_EGRESS_ALLOW_CIDRS: '127.0.0.0/8',
  AGW_UPSTREAM_CA_FILE: api.certificates.ca_file,
  AGW_DNS_RESOLVERS: dns.address,
}
const running = new Set<ChildProcess>()
let code = 1
try {
  execFileSync('git', ['clone', '--quiet', fromRoot(), clone])
  // As this checkout has compiled it; a download or the compiler are not what is measured.
  cpSync(fromRoot('node_modules', 're2'), join(clone, 'node_modules', 're2'), { recursive: true })
  for (const client of CLIENTS)
    if (words.includes(client.program) || !CLIENTS.some(({ program }) => words.includes(program))) {
      await byConsole(client)
      await byTerminal(client)
    }
  code = problems.length === 0 ? 0 : 1
} finally {
  for (const child of running) child.kill('SIGINT')
  endVendors()
  await Promise.all([api.stop(), dns.stop()])
}
for (const problem of problems) say(`FAILED: ${problem}`)
process.exit(code)

interface Shell {
  readonly output: () => string
  readonly type: (line: string) => void
  readonly ended: Promise<number | null>
  readonly end: () => Promise<void>
}

/** A command at a terminal of its own, in the directory of the clone. */
function shell(command: string, env: Readonly<Record<string, string>> = {}): Shell {
  const child = spawn('script', ['-qec', command, '/dev/null'], {
    cwd: clone,
    env: { ...ENV, ...env, SHELL: '/bin/bash' },
  })
  running.add(child)
  let output = ''
  child.stdout.on('data', (part: Buffer) => (output += part.toString()))
  const ended = once(child, 'exit').then(([status]) => {
    running.delete(child)
    return status as number | null
  })
  return {
    output: () => output.replaceAll('\r', ''),
    type: (line) => void child.stdin.write(`${line}\n`),
    ended,
    end: async () => {
      // Ctrl-C
      child.stdin.write('\u0003')
      await ended
    },
  }
}

/** A gateway that has never been started, and when it has said that it is ready. */
async function start(): Promise<{ readonly gateway: Shell; readonly ready_ms: number }> {
  rmSync(join(clone, '.agw'), { recursive: true, force: true })
  const began_ms = Date.now()
  const gateway = shell('npm start', LOOPBACK)
  await until(
    'the gateway is ready',
    async () => gateway.output().includes('The gateway is ready.'),
    START_LIMIT_MS,
  ).catch((error: Error) => {
    throw new Error(`${error.message}\n${gateway.output()}`)
  })
  say(`ready ${seconds(began_ms)} s after npm start`)
  return { gateway, ready_ms: Date.now() }
}

function seconds(from_ms: number): string {
  return ((Date.now() - from_ms) / 1000).toFixed(1)
}

/** What was copied, as one pastes it; the program gets its first task at once. */
function paste(copied: string, { program, begun }: Client): Shell {
  return shell(begun(copied), {
    PATH: `${nodeFolder()}:${join(npmProgram(program), '..')}:${ENV.PATH}`,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  })
}

async function isAnswered(program: Shell, { name }: Client): Promise<void> {
  const status = await program.ended
  if (status !== 0 || !program.output().includes(LAST_WORDS))
    problems.push(`${name} ended with ${status}: ${program.output()}`)
}

function report(way: string, ready_ms: number, counts: string, typed: readonly string[]): void {
  say(`${way}: ${seconds(ready_ms)} s from ready to the first allowed call, ${counts}`)
  say(`  given by hand: ${typed.join(', ')}`)
  if (Date.now() - ready_ms > LIMIT_MS) problems.push(`${way} took more than two minutes`)
  if (arrived.turns.length === 0 || arrived.without_credential > 0)
    problems.push(`${way}: the model got no call with the stored credential`)
  arrived.turns.splice(0)
}

async function byConsole(client: Client): Promise<void> {
  const { gateway, ready_ms } = await start()
  const [, url = ''] = /operators use +(\S+)/.exec(gateway.output()) ?? []
  const [, token = ''] = /admin token +(\S+)/.exec(gateway.output()) ?? []
  const browser = await chromium.launch({
    executablePath: process.env['CHROMIUM_BIN'] ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu'],
  })
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } })
  const shot = async (name: string): Promise<void> => {
    if (pictures === undefined) return
    mkdirSync(pictures, { recursive: true })
    await page.screenshot({ path: join(pictures, `${client.program}-${name}.png`) })
  }
  const hand = pageHand(page, 'mouse')
  const typed: string[] = []
  const fill = async (label: string, text: string): Promise<void> => {
    typed.push(label)
    await hand.fill(page.getByLabel(label, { exact: true }), text)
  }
  await page.goto(url)
  await fill('Admin token', token)
  await shot('1-sign-in')
  await hand.press(page.getByRole('button', { name: 'Sign in' }))
  const add = page.getByRole('button', { name: `Add ${client.api}` })
  await add.waitFor()
  await shot('2-overview')
  await hand.press(add)
  await fill('API key', STORED_CREDENTIAL)
  await shot('3-add')
  await hand.press(page.getByRole('dialog').getByRole('button', { name: 'Add', exact: true }))
  const first = page.getByRole('region', { name: 'First call' })
  await first.getByText('Waiting for the first call').waitFor()
  await shot('4-first-call')
  const tab = first.getByRole('tab', { name: client.name })
  if ((await tab.getAttribute('aria-selected')) !== 'true') await hand.press(tab)
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await hand.press(first.getByRole('tabpanel').getByRole('button', { name: 'Copy' }))
  const program = paste(await page.evaluate<string>('navigator.clipboard.readText()'), client)
  await first.getByText('Received').waitFor({ timeout: LIMIT_MS })
  const clicks = hand.presses()
  report(`console, ${client.name}`, ready_ms, `${clicks} clicks and one paste`, typed)
  if (clicks > CLICKS_MAX) problems.push(`${clicks} clicks`)
  await isAnswered(program, client)
  await shot('5-received')
  await page.reload()
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  await page.getByRole('heading', { name: 'First steps' }).waitFor({ state: 'detached' })
  await shot('6-overview')
  await browser.close()
  await gateway.end()
}

async function byTerminal(client: Client): Promise<void> {
  const { gateway, ready_ms } = await start()
  const word = client.name.toLowerCase().replace(' ', '-')
  const variable = `${client.template.toUpperCase()}_API_KEY`
  const add = shell(`npx agw add ${client.template} --agent my-agent --client ${word} --wait`)
  for (const [question, answer] of [
    [`${variable}: `, STORED_CREDENTIAL],
    ['[y/N] ', 'y'],
  ] as const) {
    await until(question, async () => add.output().includes(question), LIMIT_MS)
    add.type(answer)
  }
  await until('it waits', async () => add.output().includes('Waiting for'), LIMIT_MS)
  const [, copied = ''] = /^Call as .*:\n\n([^]*?)\nWaiting/m.exec(add.output()) ?? []
  const program = paste(copied, client)
  const status = await add.ended
  const commands = 1 + copied.trim().split('\n').length
  report(`terminal, ${client.name}`, ready_ms, `${commands} commands`, [variable, 'y', 'my-agent'])
  if (status !== 0) problems.push(`agw add ended with ${status}`)
  if (commands > COMMANDS_MAX) problems.push(`${commands} commands`)
  await isAnswered(program, client)
  say(gateway.output().replaceAll(/^/gm, '  | '))
  say(add.output().replaceAll(/^/gm, '  | '))
  const quickstart = shell('npx agw quickstart')
  await quickstart.ended
  say(quickstart.output().replaceAll(/^/gm, '  | '))
  await gateway.end()
}
