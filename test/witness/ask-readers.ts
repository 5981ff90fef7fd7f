import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fromRoot } from '../../core/system/root.ts'
import { tempFolder } from '../kit/temp-folder.ts'
import { runWith } from './run-with.ts'

/** Programs that read one text a line (Base64) and print what each of their readers saw (JSON). */
export interface Language {
  readonly name: string
  /** Commands that make the program ready, each with its folder. */
  readonly prepare: readonly (readonly [folder: string, command: string, ...args: string[]])[]
  readonly run: readonly [command: string, ...args: string[]]
}

export interface Question {
  /** Of the programs, below `test/witness`; the record `readers.json` is there as well. */
  readonly folder: string
  readonly texts: Readonly<Record<string, string | Buffer>>
  /** @param work where the programs are copied to and built */
  readonly languages: (work: string) => readonly Language[]
  /** What a reader saw, in a word; null where that is nothing. */
  readonly describe: (seen: any) => string | null
}

/**
 * Asks real readers what they make of texts, and compares that with the record, or writes it (`--record`). A language
 * that is not installed is named and left out. The programs stay in `AGW_WITNESS_DIR` between runs, if it is set.
 */
export async function askReaders({ folder, texts, languages, describe }: Question): Promise<void> {
  const sources = fromRoot('test', 'witness', folder)
  const work = join(process.env['AGW_WITNESS_DIR'] ?? tempFolder(`witness-${folder}`), folder)
  cpSync(sources, work, { recursive: true })
  const input = Object.values(texts)
    .map((text) => `${Buffer.from(text).toString('base64')}\n`)
    .join('')
  const table = Object.keys(texts).map((name) => ({ name, seen: new Map<string, string[]>() }))
  for (const { name, prepare, run } of languages(work)) {
    try {
      for (const [place, command, ...args] of prepare)
        await runWith(command, args, '', join(work, place))
      const [command, ...args] = run
      const rows = (await runWith(command, args, input, work)).trim().split('\n')
      for (const [place, { seen }] of table.entries())
        for (const [reader, value] of Object.entries(JSON.parse(rows[place] ?? '{}') as object)) {
          const said = value === null ? null : describe(value)
          if (said !== null) seen.set(said, [...(seen.get(said) ?? []), reader])
        }
      process.stdout.write(`${name}: read\n`)
    } catch (error) {
      process.stdout.write(`${name}: left out. ${String(error).slice(0, 300)}\n`)
    }
  }
  const record = Object.fromEntries(
    table.map(({ name, seen }) => [
      name,
      Object.fromEntries(
        [...seen]
          .sort(([a], [b]) => (a < b ? -1 : 1))
          .map(([said, readers]) => [said, readers.sort().join('; ')]),
      ),
    ]),
  )
  compare(join(sources, 'readers.json'), `${JSON.stringify(record, null, 2)}\n`)
}

function compare(file: string, text: string): void {
  const isSame = existsSync(file) && readFileSync(file, 'utf8') === text
  const records = process.argv.includes('--record')
  if (records) writeFileSync(file, text)
  process.stdout.write(isSame ? 'as recorded\n' : 'differs from the record\n')
  process.exitCode = isSame || records ? 0 : 1
}
