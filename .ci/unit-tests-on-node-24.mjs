// Runs the unit tests on Node 24. The binary comes from npm, and `re2` is built for it in a folder of its own, since the
// one in node_modules is for the Node that runs everything else.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const NODE = '24.21.0'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
const RE2 = packages['node_modules/re2'].version
const binaryPackage = `node-${process.platform}-${process.arch}`

const cache = process.env.AGW_CACHE_DIR ?? join(homedir(), '.cache', 'agw')
const folder = join(cache, `node-${NODE}-re2-${RE2}`)
const nodeFolder = join(folder, 'node_modules', binaryPackage)
const node = join(nodeFolder, 'bin', 'node')
const isComplete = join(folder, 'complete')

if (!existsSync(isComplete)) install()
// Preloaded everywhere, also in worker threads, and in child processes that are given no environment.
const hook = fileURLToPath(new URL('./re2-of-node-24.mjs', import.meta.url))
const program = join(folder, 'node')
const environment = {
  NODE_OPTIONS: `--import=${hook}`,
  AGW_TEST_RE2: join(folder, 'node_modules', 're2', 're2.js'),
  AGW_TEST_NODE: program,
}
const exports = Object.entries(environment).map(([name, value]) => `export ${name}='${value}'`)
const lines = ['#!/bin/sh', ...exports, `exec '${node}' "$@"`, '']
writeFileSync(program, lines.join('\n'), { mode: 0o755 })
run(program, [join(root, 'dist', 'test', 'run.js'), '--unit'], {})

/** With a prebuilt re2 in seconds; where none can be downloaded it is compiled, which takes 200 s of CPU time. */
function install() {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const manifest = { name: 'node-24', private: true, allowScripts: { re2: true } }
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest))
  process.stdout.write(`Installing Node ${NODE} and a re2 for it …\n`)
  npm([`${binaryPackage}@${NODE}`], {})
  npm([`re2@${RE2}`], {
    PATH: `${join(nodeFolder, 'bin')}:${process.env.PATH}`,
    npm_config_nodedir: nodeFolder,
  })
  writeFileSync(isComplete, '')
}

function npm(packageNames, env) {
  const args = ['install', '--prefix', folder, '--no-audit', '--no-fund', ...packageNames]
  run('npm', args, env)
}

function run(command, args, env) {
  const { status, error } = spawnSync(command, args, {
    cwd: command === 'npm' ? folder : root,
    env: { ...process.env, ...env },
    stdio: 'inherit',
  })
  if (status === 0) return
  process.stderr.write(`${command} failed${error === undefined ? '' : `: ${error.message}`}.\n`)
  process.exit(1)
}
