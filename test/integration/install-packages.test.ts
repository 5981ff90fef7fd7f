import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { fromRoot } from '../../core/system/root.ts'
import { tempFolder } from '../kit/temp-folder.ts'

// Output and effects of the package installation, with an npm controlled by the test.

const MODULE = pathToFileURL(fromRoot('cli', 'install-packages.mjs')).href
const WORKS = 'module.exports = {}'
/** What Node says of a package that was compiled for another major version. */
const OTHER_NODE = `throw Object.assign(new Error('The module was compiled against a different Node.js version using\\nNODE_MODULE_VERSION 115.'), { code: 'ERR_DLOPEN_FAILED' })`

interface Checkout {
  readonly root: string
  readonly bin: string
}

/** A checkout that needs three packages; `re2` is the content of the installed one, null for none. */
function checkout(npm: string, re2: string | null): Checkout {
  const root = tempFolder('checkout')
  const bin = tempFolder('bin')
  const version = '1.0.0'
  const packages = { 'node_modules/a': { version }, 'node_modules/re2': { version } }
  writeFileSync(join(root, 'package.json'), '{}')
  writeFileSync(join(root, 'package-lock.json'), JSON.stringify({ packages }))
  writeFileSync(join(bin, 'npm'), `#!/bin/sh\n${npm}\n`)
  chmodSync(join(bin, 'npm'), 0o755)
  if (re2 === null) return { root, bin }
  for (const name of ['a', 're2']) mkdirSync(join(root, 'node_modules', name), { recursive: true })
  writeFileSync(join(root, 'node_modules', '.package-lock.json'), JSON.stringify({ packages }))
  writeFileSync(join(root, 'node_modules', 're2', 'index.js'), re2)
  return { root, bin }
}

interface Installed {
  readonly lines: readonly string[]
  readonly err: string
}

/** Installs in a process of its own, since npm is found by the PATH of the process. */
function install(
  { root, bin }: Checkout,
  node = join(root, 'no', 'node'),
  all = false,
): Promise<Installed> {
  const script = `import(${JSON.stringify(MODULE)})
    .then(({ installPackages }) => installPackages(${JSON.stringify(root)}, console.log, { execPath: ${JSON.stringify(node)}, all: ${all} }))
    .then(() => console.log('DONE'), (error) => console.log('FAILED: ' + error.message))`
  return new Promise((resolve) => {
    const options = { env: { PATH: `${bin}:${process.env['PATH']}` } }
    execFile(process.execPath, ['-e', script], options, (_error, out, err) =>
      resolve({ lines: out.trim().split('\n'), err }),
    )
  })
}

test('nothing is said and done when nothing is missing', async () => {
  const made = checkout('touch ran', WORKS)
  assert.deepEqual((await install(made)).lines, ['DONE'])
  assert.equal(existsSync(join(made.root, 'ran')), false)
})

test('re2 of another Node is rebuilt', async () => {
  const made = checkout(
    `[ "$*" = "rebuild re2" ] && echo '${WORKS}' > node_modules/re2/index.js`,
    OTHER_NODE,
  )
  const { lines, err } = await install(made)
  assert.match(
    lines[0] ?? '',
    /^re2 was built for another version of Node\.js than v[\d.]+\. Rebuilding it …$/,
  )
  assert.equal(lines.at(-1), 'DONE')
  assert.equal(err, '')
})

test('packages are installed without their scripts, and re2 afterwards, without symbols', async () => {
  const made = checkout(
    `echo "$*" >> calls
[ "$1" = rebuild ] && echo "$CXXFLAGS" >> calls
[ "$1" = ci ] && mkdir -p node_modules/a node_modules/re2
[ "$1" = rebuild ] && echo '${WORKS}' > node_modules/re2/index.js
exit 0`,
    null,
  )
  assert.equal((await install(made)).lines.at(-1), 'DONE')
  const calls = readFileSync(join(made.root, 'calls'), 'utf8').trim().split('\n')
  assert.equal(calls.length, 3)
  assert.match(calls[0] ?? '', /^ci --omit=dev --ignore-scripts/)
  assert.equal(calls[1], 'rebuild re2')
  assert.match(calls[2] ?? '', /-g0$/)
})

test('the packages for development are installed for those who need them, and what is there is kept', async () => {
  const made = checkout('echo "$*" >> calls', WORKS)
  const packages = {
    'node_modules/a': { version: '1.0.0' },
    'node_modules/re2': { version: '1.0.0' },
    'node_modules/typescript': { version: '1.0.0', dev: true },
  }
  writeFileSync(join(made.root, 'package-lock.json'), JSON.stringify({ packages }))
  await install(made)
  assert.equal(existsSync(join(made.root, 'calls')), false)
  await install(made, undefined, true)
  const called = readFileSync(join(made.root, 'calls'), 'utf8')
  assert.match(called, /^install --no-save --include=dev --ignore-scripts/)
  // A new version of a package must not remove the others.
  mkdirSync(join(made.root, 'node_modules', 'typescript'))
  const newer = { ...packages, 'node_modules/a': { version: '2.0.0' } }
  writeFileSync(join(made.root, 'package-lock.json'), JSON.stringify({ packages: newer }))
  await install(made)
  assert.equal(readFileSync(join(made.root, 'calls'), 'utf8'), called.repeat(2))
})

