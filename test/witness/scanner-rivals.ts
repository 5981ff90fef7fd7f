import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { defaultSettings } from '../../core/scanner/default-settings.ts'
import { scanChat } from '../kit/scan-chat.ts'

/**
 * What other scanners that need no model server block of the same labelled texts, in one table:
 *   node dist/test/witness/scanner-rivals.js [--vard FOLDER] [--guardrail FOLDER --python PYTHON] [--pipelock PROGRAM] [--by-kind] FILE.jsonl …
 * `npm install --prefix FOLDER @andersmyrmel/vard@1.2.0`; `pip download --no-deps llm_guardrail==4.0.1`, unpacked into FOLDER,
 * of which the patterns are used; `go build ./cmd/pipelock` in the sources of luckyPipewrench/pipelock, of which each finding in
 * the result of an MCP tool counts, whether its default is to block it or to warn. The list of keywords is the usual one of tutorials.
 */

type Judge = (texts: readonly string[]) => readonly boolean[] | Promise<readonly boolean[]>

const KEYWORDS =
  /ignore (?:all |the )?(?:previous|above|prior) (?:instructions|prompts?)|disregard (?:all |the )?(?:previous|above|prior)|forget (?:all |everything|your) ?(?:previous|instructions)?|system prompt|you are now|developer mode|jailbreak|\bdan\b|do anything now|pretend (?:to be|you are)|act as|reveal your|new instructions|override|bypass|no restrictions|unfiltered|<\|im_start\|>|\[inst\]/i

/** Reads a JSON list of texts, and prints a JSON list of 0 and 1. */
const GUARDRAIL = `
import asyncio, json, logging, sys
sys.path.insert(0, sys.argv[1])
logging.disable(logging.CRITICAL)
from app.services.detectors.regex import RegexDetector
async def main():
    detector = RegexDetector()
    await detector.load()
    print(json.dumps([1 if detector.detect(text)["detected"] else 0 for text in json.load(sys.stdin)]))
asyncio.run(main())
`

const ours =
  (sensitivity: 'low' | 'medium' | 'high'): Judge =>
  (texts) => {
    const settings = defaultSettings(sensitivity)
    return texts.map((content) => {
      const result = scanChat(content, settings)
      return result.kind !== 'scanned' || result.decision.outcome === 'blocked'
    })
  }

const vard =
  (folder: string): Judge =>
  async (texts) => {
    const module = join(folder, 'node_modules/@andersmyrmel/vard/dist/index.js')
    const { default: check } = (await import(pathToFileURL(module).href)) as {
      default: (text: string) => string
    }
    return texts.map((text) => {
      try {
        check(text)
        return false
      } catch {
        return true
      }
    })
  }

const guardrail =
  (folder: string, python: string): Judge =>
  (texts) => {
    const { stdout, stderr, status } = spawnSync(python, ['-c', GUARDRAIL, folder], {
      input: JSON.stringify(texts),
      encoding: 'utf8',
      maxBuffer: 1 << 28,
    })
    if (status !== 0) throw new Error(stderr)
    return (JSON.parse(stdout) as number[]).map((one) => one === 1)
  }

const pipelock =
  (program: string): Judge =>
  (texts) => {
    const results = texts.map((text, id) =>
      JSON.stringify({ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text }] } }),
    )
    const { stdout, stderr, status } = spawnSync(program, ['mcp', 'scan', '--json'], {
      input: results.join('\n'),
      encoding: 'utf8',
      maxBuffer: 1 << 28,
    })
    const verdicts = stdout
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as { clean: boolean; error?: string })
    const failed = verdicts.find(({ error }) => error !== undefined)?.error
    if (failed !== undefined || verdicts.length !== texts.length)
      throw new Error(failed ?? `${stderr} (exit status ${status})`)
    return verdicts.map(({ clean }) => !clean)
  }

const { values: options, positionals: files } = parseArgs({
  allowPositionals: true,
  options: {
    vard: { type: 'string' },
    guardrail: { type: 'string' },
    python: { type: 'string', default: 'python3' },
    pipelock: { type: 'string' },
    'by-kind': { type: 'boolean', default: false },
  },
})
if (files.length === 0) {
  console.error(
    'usage: scanner-rivals [--vard FOLDER] [--guardrail FOLDER --python PYTHON] [--pipelock PROGRAM] [--by-kind] FILE.jsonl …',
  )
  process.exit(2)
}
const judges: Record<string, Judge> = {
  low: ours('low'),
  medium: ours('medium'),
  high: ours('high'),
  keywords: (texts) => texts.map((text) => KEYWORDS.test(text)),
  ...(options.vard === undefined ? {} : { vard: vard(options.vard) }),
  ...(options.guardrail === undefined
    ? {}
    : { guardrail: guardrail(options.guardrail, options.python) }),
  ...(options.pipelock === undefined ? {} : { pipelock: pipelock(options.pipelock) }),
}
console.log(['source'.padEnd(34), 'texts', ...Object.keys(judges)].join('\t'))
for (const file of files) {
  const rows = readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as { text: string; source: string; kind: string })
  const bySource = new Map<string, typeof rows>()
  for (const row of rows) {
    const key = options['by-kind'] ? row.kind : row.source
    const some = bySource.get(key)
    if (some === undefined) bySource.set(key, [row])
    else some.push(row)
  }
  for (const [source, some] of bySource) {
    const texts = some.map(({ text }) => text)
    const shares: string[] = []
    for (const judge of Object.values(judges)) {
      const verdicts = await judge(texts)
      shares.push(((100 * verdicts.filter(Boolean).length) / texts.length).toFixed(1))
    }
    console.log([source.padEnd(34), texts.length, ...shares].join('\t'))
  }
}
