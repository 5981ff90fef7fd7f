import { spawn } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { fromRoot } from '../../../core/system/root.ts'

const LIMIT_MS = 900_000
const AGENTS = fromRoot('test', 'witness', 'agents')
const PACKAGES = join(AGENTS, 'packages')
const AGENT_CACHE = join(process.env['AGW_CACHE_DIR'] ?? join(homedir(), '.cache', 'agw'), 'agents')
const NODE_FOLDER = join(AGENT_CACHE, 'node')
/** A copy, where Node.js finds the packages. */
export const AGENT_SCRIPTS = join(NODE_FOLDER, 'scripts')
/** The packages of each virtual environment of Python: frameworks do not agree on versions. */
const PYTHON: Readonly<Record<string, readonly string[]>> = JSON.parse(
  readFileSync(join(PACKAGES, 'python.json'), 'utf8'),
)

export const npmProgram = (name: string): string => join(NODE_FOLDER, 'node_modules', '.bin', name)
/** Agents need a newer Node.js than this repository. */
export const nodeFolder = (): string =>
  join(NODE_FOLDER, 'node_modules', `node-${process.platform}-${process.arch}`, 'bin')
export const pythonProgram = (environment: string): string =>
  join(AGENT_CACHE, 'python', environment, 'bin', 'python')

/** The pinned version of a package. @param environment of Python; null for npm */
export function versionOf(name: string, environment: string | null): string {
  if (environment === null)
    return JSON.parse(readFileSync(join(PACKAGES, 'package.json'), 'utf8')).dependencies[name]
  const pinned = PYTHON[environment]?.find((one) => one.split(/[[=]/)[0] === name)
  return pinned?.split('==')[1] ?? 'unknown'
}

/** Installs from npm and PyPI what is not there in the pinned versions. */
export async function installAgents(environments: readonly string[]): Promise<void> {
  const pinned = readFileSync(join(PACKAGES, 'package.json'), 'utf8')
  await once(join(NODE_FOLDER, 'ready'), pinned, async () => {
    mkdirSync(NODE_FOLDER, { recursive: true })
    writeFileSync(join(NODE_FOLDER, 'package.json'), pinned)
    const flags = ['--no-audit', '--no-fund', '--legacy-peer-deps', '--loglevel=error']
    await run('npm', ['install', ...flags], NODE_FOLDER)
  })
  cpSync(join(AGENTS, 'scripts'), AGENT_SCRIPTS, { recursive: true })
  for (const name of environments) {
    const packages = PYTHON[name]
    if (packages === undefined) throw new Error(`python.json has no environment ${name}`)
    const folder = join(AGENT_CACHE, 'python', name)
    await once(join(folder, 'ready'), packages.join('\n'), async () => {
      const at = join(AGENT_CACHE, 'python')
      mkdirSync(at, { recursive: true })
      await run('python3', ['-m', 'venv', '--clear', folder], at)
      await run(pythonProgram(name), ['-m', 'pip', 'install', '-q', ...packages], at)
    })
  }
}

async function once(file: string, state: string, work: () => Promise<void>): Promise<void> {
  if (existsSync(file) && readFileSync(file, 'utf8') === state) return
  await work()
  writeFileSync(file, state)
}

function run(program: string, args: readonly string[], cwd: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd,
      stdio: ['ignore', 'ignore', 'inherit'],
      timeout: LIMIT_MS,
    })
    child.on('error', reject)
    child.on('close', (status) =>
      status === 0 ? resolve() : reject(new Error(`${program} ${args.join(' ')} failed`)),
    )
  })
}
