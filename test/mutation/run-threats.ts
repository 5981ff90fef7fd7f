import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { checkFit } from './check-fit.ts'
import { copyOfPackage } from './copy-of-package.ts'
import { THREAT_EDITS, type ThreatEdit } from './threat-edits.ts'

/**
 * `npm run test:threats [-- NUMBER… oauth approvals WORD…]`: makes each small wrong edit of `threat-edits.ts`, or those whose name has a
 * word, in a copy of this package, builds it, and runs the integration test of that threat against the real Envoy. The test must fail.
 * Each test is first run without an edit.
 */

/** Several times what the slowest test takes on a busy machine. */
const TEST_LIMIT_MS = 180_000

const named = new Set(process.argv.slice(2))
const chosen = THREAT_EDITS.filter(
  ({ threat, name }) =>
    named.size === 0 ||
    named.has(String(threat)) ||
    [...named].some((word) => Number.isNaN(Number(word)) && name.includes(word)),
)
const copy = copyOfPackage()
checkFit(copy, chosen, 'test/mutation/threat-edits.ts')
checkTests()
const rows = chosen.map((edit) => {
  const outcome = tryEdit(edit)
  process.stderr.write(`${edit.threat}: ${outcome}: ${edit.name}\n`)
  return { edit, outcome }
})
process.stdout.write('| threat | edit | file | found by |\n|---|---|---|---|\n')
for (const { edit, outcome } of rows) {
  const by = outcome === 'found' ? `\`${edit.test[0]}\`: ${edit.test[1]} …` : `**${outcome}**`
  process.stdout.write(`| ${edit.threat} | ${edit.name} | \`${edit.file}\` | ${by} |\n`)
}
const found = rows.filter(({ outcome }) => outcome === 'found').length
process.stdout.write(`\n${found} of ${rows.length} edits were found by the test of their threat.\n`)
if (found < rows.length || rows.length === 0) process.exitCode = 1

/** A test that fails anyway, or is not there, has found nothing. */
function checkTests(): void {
  const files = new Set(chosen.map(({ test: [file] }) => file))
  for (const file of files) {
    const names = chosen.filter(({ test }) => test[0] === file).map(({ test }) => test[1])
    const { status, output } = runTests(file, names)
    const missing = names.filter((name) => !passed(output, name))
    if (status !== 0 || missing.length > 0)
      throw new Error(`${file} fails without any edit, or lacks ${missing.join(', ')}:\n${output}`)
  }
}

function tryEdit({ file, find, replace, test: [test, name] }: ThreatEdit): string {
  const path = join(copy, file)
  const before = readFileSync(path, 'utf8')
  writeFileSync(
    path,
    before.replace(find, () => replace),
  )
  try {
    const built = run([join(copy, 'cli', 'prepare.mjs'), 'build'])
    if (built.status !== 0) return `does not compile: ${built.output.slice(0, 500)}`
    const { status, output } = runTests(test, [name])
    if (failed(output, name)) return 'found'
    return status === 0 ? 'SURVIVED' : `the test did not run: ${output.slice(-500)}`
  } finally {
    writeFileSync(path, before)
  }
}

function passed(output: string, name: string): boolean {
  return output
    .split('\n')
    .some((line) => /^ok \d+ - (?!.*# SKIP)/.test(line) && line.includes(`- ${name}`))
}

function failed(output: string, name: string): boolean {
  return output
    .split('\n')
    .some((line) => /^not ok \d+ - /.test(line) && line.includes(`- ${name}`))
}

function runTests(
  file: string,
  names: readonly string[],
): { status: number | null; output: string } {
  const pattern = names
    .map((name) => `^${name.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')}`)
    .join('|')
  return run([
    '--test-reporter=tap',
    `--test-name-pattern=/${pattern}/`,
    join(copy, 'dist', 'test', 'integration', `${file}.test.js`),
  ])
}

function run(args: readonly string[]): { status: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: copy,
    encoding: 'utf8',
    timeout: TEST_LIMIT_MS,
    killSignal: 'SIGKILL',
    maxBuffer: 64 << 20,
  })
  return { status, output: `${stdout}${stderr}` }
}
