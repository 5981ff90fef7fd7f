import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { fromRoot } from '../core/system/root.ts'

/**
 * What the scanner blocks of the families that were kept closed, by kind and source:
 *   npm run bench -- closed-families --mirror FOLDER --out FOLDER [--manifest FILE] [SEEN.jsonl …]
 * The mirror is that of `extract-corpus`. A text is left out if half of its runs of eight words, or a shorter text as a whole,
 * stand in the training texts, in the families that were opened before, or in one of the files SEEN.
 */

const RUN_WORDS = 8
const TRAINING = ['harmless', 'attacks']
/** The closed sets, in the order in which they were opened. */
const CLOSED = ['closed', 'closed-fourth', 'closed-fifth']

const { values: options, positionals: seenFiles } = parseArgs({
  allowPositionals: true,
  options: {
    mirror: { type: 'string' },
    out: { type: 'string' },
    manifest: { type: 'string', default: fromRoot('bench/corpus/closed.json') },
  },
})
const { mirror, out, manifest } = options
if (mirror === undefined || out === undefined) {
  console.error(
    'usage: closed-families --mirror FOLDER --out FOLDER [--manifest FILE] [SEEN.jsonl …]',
  )
  process.exit(2)
}

const run = (program: string, ...args: string[]): void => {
  const { status } = spawnSync(process.execPath, [fromRoot('dist/bench', program), ...args], {
    stdio: 'inherit',
  })
  if (status !== 0) process.exit(status ?? 1)
}

const extract = (from: string, to: string): string[] => {
  run('extract-corpus.js', '--mirror', mirror, '--out', to, '--manifest', from)
  return readdirSync(to)
    .sort()
    .map((name) => join(to, name))
}

const linesOf = (file: string): string[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')

const runsOf = (line: string): string[] => {
  const { text } = JSON.parse(line) as { text: string }
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
  const runs: string[] = []
  for (let at = 0; at + RUN_WORDS <= words.length; at += 1)
    runs.push(words.slice(at, at + RUN_WORDS).join(' '))
  return runs.length === 0 ? [words.join(' ')] : runs
}

const scratch = mkdtempSync(join(tmpdir(), 'agw-closed-'))
const closed = extract(manifest, join(scratch, 'asked'))
/** Each run of the closed texts, and whether it was found elsewhere. */
const runs = new Map<string, boolean>()
for (const file of closed)
  for (const line of linesOf(file)) for (const one of runsOf(line)) runs.set(one, false)
const manifestOf = (name: string): string => fromRoot(`bench/corpus/${name}.json`)
const asked = CLOSED.map(manifestOf).indexOf(resolve(manifest))
const opened = CLOSED.slice(0, asked < 0 ? CLOSED.length : asked)
const open = [...TRAINING, ...opened].map(manifestOf)
const written = fromRoot('bench/corpus/written')
const seen = [
  ...open.flatMap((file, i) => extract(file, join(scratch, String(i)))),
  ...readdirSync(written).map((name) => join(written, name)),
]
for (const file of [...seen, ...seenFiles])
  for (const line of linesOf(file))
    for (const one of runsOf(line)) if (runs.has(one)) runs.set(one, true)

mkdirSync(out, { recursive: true })
const files = closed.map((file) => {
  const lines = linesOf(file)
  const kept = lines.filter((line) => {
    const own = runsOf(line)
    return own.filter((one) => runs.get(one) === true).length * 2 < own.length
  })
  const target = join(out, file.slice(file.lastIndexOf('/') + 1))
  writeFileSync(target, `${kept.join('\n')}\n`)
  console.log(`${target}: ${kept.length} of ${lines.length} texts`)
  return target
})
rmSync(scratch, { recursive: true })
for (const sensitivity of ['medium', 'low', 'high']) {
  console.log(`\n${sensitivity}`)
  run('score-texts.js', '--sensitivity', sensitivity, '--by-source', ...files)
}
