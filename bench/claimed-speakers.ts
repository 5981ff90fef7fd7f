import { readFileSync } from 'node:fs'
import type { Speaker } from '../core/model.ts'
import { CONVERSATIONS } from '../test/kit/conversations.ts'
import { minimalPairs } from '../test/kit/minimal-pairs.ts'
import { scanCall } from '../test/kit/scan-call.ts'

/**
 * The same attacks in the words of each speaker of each API: how many are blocked at the API itself, and how many where the same body
 * is sent to an API that is no model. The latter must be all, or a role would be believed that a request only claims.
 *   node dist/bench/claimed-speakers.js [--list] [FILE.jsonl …]
 * `--list` prints what passes in the words of operators, models and tool descriptions. Without files, the attacks are those of the tests.
 */

const ATTACKS = 300
const ELSEWHERE = '/notes'

const files = process.argv.slice(2).filter((argument) => argument !== '--list')
const isListing = process.argv.includes('--list')
const read = (file: string): string[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as { readonly text: string; readonly label: number })
    .flatMap(({ text, label }) => (label === 1 ? [text] : []))
const sources =
  files.length > 0
    ? files
    : ['first', 'second', 'third'].map((set) => `bench/corpus/languages/${set}.jsonl`)
const texts = [
  ...(files.length > 0 ? [] : minimalPairs().map(([attack]) => attack)),
  ...sources.flatMap(read),
]
const attacks = texts
  .filter((text) => scanCall({ text }, { path: ELSEWHERE }).blocked)
  .slice(0, ATTACKS)

console.log(`${attacks.length} attacks that are blocked as the text of a user, at medium`)
console.log('shape               speaker            blocked at its API   elsewhere')
let missed = 0
const passed = new Map<Speaker, Set<string>>()
for (const [shape, { path, says }] of Object.entries(CONVERSATIONS))
  for (const [speaker, say] of Object.entries(says) as [Speaker, (text: string) => unknown][]) {
    const at = (where: string) =>
      attacks.filter((attack) => scanCall(say(attack), { path: where }).blocked)
    const own = at(path)
    const elsewhere = at(ELSEWHERE)
    missed += attacks.length - elsewhere.length
    const left = passed.get(speaker) ?? new Set()
    for (const attack of attacks) if (!own.includes(attack)) left.add(attack)
    passed.set(speaker, left)
    console.log(
      `${shape.padEnd(20)}${speaker.padEnd(20)}${String(own.length).padStart(17)}${String(elsewhere.length).padStart(12)}`,
    )
  }
console.log(`passed by a role that is only claimed: ${missed}`)
if (isListing)
  for (const [speaker, left] of passed)
    for (const attack of left) console.log(`${speaker}: ${JSON.stringify(attack)}`)
if (missed > 0) process.exitCode = 1
