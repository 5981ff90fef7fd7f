import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { parseAllDocuments } from 'yaml'
import { fromRoot } from '../core/system/root.ts'

/**
 * Makes labelled texts from public repositories, as the manifest of `bench/corpus/` names them:
 *   node dist/bench/extract-corpus.js --mirror FOLDER --out FOLDER [--manifest FILE] [--record]
 * The mirror holds one git directory a repository: `OWNER+NAME/repo` or `OWNER/NAME`. A repository without the named
 * commit is an error. Everything is chosen by hash, so that the same commits give the same files; `--record` writes
 * the rows and the sha256 of each source into the manifest, otherwise they are compared.
 */

type Source = {
  readonly id: string
  readonly kind: string
  readonly language: string
  readonly label: 0 | 1
  readonly licence: string
  readonly repository: string
  readonly commit: string
  /** A regular expression over the paths of the commit. */
  readonly paths: string
  readonly rule: Rule
  /** The column or member that holds the text; `*` for every string. For `pattern`, the regular expression. */
  readonly field?: string
  /** The member of a JSON document that holds the rows. */
  readonly list?: string
  /** At most so many rows, chosen by hash. */
  readonly limit?: number
  /** Only rows whose member has this value, or has not: "label=1", "class!=benign". */
  readonly where?: string
  readonly rows?: number
  readonly sha256?: string
}

type Rule =
  | 'conllu'
  | 'document'
  | 'csv'
  | 'jsonl'
  | 'json'
  /** Like `json`: the member called `field` of each document. */
  | 'yaml'
  | 'yaml-list'
  | 'paragraphs'
  | 'lines'
  | 'file'
  /** The first group of each match of `field`, where sources hold texts as string literals. */
  | 'pattern'
  /** Each row of a JSON Lines file as it stands. */
  | 'rows'

const LONGEST_TEXT = 8_000
const SHORTEST_TEXT = 12
const PARAGRAPHS = { least: 200, most: 1_600 }

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

const git = (folder: string, ...args: string[]): string | null => {
  const run = spawnSync('git', ['--git-dir', folder, '-c', 'core.quotepath=off', ...args], {
    encoding: 'utf8',
    maxBuffer: 1 << 30,
  })
  return run.status === 0 ? run.stdout : null
}

const gitFolder = (mirror: string, repository: string): string => {
  const folders = [join(mirror, repository.replace('/', '+'), 'repo'), join(mirror, repository)]
  const found = folders.flatMap((folder) => [join(folder, '.git'), folder]).find(existsSync)
  if (found === undefined) throw new Error(`${repository} is not in ${mirror}`)
  return found
}

/** The rows of a CSV text with quoted cells, as objects by the names of the first row. */
const csvRows = (text: string): Record<string, string>[] => {
  const rows: string[][] = [[]]
  let cell = ''
  let isQuoted = false
  const endCell = (): void => {
    rows.at(-1)?.push(cell)
    cell = ''
  }
  for (let i = 0; i < text.length; i += 1) {
    const character = text[i] as string
    if (isQuoted && character === '"' && text[i + 1] === '"') {
      cell += '"'
      i += 1
    } else if (character === '"') isQuoted = !isQuoted
    else if (!isQuoted && character === ',') endCell()
    else if (!isQuoted && character === '\n') {
      endCell()
      rows.push([])
    } else if (character !== '\r') cell += character
  }
  endCell()
  const [names, ...rest] = rows
  return rest.map((row) => Object.fromEntries(row.map((value, i) => [names?.[i] ?? '', value])))
}

/** Every string below a value that a member called `field` holds, directly or in a list. */
const stringsAt = (value: unknown, field: string, isField = false): string[] => {
  if (typeof value === 'string') return isField ? [value] : []
  if (Array.isArray(value)) return value.flatMap((one) => stringsAt(one, field, isField))
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, one]) =>
    stringsAt(one, field, field === '*' || name === field),
  )
}

const paragraphs = (text: string): string[] => {
  const parts: string[] = []
  let part = ''
  for (const paragraph of text.split(/\n\s*\n/)) {
    if (part.length + paragraph.length > PARAGRAPHS.most && part.length >= PARAGRAPHS.least) {
      parts.push(part)
      part = ''
    }
    part = part === '' ? paragraph : `${part}\n\n${paragraph}`
  }
  if (part.length >= PARAGRAPHS.least) parts.push(part)
  return parts
}

