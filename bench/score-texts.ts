import { createReadStream, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import type { CompiledInjectionSettings } from '../core/scanner/compile-settings.ts'
import { defaultSettings } from '../core/scanner/default-settings.ts'
import { type Finding, SEVERITY_RANK } from '../core/scanner/finding.ts'
import { SPEAKERS, type Speaker } from '../core/catalogue/model.ts'
import { scanJson } from '../test/kit/scan-json.ts'
import { bodySaidBy, CONVERSATIONS } from '../test/kit/conversations.ts'
import { scanCall } from '../test/kit/scan-call.ts'

/**
 * What the scanner blocks of labelled texts, file by file, with the 95 % interval:
 *   node dist/bench/score-texts.js [--sensitivity medium] [--speaker user] [--by-source] [--patterns] [--show wrong|blocked] FILE.jsonl …
 *   node dist/bench/score-texts.js --by-shape 300 FILE.jsonl …
 * Each line is {"text", "label": 1 (attack) or 0, "source"}. A text that is JSON is the body as it stands,
 * any other is said by the speaker, who is the user unless given. `--patterns` counts the patterns that blocked; `--show` prints texts
 * that were decided wrongly, or all that were blocked, with the finding that decided. `--by-shape` says so many attacks that block in a
 * user's words by each speaker of each shape, in a call of its API and in one of no model, and lists what passes with what is recorded.
 */

type Line = { readonly text: string; readonly label: number; readonly source: string }

const SHOWN_CHARACTERS = 240
const rankOf = (finding: Finding): number =>
  SEVERITY_RANK[finding.severity] + (finding.category === 'learned' ? 0.5 : 0)

const isJson = (text: string): boolean => {
  if (!/^\s*[[{]/.test(text)) return false
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

const bodyOf = (text: string, speaker: Speaker): string =>
  isJson(text) ? text : bodySaidBy(speaker, text)

const settingsFor = (sensitivity: string): CompiledInjectionSettings => {
  if (sensitivity !== 'low' && sensitivity !== 'medium' && sensitivity !== 'high')
    throw new Error(`--sensitivity is low, medium or high, not "${sensitivity}"`)
  return defaultSettings(sensitivity)
}

const speakerOf = (name: string): Speaker => {
  const speaker = SPEAKERS.find((one) => one === name)
  if (speaker === undefined) throw new Error(`--speaker is one of ${SPEAKERS.join(', ')}`)
  return speaker
}

const blockedBy = (
  text: string,
  settings: CompiledInjectionSettings,
  speaker: Speaker,
): string | null => {
  const result = scanJson(bodyOf(text, speaker), settings)
  if (result.kind !== 'scanned') return 'unreadable'
  if (result.decision.outcome !== 'blocked') return null
  const [first] = result.findings
    .filter(({ counts }) => counts)
    .sort((a, b) => rankOf(a) - rankOf(b))
  return first === undefined ? 'unknown' : `${first.pattern_name}: ${first.matched_text}`
}

/** The Wilson interval of a share at 95 %, in percent. */
const interval = (part: number, whole: number): readonly [number, number] => {
  const z = 1.96
  const share = part / whole
  const centre = share + (z * z) / (2 * whole)
  const spread = z * Math.sqrt((share * (1 - share)) / whole + (z * z) / (4 * whole * whole))
  const scale = 100 / (1 + (z * z) / whole)
  return [Math.max(0, (centre - spread) * scale), (centre + spread) * scale]
}

class Tally {
  readonly rows = new Map<string, { texts: number; blocked: number }>()

  add(key: string, isBlocked: boolean): void {
    const row = this.rows.get(key) ?? { texts: 0, blocked: 0 }
    row.texts += 1
    row.blocked += isBlocked ? 1 : 0
    this.rows.set(key, row)
  }

  print(): void {
    for (const [key, { texts, blocked }] of this.rows) {
      const percent = ((100 * blocked) / texts).toFixed(1)
      const [least, most] = interval(blocked, texts)
      console.log(
        `${key.padEnd(52)} ${String(blocked).padStart(6)} of ${String(texts).padEnd(6)} ${percent.padStart(6)} %  (${least.toFixed(1)}–${most.toFixed(1)})`,
      )
    }
  }
}

type Passed = { count: number; recorded: number; readonly names: Map<string, number> }

/** Prints what each speaker of each shape may say, and where. @returns whether nothing passes where a role is only claimed */
const scoreShapes = (attacks: readonly string[], settings: CompiledInjectionSettings): boolean => {
  const passed = new Map<string, Passed>()
  let claimed = 0
  for (const [shape, { path, says }] of Object.entries(CONVERSATIONS))
    for (const [speaker, say] of Object.entries(says)) {
      const known = { count: 0, recorded: 0 }
      let unknown = 0
      const all = passed.get(speaker) ?? { count: 0, recorded: 0, names: new Map() }
      for (const attack of attacks) {
        const body = say(attack)
        if (!scanCall(body, { path: '/notes' }, settings).blocked) unknown += 1
        const { blocked, speakers, recorded } = scanCall(body, { path }, settings)
        if (blocked) continue
        known.count += 1
        known.recorded += speakers.length > 0 ? 1 : 0
        for (const name of recorded) all.names.set(name, (all.names.get(name) ?? 0) + 1)
      }
      all.count += known.count
      all.recorded += known.recorded
      passed.set(speaker, all)
      // In a user's turn of a template the words of the template count for the learned model too.
      if (speaker !== 'user') claimed += unknown
      console.log(
        `${shape.padEnd(24)} ${speaker.padEnd(18)} passed ${String(known.count).padStart(4)}, of these in the log ${String(known.recorded).padStart(4)}; passed at no model ${unknown}`,
      )
    }
  for (const [speaker, { count, recorded, names }] of passed) {
    const list = [...names].sort((a, b) => b[1] - a[1]).map(([name, number]) => `${name} ${number}`)
    console.log(`${speaker}: passed ${count}, in the log ${recorded}: ${list.join(', ')}`)
  }
  return claimed === 0
}

/** So many attacks of the files that block in the words of a user, at even distances. */
const attacksOf = (files: readonly string[], most: number, settings: CompiledInjectionSettings) => {
  const attacks = files
    .flatMap((file) => readFileSync(file, 'utf8').split('\n').filter(Boolean))
    .map((json) => JSON.parse(json) as Line)
    .filter(({ text, label }) => label === 1 && !isJson(text))
    .map(({ text }) => text)
    .filter((text) => scanCall({ text }, { path: '/notes' }, settings).blocked)
  const step = Math.max(1, attacks.length / most)
  return attacks.filter((_, index) => Math.floor(index / step) !== Math.floor((index - 1) / step))
}

const { values: options, positionals: files } = parseArgs({
  allowPositionals: true,
  options: {
    sensitivity: { type: 'string', default: 'medium' },
    speaker: { type: 'string', default: 'user' },
    'by-source': { type: 'boolean', default: false },
    patterns: { type: 'boolean', default: false },
    show: { type: 'string' },
    'by-shape': { type: 'string' },
  },
})
if (files.length === 0) {
  console.error(
    'usage: score-texts [--sensitivity medium] [--speaker user] [--by-source] [--patterns] [--show wrong|blocked] FILE.jsonl …',
  )
  process.exit(2)
}
const settings = settingsFor(options.sensitivity)
const speaker = speakerOf(options.speaker)
if (options['by-shape'] !== undefined) {
  const attacks = attacksOf(files, Number(options['by-shape']), settings)
  console.log(`${attacks.length} attacks`)
  process.exit(scoreShapes(attacks, settings) ? 0 : 1)
}
for (const file of files) {
  const name = basename(file, '.jsonl')
  const tally = new Tally()
  const patterns = new Map<string, number>()
  for await (const json of createInterface({ input: createReadStream(file) })) {
    if (json.trim() === '') continue
    const { text, label, source } = JSON.parse(json) as Line
    const finding = blockedBy(text, settings, speaker)
    tally.add(name, finding !== null)
    if (options['by-source']) tally.add(`${name} / ${source}`, finding !== null)
    const pattern = finding?.replace(/:.*/s, '')
    if (pattern !== undefined) patterns.set(pattern, (patterns.get(pattern) ?? 0) + 1)
    const isWrong = (finding !== null) !== (label === 1)
    if ((options.show === 'wrong' && isWrong) || (options.show === 'blocked' && finding !== null))
      console.log(
        `${source}: ${text.slice(0, SHOWN_CHARACTERS).replaceAll('\n', ' ')} [${finding ?? 'passed'}]`,
      )
  }
  tally.print()
  if (options.patterns)
    for (const [pattern, count] of [...patterns].sort((a, b) => b[1] - a[1]))
      console.log(`    ${String(count).padStart(6)} ${pattern}`)
}
