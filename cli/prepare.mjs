// Makes a checkout runnable: the right Node, the packages of the lockfile, and a build of the present sources. To run the
// gateway needs neither the compiler nor the packages of the tests: `node cli/prepare.mjs`, as `npm start` does. Tests, checks
// and benches need them: `node cli/prepare.mjs build`. Plain JavaScript without packages, since it runs before any is installed.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import {
  bundleConsole,
  bundlePrograms,
  endBundler,
  NATIVE,
  writeBootstrapData,
  writeWordSieve,
} from './bundle-programs.mjs'
import { installPackages } from './install-packages.mjs'
import { writeThirdParty } from './third-party.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const PROGRAM_SOURCES = ['core', 'ext-proc', 'admin', 'envoy', 'cli']
const SOURCES = [...PROGRAM_SOURCES, 'bench', 'test']
const PROJECTS = ['.', join('admin', 'console')]
const OUTPUT = /\.(?:js|js\.map|d\.ts)$/
const NEEDED_NODE = [20, 19]
/** What the programs, and what all that the compiler writes was built from. */
const PROGRAM_STAMP = join(root, 'dist', '.programs-built-from')
const STAMP = join(root, 'dist', '.built-from')

/**
 * Does what is missing and says so; costs some tens of milliseconds when nothing is. Ends the process on failure.
 * @param all also what tests, checks and benches need
 * @param options.needsNative whether the command may load a package that is compiled; a checkout has it for its build anyway
 */
export async function prepare(all = false, { needsNative = true } = {}) {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  if (major < NEEDED_NODE[0] || (major === NEEDED_NODE[0] && minor < NEEDED_NODE[1]))
    fail(`Node.js ${NEEDED_NODE.join('.')} or newer is required; this is ${process.versions.node}.`)

  // A package that npm has installed has the programs, and no sources to build them from.
  const isPackage = !existsSync(join(root, 'tsconfig.json'))
  if (isPackage && !needsNative) return
  await installPackages(root, say, { isPackage, all }).catch((error) => fail(error.message))
  if (isPackage || isBuilt(all)) return
  await takeLock()
  process.once('exit', releaseLock)
  // The build that was waited for may have been of the same sources.
  if (!isBuilt(all)) await build(all)
  process.removeListener('exit', releaseLock)
  releaseLock()
}

const isBuilt = (all) => (all ? isOf(STAMP, SOURCES) : isOf(PROGRAM_STAMP, PROGRAM_SOURCES))
const isOf = (stamp, folders) =>
  existsSync(stamp) && readFileSync(stamp, 'utf8') === hashSources(folders)

async function build(all) {
  say('Building …')
  // What changes during the build is not in it.
  const [programs, sources] = [hashSources(PROGRAM_SOURCES), hashSources(SOURCES)]
  // An interrupted build must not pass for that of the sources before it.
  for (const stamp of [PROGRAM_STAMP, STAMP]) rmSync(stamp, { force: true })
  if (all) compile()
  const steps = [
    bundlePrograms(root),
    bundleConsole(root),
    writeBootstrapData(root),
    writeWordSieve(root),
  ]
  await Promise.all(steps)
    .then(([programs, console]) => writeThirdParty(root, [programs, console], NATIVE))
    .catch((error) => fail(`The build failed: ${error.message}`))
  await endBundler()
  writeFileSync(PROGRAM_STAMP, programs)
  if (all) writeFileSync(STAMP, sources)
}

/** Checks the types. The pages run in a browser, so they are checked against other types than the rest. */
function compile() {
  for (const project of PROJECTS)
    run(
      process.execPath,
      [join('node_modules', 'typescript', 'bin', 'tsc'), '-p', project],
      'The build failed',
    )
  removeOrphans()
}

/** A link to the number of the process that builds: it is made with its content in one step. */
const lock = join(root, 'dist', '.building')
const LOCK_LOOK_MS = 100
/** Longer than a build takes on a busy machine. The number of one that was killed may belong to another process by now. */
const LOCK_LIMIT_MS = 600_000

/** Two builds at once would remove each other's files. One that was killed leaves its lock, which counts no more. */
async function takeLock() {
  mkdirSync(dirname(lock), { recursive: true })
  const end_ms = performance.now() + LOCK_LIMIT_MS
  for (let told = ''; !succeeds(() => symlinkSync(String(process.pid), lock), 'EEXIST'); ) {
    let pid = told
    if (!succeeds(() => (pid = readlinkSync(lock)), 'ENOENT')) continue
    if (!succeeds(() => process.kill(Number(pid), 0), 'ESRCH')) releaseLock()
    else if (performance.now() > end_ms)
      fail(`Process ${pid} is still building. End it, or remove ${lock} if it is no build.`)
    else if (pid !== told) say(`Waiting for the build of process ${pid} …`)
    told = pid
    await wait(LOCK_LOOK_MS)
  }
}

const releaseLock = () => rmSync(lock, { force: true })

/** Whether it ends without this error. */
function succeeds(work, code) {
  try {
    work()
    return true
  } catch (error) {
    if (error.code !== code) fail(`The build cannot be locked with ${lock}: ${error.message}`)
    return false
  }
}

function hashSources(folders) {
  const hash = createHash('sha256')
  for (const file of [
    'package-lock.json',
    'package.json',
    join('cli', 'bundle-programs.mjs'),
    join('cli', 'third-party.mjs'),
    join('envoy', 'bootstrap.yaml'),
    ...PROJECTS.map(configOf),
    ...folders.flatMap(filesBelow),
  ])
    hash
      .update(file)
      .update('\0')
      .update(readFileSync(join(root, file)))
      .update('\0')
  return hash.digest('hex')
}

const configOf = (project) => join(project, 'tsconfig.json')

function filesBelow(folder) {
  if (!existsSync(join(root, folder))) return []
  return readdirSync(join(root, folder), { recursive: true })
    .filter((name) => /\.(?:tsx?|css|html|svg)$/.test(name))
    .sort((a, b) => (a < b ? -1 : 1))
    .map((name) => join(folder, name))
}

/** The compiler leaves the output of sources that are gone: the test runner would still run it, and the pages' types find it. */
function removeOrphans() {
  for (const folder of SOURCES) {
    const built = join(root, 'dist', folder)
    if (!existsSync(built)) continue
    for (const name of readdirSync(built, { recursive: true })) {
      const source = join(root, folder, name.replace(OUTPUT, '.ts'))
      const isOrphan = !existsSync(source) && !existsSync(`${source}x`)
      if (OUTPUT.test(name) && isOrphan) rmSync(join(built, name))
    }
  }
}

function run(command, args, failure) {
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: ['ignore', 2, 2] })
  if (status !== 0) fail(`${failure}${error === undefined ? '.' : `: ${error.message}.`}`)
}

function say(line) {
  process.stderr.write(`${line}\n`)
}

function fail(message) {
  say(message)
  process.exit(1)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await prepare(process.argv[2] === 'build')