const matches = (row: Record<string, unknown>, where: string | undefined): boolean => {
  if (where === undefined) return true
  const [, name = '', sign, value] = /^(\w+)(!?=)(.*)$/.exec(where) ?? []
  return (String(row[name]) === value) === (sign === '=')
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r' }

/** What a string literal says, whose quotes are taken off: lines that adjacent literals make are joined. */
const unescaped = (literal: string): string =>
  literal
    .replaceAll(/(["'`])\s*\+?\s*\n\s*f?\1/g, '')
    .replaceAll(/\\(?:u\{?([0-9a-fA-F]{4,5})\}?|x([0-9a-fA-F]{2})|([^]))/g, (_, wide, byte, one) =>
      one === undefined
        ? String.fromCodePoint(Number.parseInt(wide ?? byte, 16))
        : (ESCAPES[one] ?? one),
    )

const textsOf = (source: Source, content: string): string[] => {
  const field = source.field ?? 'text'
  switch (source.rule) {
    case 'conllu':
      return Array.from(content.matchAll(/^# text = (.+)$/gm), ([, text]) => text ?? '')
    case 'document':
      return [Array.from(content.matchAll(/^# text = (.+)$/gm), ([, text]) => text).join(' ')]
    case 'csv':
      return csvRows(content)
        .filter((row) => matches(row, source.where))
        .map((row) => row[field] ?? '')
    case 'jsonl':
      return content
        .split('\n')
        .filter((line) => line.trim() !== '')
        .map((line) => JSON.parse(line) as Record<string, unknown>)
        .filter((row) => matches(row, source.where))
        .flatMap((row) => stringsAt(row, field))
    case 'json': {
      const document = JSON.parse(content) as unknown
      const value =
        source.list === undefined ? document : (document as Record<string, unknown>)[source.list]
      if (value === undefined) return []
      const rows = Array.isArray(value) ? (value as Record<string, unknown>[]) : [value]
      return rows
        .filter((row) => matches(row as Record<string, unknown>, source.where))
        .flatMap((row) => stringsAt(row, field, typeof row === 'string'))
    }
    case 'yaml':
      return parseAllDocuments(content).flatMap((document) => stringsAt(document.toJS(), field))
    case 'yaml-list':
      return Array.from(content.matchAll(/^\s*-\s+(?:-\s+)?(.+)$/gm), ([, text]) => text ?? '')
    case 'paragraphs':
      return paragraphs(content)
    case 'lines':
    case 'rows':
      return content.split('\n')
    case 'file':
      return [content]
    case 'pattern':
      return Array.from(content.matchAll(new RegExp(field, 'gm')), ([, text]) =>
        unescaped(text ?? ''),
      )
  }
}

/** The contents of files, read in one go; the largest files of a snapshot can be listed but absent. */
const contentsOf = (folder: string, commit: string, paths: readonly string[]): string[] => {
  const { stdout } = spawnSync('git', ['--git-dir', folder, 'cat-file', '--batch'], {
    input: paths.map((path) => `${commit}:${path}\n`).join(''),
    maxBuffer: 1 << 30,
  })
  const contents: string[] = []
  for (let at = 0; at < stdout.length; ) {
    const lineEnd = stdout.indexOf(0x0a, at)
    const size = / blob (\d+)$/.exec(stdout.toString('utf8', at, lineEnd))?.[1]
    at = lineEnd + 1
    if (size === undefined) continue
    contents.push(stdout.toString('utf8', at, at + Number(size)).replace(/^\ufeff/, ''))
    at += Number(size) + 1
  }
  return contents
}

const rowsOf = (source: Source, mirror: string): string[] => {
  const folder = gitFolder(mirror, source.repository)
  const listed = git(folder, 'ls-tree', '-r', '--name-only', source.commit)
  if (listed === null) throw new Error(`${source.repository} lacks the commit ${source.commit}`)
  const paths = new RegExp(source.paths)
  const texts = new Set<string>()
  const chosenPaths = listed
    .split('\n')
    .filter((one) => paths.test(one))
    .sort()
  for (const content of contentsOf(folder, source.commit, chosenPaths)) {
    for (const text of textsOf(source, content)) {
      const clean = text.replaceAll('\0', '').trim().slice(0, LONGEST_TEXT)
      if (clean.length >= SHORTEST_TEXT || /[^\0-\u2fff]{4}/.test(clean)) texts.add(clean)
    }
  }
  const chosen = [...texts].map((text) => ({ text, hash: sha256(text) }))
  chosen.sort((a, b) => (a.hash < b.hash ? -1 : 1))
  return chosen.slice(0, source.limit).map(({ text }) => text)
}

const { values: options } = parseArgs({
  options: {
    mirror: { type: 'string' },
    out: { type: 'string' },
    manifest: { type: 'string', default: fromRoot('bench/corpus/harmless.json') },
    record: { type: 'boolean', default: false },
  },
})
const { mirror, out, manifest: manifestFile } = options
if (mirror === undefined || out === undefined) {
  console.error('usage: extract-corpus --mirror FOLDER --out FOLDER [--manifest FILE] [--record]')
  process.exit(2)
}
mkdirSync(out, { recursive: true })
const manifest = JSON.parse(readFileSync(manifestFile, 'utf8')) as Source[]
const kinds = new Map<string, string[]>()
let differing = 0
const recorded = manifest.map((source) => {
  const texts = rowsOf(source, mirror)
  const hash = sha256(texts.join('\0'))
  if (source.sha256 !== undefined && source.sha256 !== hash) {
    differing += 1
    console.error(`${source.id}: ${texts.length} rows, sha256 ${hash}, not as recorded`)
  }
  const { kind, language, label, id } = source
  const lines = kinds.get(kind) ?? []
  for (const text of texts) lines.push(JSON.stringify({ text, label, source: id, kind, language }))
  kinds.set(kind, lines)
  return { ...source, rows: texts.length, sha256: hash }
})
for (const [kind, lines] of kinds)
  writeFileSync(join(out, `${kind}.jsonl`), `${lines.join('\n')}\n`)
const languages = new Set(manifest.map(({ language }) => language))
const total = recorded.reduce((sum, { rows }) => sum + rows, 0)
console.log(`${total} texts of ${kinds.size} kinds in ${languages.size} languages`)
if (options.record) writeFileSync(manifestFile, `${JSON.stringify(recorded, null, 2)}\n`)
else if (differing > 0) process.exit(1)
