import { spawnSync, type SpawnSyncReturns } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { transformSync } from 'esbuild'
import { checkFit } from '../mutation/check-fit.ts'
import { copyOfPackage } from '../mutation/copy-of-package.ts'
import { editsOf, type Mutation, MUTATIONS } from './mutations.ts'

/**
 * `npm run simulate:mutations [-- --minutes N] [--kept] [WORD…]`: makes each wrong edit of `mutations.ts` in a copy of this package and
 * simulates until three seeds find it, for so many minutes of CPU (60); with `--kept` only the seed that is kept for it. Fails if one is
 * not found.
 */
const { values, positionals: words } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    kept: { type: 'boolean', default: false },
  },
  allowPositionals: true,
})
const chosen = MUTATIONS.filter(
  ({ name }) => words.length === 0 || words.some((word) => name.includes(word)),
)
/** Seeds that find an edit. The first may fail without it too. */
const SEEDS_WANTED = 3
const MESSAGE_MAX = 300
const FOUND = /^(?:the kept )?seed (\d+)/
const copy = copyOfPackage()
checkFit(copy, chosen.flatMap(editsOf), 'test/simulation/mutations.ts')
let missed = 0
for (const [i, mutation] of chosen.entries()) {
  const found = tryMutation(mutation)
  if (!FOUND.test(found)) missed++
  process.stdout.write(`${i + 1}. ${mutation.name}: ${found}\n`)
}
process.stdout.write(`${chosen.length - missed} of ${chosen.length} edits were found.\n`)
if (missed > 0) process.exitCode = 1

function tryMutation(mutation: Mutation): string {
  const sources = new Map<string, string>()
  for (const { file, find, replace } of editsOf(mutation)) {
    const source = sources.get(file) ?? readFileSync(join(copy, file), 'utf8')
    sources.set(
      file,
      source.replace(find, () => replace),
    )
  }
  const before = [...sources].map(([file, source]) => {
    const isLua = file.endsWith('.lua')
    const place = isLua ? join(copy, file) : join(copy, 'dist', file.replace(/\.ts$/, '.js'))
    const text = readFileSync(place, 'utf8')
    writeFileSync(place, isLua ? source : compile(source))
    return [place, text] as const
  })
  const { name, subject } = mutation
  const search = ['--fresh', '--subject', subject, '--minutes', values.minutes]
  const { stdout, stderr } = simulate(
    copy,
    values.kept
      ? ['--kept', name, '--seeds', '0']
      : [...search, '--failures', String(SEEDS_WANTED)],
  )
  for (const [place, text] of before) writeFileSync(place, text)
  if (stderr !== '') return `does not run: ${stderr.slice(0, 500)}`
  const lines = stdout.split('\n')
  // A seed that fails without the edit has found something else.
  const found = lines.filter((line) => {
    const [, seed] = FOUND.exec(line) ?? []
    return seed !== undefined && (values.kept || simulate(copy, ['--seed', seed]).status === 0)
  })
  const [first] = found
  if (first === undefined) return 'NOT FOUND'
  const [, shrunk = ''] = lines.slice(lines.indexOf(first))
  const others = found.slice(1).map((line) => /after \d+ seeds/.exec(line)?.[0] ?? '')
  return [first.slice(0, MESSAGE_MAX), ...others, shrunk.trim()].join('; ')
}

function simulate(folder: string, args: readonly string[]): SpawnSyncReturns<string> {
  const run = join(folder, 'dist', 'test', 'simulation', 'run.js')
  return spawnSync(process.execPath, [run, ...args], { encoding: 'utf8', maxBuffer: 1e9 })
}

/** As the compiler does, without its checks. */
function compile(source: string): string {
  const { code } = transformSync(source, { loader: 'ts', format: 'esm', target: 'es2022' })
  return code.replaceAll('.ts"', '.js"')
}
