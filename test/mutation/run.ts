import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { root } from '../../core/system/root.ts'
import { checkFit } from './check-fit.ts'
import { copyOfPackage } from './copy-of-package.ts'
import { type Edit, EDITS } from './edits.ts'
import { ImportGraph } from './import-graph.ts'

/**
 * `npm run test:mutations [-- WORD…]`: makes each small wrong edit of `edits.ts` in a copy of this package, runs the unit
 * tests that import the edited file, and prints which of them found it. Words choose edits by name, area or file.
 */

/** The unit tests must find so many of ten; an edit that none can see may be harmless. */
const FOUND_OF_TEN = 9
/** Several times what the slowest file takes on a busy machine; an edit may make a test hang. */
const FILE_LIMIT_MS = 120_000

interface Outcome {
  readonly edit: Edit
  /** The test file and the first of its tests that failed; null: the edit survived. */
  readonly found: { readonly file: string; readonly test: string } | null
  readonly files_run: number
}

const words = process.argv.slice(2)
const chosen = EDITS.filter(({ area, name, file }) =>
  words.every((word) => `${area} ${name} ${file}`.includes(word)),
)
const copy = copyOfPackage()
checkFit(copy, chosen, 'test/mutation/edits.ts')
const edited = new Map(chosen.map((edit) => [edit, compile(edit)]))
const graph = new ImportGraph(join(copy, 'dist'))
const healthy = new Set<string>()
const outcomes = chosen.map((edit, i) => {
  const outcome = tryEdit(edit)
  process.stderr.write(`${i + 1} of ${chosen.length}: ${describe(outcome)}\n`)
  return outcome
})
printTable(outcomes)
const found = outcomes.filter((outcome) => outcome.found !== null).length
process.stdout.write(`\n${found} of ${outcomes.length} edits were found by the unit tests.\n`)
if (found * 10 < outcomes.length * FOUND_OF_TEN || outcomes.length === 0) process.exitCode = 1

function tryEdit(edit: Edit): Outcome {
  const file = runningFile(edit)
  const before = readFileSync(file, 'utf8')
  // Scripts are read by name, by the one file that runs them.
  const tests = graph.testsOf(isLua(edit) ? join(copy, 'dist/core/redis/run-script.js') : file)
  writeFileSync(file, edited.get(edit) ?? '')
  const found = firstFailure(tests)
  writeFileSync(file, before)
  if (found !== null) checkHealth(found.file)
  return { edit, found, files_run: found === null ? tests.length : tests.indexOf(found.file) + 1 }
}

function firstFailure(tests: readonly string[]): Outcome['found'] {
  for (const file of tests) {
    const test = failedTest(file)
    if (test !== null) return { file, test }
  }
  return null
}

/** A file that fails anyway has found nothing. */
function checkHealth(file: string): void {
  if (healthy.has(file)) return
  const test = failedTest(file)
  if (test !== null) throw new Error(`${nameOf(file)} fails without any edit, at: ${test}`)
  healthy.add(file)
}

/** The edited text as it runs. Types are checked: what the compiler refuses needs no test. */
function compile(edit: Edit): string {
  const source = join(copy, edit.file)
  const text = readFileSync(source, 'utf8')
  const changed = text.replace(edit.find, () => edit.replace)
  if (isLua(edit)) return changed
  const config = join(copy, 'tsconfig.mutation.json')
  // One file with what it imports is no project of its own.
  const compilerOptions = {
    composite: false,
    incremental: false,
    tsBuildInfoFile: null,
    outDir: 'edited',
  }
  const options = { extends: './tsconfig.json', compilerOptions, include: [], files: [edit.file] }
  writeFileSync(config, JSON.stringify(options))
  writeFileSync(source, changed)
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  const { status, stdout } = spawnSync(process.execPath, [tsc, '-p', config], { encoding: 'utf8' })
  writeFileSync(source, text)
  if (status !== 0)
    throw new Error(`“${edit.name}” does not compile, so it says nothing:\n${stdout}`)
  return readFileSync(join(copy, 'edited', compiledName(edit)), 'utf8')
}

function isLua({ file }: Edit): boolean {
  return file.endsWith('.lua')
}

function compiledName({ file }: Edit): string {
  return file.replace(/\.ts$/, '.js')
}

function runningFile(edit: Edit): string {
  return isLua(edit) ? join(copy, edit.file) : join(copy, 'dist', compiledName(edit))
}

/** The first test of the file that fails; null where all pass. */
function failedTest(file: string): string | null {
  const args = ['--disable-warning=ExperimentalWarning', '--test-reporter=tap', file]
  const { status, stdout, error } = spawnSync(process.execPath, args, {
    encoding: 'utf8',
    // As `npm run test:unit` runs them.
    env: { ...process.env, TEST_REPETITIONS: 'few' },
    timeout: FILE_LIMIT_MS,
    killSignal: 'SIGKILL',
    maxBuffer: 64 << 20,
  })
  if (status === 0) return null
  if (error !== undefined) return `(${error.message})`
  // The innermost: suites end after their tests.
  return /^\s*not ok \d+ - (.*)$/m.exec(stdout)?.[1] ?? '(the file could not be loaded)'
}

function describe({ edit, found, files_run }: Outcome): string {
  const by = found === null ? 'SURVIVED' : `found by ${nameOf(found.file)}`
  return `${by} after ${files_run} files: ${edit.name}`
}

function nameOf(file: string): string {
  return basename(file, '.test.js')
}

function printTable(all: readonly Outcome[]): void {
  const lines = all.map(({ edit, found }) => {
    const by = found === null ? '**survived**' : `\`${nameOf(found.file)}\`: ${found.test}`
    return `| ${edit.area} | ${edit.name} | \`${edit.file}\` | ${by.replaceAll('|', '\\|')} |`
  })
  process.stdout.write(
    ['| area | edit | file | found by |', '|---|---|---|---|', ...lines, ''].join('\n'),
  )
}
