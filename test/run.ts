import { readdirSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { basename, join } from 'node:path'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { findEnvoy, findValkey } from '../cli/binaries.ts'
import { fromRoot } from '../core/root.ts'
import { readSettings } from '../core/settings.ts'

/**
 * `npm test`: the unit tests in one process, the integration tests that share a stack in another, and each of the
 * others in its own. Words behind `npm test --` choose files by their names.
 */
const words = process.argv.slice(2)
const FILE_LIMIT_MS = 30 * 60_000

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

await installBinaries()
const integration = testsIn('integration')
const together = { unit: testsIn('unit'), shared: integration.filter(sharesStack) }
process.env['AGW_TEST_UNIT'] = together.unit.join('\n')
process.env['AGW_TEST_SHARED'] = together.shared.join('\n')
process.env['NODE_OPTIONS'] = [process.env['NODE_OPTIONS'], '--enable-source-maps'].join(' ').trim()

const files = [
  ...(together.unit.length > 0 ? [join(import.meta.dirname, 'all-unit.js')] : []),
  ...(together.shared.length > 0 ? [join(import.meta.dirname, 'all-shared.js')] : []),
  ...integration.filter((file) => !sharesStack(file)),
]
let passed = 0
const events = run({
  files,
  concurrency: Math.max(1, Math.floor(availableParallelism() / 2)),
  timeout: FILE_LIMIT_MS,
})
events.on('test:pass', () => {
  passed += 1
})
events.on('test:fail', () => {
  process.exitCode = 1
})
events.on('end', () => {
  if (passed > 0) return
  process.stderr.write(`No test ran${words.length > 0 ? ` for ${words.join(' ')}` : ''}.\n`)
  process.exitCode = 1
})
events.compose(new spec()).pipe(process.stdout)

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
