import { readdirSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { basename, join } from 'node:path'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { parseArgs } from 'node:util'
import { findEnvoy, findValkey } from '../cli/binaries.ts'
import { fromRoot } from '../core/root.ts'
import { readSettings } from '../core/settings.ts'

/**
 * `npm test`: the unit tests in one process, the integration tests that share a stack in another, and each of the
 * others in its own. `npm run test:unit`: the unit tests alone. Words after `--` choose files by their names.
 */
const { values, positionals: words } = parseArgs({
  options: { unit: { type: 'boolean', default: false } },
  allowPositionals: true,
})
const FILE_LIMIT_MS = 6 * 60_000

const testsIn = (folder: string): string[] =>
  readdirSync(fromRoot('dist', 'test', folder))
    .filter((name) => name.endsWith('.test.js'))
    .filter((name) => words.length === 0 || words.some((word) => name.includes(word)))
    .sort()
    .map((name) => fromRoot('dist', 'test', folder, name))

/** Told by its source, so that no list has to be kept. */
const sharesStack = (file: string): boolean =>
  readFileSync(file, 'utf8').includes('shared-stack.js') &&
  readFileSync(file, 'utf8').includes('sharedStack()')

if (!values.unit) await installBinaries()
const integration = values.unit ? [] : testsIn('integration')
const together = { unit: testsIn('unit'), shared: integration.filter(sharesStack) }
process.env['AGW_TEST_UNIT'] = together.unit.join('\n')
process.env['AGW_TEST_SHARED'] = together.shared.join('\n')
process.env['NODE_OPTIONS'] = [process.env['NODE_OPTIONS'], '--enable-source-maps'].join(' ').trim()

const files = [
  ...(together.unit.length > 0 ? [join(import.meta.dirname, 'all-unit.js')] : []),
  ...(together.shared.length > 0 ? [join(import.meta.dirname, 'all-shared.js')] : []),
  ...integration.filter((file) => !sharesStack(file)),
]
const nameOf = (path: string): string => basename(path).replace(/\.[jt]s$/, '')

/** Runs files and prints what happens; answers how many tests passed, and which files hold one that did not. */
async function runFiles(chosen: readonly string[], concurrency: number) {
  let passed = 0
  const failed = new Set<string>()
  const events = run({ files: [...chosen], concurrency, timeout: FILE_LIMIT_MS })
  events.on('test:pass', () => {
    passed += 1
  })
  events.on('test:fail', ({ file }) => {
    // A test of one of the two groups names its own file, by its source; the group is what can be run. Where neither is
    // known, all is.
    const isOf = (path: string): boolean => nameOf(path) === nameOf(file ?? '')
    const group = together.shared.some(isOf)
      ? 'all-shared.js'
      : together.unit.some(isOf)
        ? 'all-unit.js'
        : ''
    const places = chosen.filter((path) => isOf(path) || basename(path) === group)
    for (const path of places.length > 0 ? places.slice(0, 1) : chosen) failed.add(path)
  })
  const ended = new Promise((resolve) => events.once('end', resolve))
  events.compose(new spec()).pipe(process.stdout)
  await ended
  return { passed, failed: [...failed] }
}

const first = await runFiles(files, Math.max(1, Math.floor(availableParallelism() / 2)))
if (first.passed === 0) {
  process.stderr.write(`No test ran${words.length > 0 ? ` for ${words.join(' ')}` : ''}.\n`)
  process.exitCode = 1
} else if (first.failed.length > 0) {
  // These tests kill processes and cut connections on machines that may be busy: a file that failed is run once more,
  // alone, and only what fails twice fails the run. Both runs are printed.
  process.stdout.write(`Run once more: ${first.failed.map((file) => basename(file)).join(', ')}\n`)
  const second = await runFiles(first.failed, 1)
  process.exitCode = second.failed.length > 0 || second.passed === 0 ? 1 : 0
}

/** Once, with its progress shown, instead of in the first test that needs it. */
async function installBinaries(): Promise<void> {
  const { ENVOY_BIN, VALKEY_BIN, AGW_CACHE_DIR } = process.env
  const read = readSettings({ ENVOY_BIN, VALKEY_BIN, AGW_CACHE_DIR })
  if (!read.ok) throw new Error(read.faults.join('\n'))
  const say = (line: string): void => void process.stderr.write(`${line}\n`)
  process.env['ENVOY_BIN'] = await findEnvoy(read.settings, say)
  process.env['VALKEY_BIN'] = await findValkey(read.settings, say)
  say(`Envoy: ${basename(process.env['ENVOY_BIN'])}, store: ${basename(process.env['VALKEY_BIN'])}`)
}
