import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { fromRoot } from '../core/system/root.ts'

/**
 * Trains the learned model from nothing but the repositories that the manifests of `bench/corpus/` name, and the texts of
 * `bench/corpus/written/`, which are part of this repository:
 *   npm run train -- --mirror FOLDER [--out FILE]
 * The mirror holds a git directory per repository, as `extract-corpus` describes. The texts are extracted, compared with the
 * recorded sha256, and given to `train-model`, the harmless ones first: an attack inside a known harmless text is then the copy.
 * The same commits give the same bytes as the shipped `core/scanner/model/weights.bin`.
 */

const SHIPPED = fromRoot('core/scanner/model/weights.bin')
const { values: options } = parseArgs({
  options: { mirror: { type: 'string' }, out: { type: 'string', default: SHIPPED } },
})
const { mirror, out } = options
if (mirror === undefined) {
  console.error('usage: npm run train -- --mirror FOLDER [--out FILE]')
  process.exit(2)
}

const run = (program: string, ...args: string[]): void => {
  const { status } = spawnSync(
    process.execPath,
    ['--max-old-space-size=8000', fromRoot('dist/bench', program), ...args],
    { stdio: 'inherit' },
  )
  if (status !== 0) process.exit(status ?? 1)
}
const filesIn = (folder: string): string[] =>
  readdirSync(folder)
    .sort()
    .map((name) => join(folder, name))
const sha256 = (file: string): string =>
  createHash('sha256').update(readFileSync(file)).digest('hex')

const started = Date.now()
const shipped = sha256(SHIPPED)
const texts = mkdtempSync(join(tmpdir(), 'agw-train-'))
const files = ['harmless', 'attacks'].flatMap((name) => {
  const folder = join(texts, name)
  const manifest = fromRoot(`bench/corpus/${name}.json`)
  run('extract-corpus.js', '--mirror', mirror, '--out', folder, '--manifest', manifest)
  return filesIn(folder)
})
run('train-model.js', '--out', out, ...files, ...filesIn(fromRoot('bench/corpus/written')))
rmSync(texts, { recursive: true })
const seconds = Math.round((Date.now() - started) / 1000)
console.log(`${sha256(out) === shipped ? 'the same' : 'other'} weights as before; ${seconds} s`)