test('a long installation prints the number of packages, and a long build its duration', async () => {
  // The first waits until the count of one package was printed, the second for a line of the build.
  const made = checkout(
    `case "$1" in
ci) mkdir -p node_modules/a; echo {} > node_modules/a/package.json; while ! grep -q '1 of 2' out; do :; done; mkdir -p node_modules/re2;;
rebuild) while ! grep -q 'Installing re2 … 0 s' out; do :; done; echo '${WORKS}' > node_modules/re2/index.js;;
esac`,
    null,
  )
  const script = `import { appendFileSync } from 'node:fs'
    const { installPackages } = await import(${JSON.stringify(MODULE)})
    await installPackages(process.cwd(), (line) => appendFileSync('out', line + '\\n'), { progress_ms: 10 })`
  writeFileSync(join(made.root, 'out'), '')
  await new Promise<void>((resolve, reject) => {
    const options = { cwd: made.root, env: { PATH: `${made.bin}:${process.env['PATH']}` } }
    execFile(process.execPath, ['--input-type=module', '-e', script], options, (error) =>
      error === null ? resolve() : reject(error),
    )
  })
  assert.match(readFileSync(join(made.root, 'out'), 'utf8'), /Installing packages … 1 of 2\n/)
})

const FAILURES: readonly (readonly [what: string, output: string, message: RegExp])[] = [
  [
    'no headers of Node',
    'gyp ERR! stack FetchError: request to https://nodejs.org/download/release/v20/node-headers.tar.gz failed, reason: getaddrinfo ENOTFOUND nodejs.org',
    /neither its binary nor the headers of Node\.js v[\d.]+ could be downloaded.*npm_config_nodedir/,
  ],
  [
    'a proxy refuses',
    'gyp ERR! stack Error: connect ECONNREFUSED 10.0.0.1:443',
    /npm_config_nodedir to a directory with include\/node/,
  ],
  ['no Python', 'gyp ERR! find Python Python is not set', /requires Python 3/],
  ['no make', 'gyp ERR! stack Error: not found: make', /requires make and a C\+\+ compiler/],
  ['no compiler', 'make: g++: No such file or directory', /requires make and a C\+\+ compiler/],
  ['anything else', 'error: out of disk', /^FAILED: re2 could not be built\. The output is in /],
]

for (const [what, output, message] of FAILURES)
  test(`re2 that cannot be built is one sentence and no stack trace: ${what}`, async () => {
    const made = checkout(`cat <<'END'\n${output}\nEND\nexit 1`, OTHER_NODE)
    const { lines, err } = await install(made)
    const said = lines.filter((line) => line.startsWith('FAILED'))
    assert.equal(said.length, 1)
    assert.match(said[0] ?? '', message)
    assert.equal(err, '')
    assert.match(readFileSync(join(made.root, 'node_modules', '.re2-build.log'), 'utf8'), /\w/)
  })

/** A folder like that of Node.js from nodejs.org, with the headers next to the binary. */
function nodeWithHeaders(version: string): string {
  const prefix = tempFolder('node')
  const [major, minor, patch] = version.split('.')
  mkdirSync(join(prefix, 'include', 'node'), { recursive: true })
  writeFileSync(
    join(prefix, 'include', 'node', 'node_version.h'),
    `#define NODE_MAJOR_VERSION ${major}\n#define NODE_MINOR_VERSION ${minor}\n#define NODE_PATCH_VERSION ${patch}\n`,
  )
  return prefix
}

const BUILDS = `echo "nodedir=$npm_config_nodedir" > env; echo '${WORKS}' > node_modules/re2/index.js`

test('headers of this Node that are on the machine are used, and need not be downloaded', async () => {
  const prefix = nodeWithHeaders(process.versions.node)
  const made = checkout(BUILDS, OTHER_NODE)
  assert.equal((await install(made, join(prefix, 'bin', 'node'))).lines.at(-1), 'DONE')
  assert.equal(readFileSync(join(made.root, 'env'), 'utf8'), `nodedir=${prefix}\n`)
})

test('headers of another version are not used', async () => {
  const prefix = nodeWithHeaders('18.1.2')
  const made = checkout(BUILDS, OTHER_NODE)
  assert.equal((await install(made, join(prefix, 'bin', 'node'))).lines.at(-1), 'DONE')
  assert.equal(readFileSync(join(made.root, 'env'), 'utf8'), 'nodedir=\n')
})
