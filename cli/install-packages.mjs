// Installs the packages of the lockfile and the one that is compiled, and says how far it is. Plain JavaScript without
// packages, since it runs before any is installed.
import { spawn } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

/** How often an unfinished installation says how far it is. */
const PROGRESS_MS = 10_000
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP']

/**
 * Does what is missing.
 * @param parts.isPackage whether npm has installed this as a package, with what it depends on
 * @param parts.all also the packages for tests, checks and benches
 * @param parts.execPath of Node, beside which its headers may be
 * @throws one sentence for the operator
 */
export async function installPackages(
  root,
  say,
  { progress_ms = PROGRESS_MS, execPath = process.execPath, isPackage = false, all = false } = {},
) {
  const wanted = isPackage ? [] : requiredPackages(root, all)
  if (!isInstalled(root, wanted)) {
    say('Installing packages …')
    const progress = () => {
      const present = wanted.filter(([path]) => existsSync(join(root, path, 'package.json')))
      say(`Installing packages … ${present.length} of ${wanted.length}`)
    }
    // Packages that are there are kept, above all re2 as it was compiled. Scripts of packages run below, one by one, so that the
    // message can say which of them failed.
    const args = [
      ...(existsSync(join(root, 'node_modules')) ? ['install', '--no-save'] : ['ci']),
      // Where somebody develops they stay.
      all || existsSync(join(root, 'node_modules', 'typescript')) ? '--include=dev' : '--omit=dev',
      '--ignore-scripts',
      '--no-audit',
      '--no-fund',
    ]
    const options = { cwd: root, stdio: ['ignore', 2, 2] }
    const { code } = await run('npm', args, options, { progress, progress_ms })
    if (code !== 0) throw new Error('The packages could not be installed.')
  }
  await buildRe2(root, say, { progress_ms, execPath })
}

/** re2 is compiled for one version of Node's binary interface, so a change of Node's major version makes it unusable. */
async function buildRe2(root, say, { progress_ms, execPath }) {
  const before = loadError(root)
  if (before === null) return
  say(
    before.code === 'ERR_DLOPEN_FAILED'
      ? `re2 was built for another version of Node.js than ${process.version}. Rebuilding it …`
      : 'Installing re2, or compiling it, which takes some minutes …',
  )
  const headers = headersOf(execPath, process.versions.node)
  const given = process.env.npm_config_nodedir ?? headers
  const env = {
    ...process.env,
    // Without symbols for a debugger, which are most of what a compiler writes.
    CXXFLAGS: `${process.env.CXXFLAGS ?? ''} -g0`.trimStart(),
    ...(given === null ? {} : { npm_config_nodedir: given }),
  }
  const began = performance.now()
  const progress = () => say(`Installing re2 … ${Math.round((performance.now() - began) / 1000)} s`)
  const options = { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] }
  const { code, output } = await run('npm', ['rebuild', 're2'], options, { progress, progress_ms })
  const after = loadError(root)
  if (after === null) return
  const log = join(root, 'node_modules', '.re2-build.log')
  writeFileSync(log, output)
  throw new Error(`${whyNot(code === 0 ? after.message : output, given)} The output is in ${log}.`)
}

/** One sentence with what to do, from what npm and node-gyp have printed. */
function whyNot(output, headers) {
  if (headers === null && /nodejs\.org|getaddrinfo|ECONNREFUSED|ETIMEDOUT|ENOTFOUND/.test(output))
    return `re2 could not be built: neither its binary nor the headers of Node.js ${process.version} could be downloaded. Install the headers (package libnode-dev or nodejs-dev, or Node.js from nodejs.org, which contains them), or set npm_config_nodedir to a directory with include/node.`
  if (/find Python|not find any Python/i.test(output))
    return 're2 could not be built: its binary could not be downloaded, and compiling it requires Python 3. Install Python 3, make and a C++ compiler.'
  if (
    /\bmake\b.*(ENOENT|not found)|not found: make|g\+\+|c\+\+: (not found|No such file)/i.test(
      output,
    )
  )
    return 're2 could not be built: its binary could not be downloaded, and compiling it requires make and a C++ compiler, such as the package build-essential.'
  return 're2 could not be built.'
}

/** Null if the package can be used, which only loading it shows. */
function loadError(root) {
  try {
    createRequire(join(root, 'package.json'))('re2')
    return null
  } catch (error) {
    return error
  }
}

/**
 * The directory for node-gyp (`nodedir`) when Node's headers are on this machine, next to the binary: nothing needs to be
 * downloaded then. Headers of another version would build a package that cannot be loaded.
 */
export function headersOf(execPath, version) {
  const prefix = dirname(dirname(execPath))
  try {
    const text = readFileSync(join(prefix, 'include', 'node', 'node_version.h'), 'utf8')
    const part = (name) => new RegExp(`#define NODE_${name}_VERSION (\\d+)`).exec(text)?.[1]
    return [part('MAJOR'), part('MINOR'), part('PATCH')].join('.') === version ? prefix : null
  } catch {
    return null
  }
}

/** Path and version of each package that this machine must have. */
const requiredPackages = (root, all) =>
  Object.entries(readPackages(join(root, 'package-lock.json'))).filter(
    ([path, { optional, dev }]) => path !== '' && optional !== true && (all || dev !== true),
  )

/** Whether node_modules holds what the lockfile says. npm keeps its own account of what it has installed there. */
function isInstalled(root, wanted) {
  const present = readPackages(join(root, 'node_modules', '.package-lock.json'))
  return wanted.every(([path, { version }]) => present[path]?.version === version)
}

function readPackages(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).packages ?? {}
  } catch {
    return {}
  }
}

/** Runs a command to its end; a signal to this process ends the command first. */
function run(command, args, options, { progress, progress_ms }) {
  return new Promise((resolve) => {
    const child = spawn(command, args, options)
    const timer = setInterval(() => progress(), progress_ms)
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', (text) => {
        output += text
      })
    const stop = (signal) => {
      child.kill(signal)
      process.exit(1)
    }
    const kill = () => child.kill()
    for (const signal of SIGNALS) process.on(signal, stop)
    process.once('exit', kill)
    const end = (code) => {
      clearInterval(timer)
      for (const signal of SIGNALS) process.removeListener(signal, stop)
      process.removeListener('exit', kill)
      resolve({ code, output })
    }
    child.once('error', (error) => {
      output += error.message
      end(1)
    })
    child.once('close', end)
  })
}
