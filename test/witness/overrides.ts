import { readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fromRoot } from '../../core/system/root.ts'
import { isOutside, judgeShape } from './judge-shape.ts'
import {
  hashOfShapes,
  type OverrideRecord,
  readRanges,
  type ServerRecord,
  writeRanges,
} from './override-record.ts'
import { OVERRIDE_SERVERS, startWitness, type WitnessServer } from './override-servers.ts'
import { overrideShapes } from './override-shapes.ts'
import { sendShape } from './send-shape.ts'

/**
 * Sends thousands of requests that may be read as another call to real frameworks, and holds our decision to what they
 * made of them: each shape that any of them takes for a call outside of the scope must be refused. A framework that is
 * not on this machine is named and skipped; its part of the record stays.
 *
 *     node cli/prepare.mjs build && node dist/test/witness/overrides.js [--record] [server ...]
 */
const RECORD = fromRoot('test', 'witness', 'overrides.json')
const FOLDER = process.env['AGW_WITNESS_DIR'] ?? join(tmpdir(), 'agw-witness')
const AT_A_TIME = 8
const SHOWN_LIMIT = 20

const words = process.argv.slice(2).filter((word) => !word.startsWith('--'))
const isRecording = process.argv.includes('--record')
const shapes = overrideShapes()
const shapes_sha256 = hashOfShapes(shapes)
const known = readRecord()
const servers: Record<string, ServerRecord> =
  known?.shapes_sha256 === shapes_sha256 ? { ...known.servers } : {}
const refused = shapes.map((shape) => judgeShape(shape) !== 'allowed')
let misses = 0

for (const server of OVERRIDE_SERVERS) {
  if (words.length > 0 && !words.includes(server.name)) continue
  const version = versionOf(server)
  if (version === null) {
    console.log(`${server.name.padEnd(12)} is not on this machine: ${server.needs}`)
    continue
  }
  const places = await overriddenBy(server)
  const through = places.filter((place) => !refused[place])
  misses += through.length
  console.log(
    `${server.name.padEnd(12)} took ${String(places.length).padStart(5)} of ${shapes.length} for another call; ${through.length} would pass (${version})`,
  )
  for (const place of through.slice(0, SHOWN_LIMIT))
    console.log(`  ${place} ${JSON.stringify(shapes[place])}`)
  const read = { version, count: places.length, overridden: writeRanges(places) }
  if (!isRecording) compare(server.name, read)
  servers[server.name] = read
}
const read = new Set(Object.values(servers).flatMap(({ overridden }) => readRanges(overridden)))
console.log(
  `${read.size} shapes are overrides to some framework; ${refused.filter(Boolean).length} of ${shapes.length} are refused`,
)
if (isRecording) {
  const record: OverrideRecord = { shapes_sha256, shapes: shapes.length, servers }
  writeFileSync(RECORD, `${JSON.stringify(record, null, 2)}\n`)
}
if (misses > 0) process.exitCode = 1

async function overriddenBy(server: WitnessServer): Promise<readonly number[]> {
  const { port, stop } = await startWitness(server, FOLDER)
  try {
    const outside: number[] = []
    let next = 0
    const work = async (): Promise<void> => {
      for (let place = next++; place < shapes.length; place = next++) {
        const shape = shapes[place]
        if (shape !== undefined && isOutside(shape, await sendShape(port, shape)))
          outside.push(place)
      }
    }
    await Promise.all(Array.from({ length: AT_A_TIME }, work))
    return outside.sort((a, b) => a - b)
  } finally {
    await stop()
  }
}

function compare(name: string, { overridden }: ServerRecord): void {
  if (known?.shapes_sha256 !== shapes_sha256)
    return console.log('  the record is of other shapes: run this with --record')
  const before = known.servers[name]?.overridden
  if (before !== undefined && before !== overridden)
    console.log('  the record says otherwise: another version? Run this with --record')
}

function versionOf(server: WitnessServer): string | null {
  try {
    return server.version()
  } catch {
    return null
  }
}

function readRecord(): OverrideRecord | null {
  try {
    return JSON.parse(readFileSync(RECORD, 'utf8'))
  } catch {
    return null
  }
}
