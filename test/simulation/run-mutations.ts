import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { transformSync } from 'esbuild'
import { checkFit } from '../mutation/check-fit.ts'
import { copyOfPackage } from '../mutation/copy-of-package.ts'
import { type Mutation, MUTATIONS } from './mutations.ts'

/**
 * `npm run simulate:mutations [-- --minutes N WORD…]`: makes each wrong edit of `mutations.ts` in a copy of this package and
 * simulates until a seed finds it, for so many minutes of CPU (60). Fails if one is not found.
 */
const { values, positionals: words } = parseArgs({
  options: { minutes: { type: 'string', default: '60' } },
  allowPositionals: true,
})
const chosen = MUTATIONS.filter(
  ({ name }) => words.length === 0 || words.some((word) => name.includes(word)),
)
const copy = copyOfPackage()
checkFit(copy, chosen, 'test/simulation/mutations.ts')
let missed = 0
for (const [i, mutation] of chosen.entries()) {
  const found = tryMutation(mutation)
  if (!found.startsWith('seed')) missed++
  process.stdout.write(`${i + 1}. ${mutation.name}: ${found}\n`)
}
process.stdout.write(`${chosen.length - missed} of ${chosen.length} edits were found.\n`)
if (missed > 0) process.exitCode = 1

function tryMutation({ file, find, replace }: Mutation): string {
  const source = readFileSync(join(copy, file), 'utf8').replace(find, () => replace)
  const isLua = file.endsWith('.lua')
  const place = isLua ? join(copy, file) : join(copy, 'dist', file.replace(/\.ts$/, '.js'))
  const before = readFileSync(place, 'utf8')
  writeFileSync(place, isLua ? source : compile(source))
  const run = join(copy, 'dist', 'test', 'simulation', 'run.js')
  const args = [run, '--minutes', values.minutes, '--failures', '1']
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  writeFileSync(place, before)
  const [first = ''] = stdout.split('\n')
  if (/^(the kept seed|seed)/.test(first)) return stdout.trim().split('\n').slice(0, 2).join(';')
  return stderr === '' ? 'NOT FOUND' : `does not run: ${stderr.slice(0, 500)}`
}

/** As the compiler does, without its checks. */
function compile(source: string): string {
  const { code } = transformSync(source, { loader: 'ts', format: 'esm', target: 'es2022' })
  return code.replaceAll('.ts"', '.js"')
}
