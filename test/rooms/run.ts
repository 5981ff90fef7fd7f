import { register } from 'node:module'
import { setImmediate as turn } from 'node:timers/promises'
import type { Entered } from './analyse-rooms.ts'
import { analyseRooms } from './analyse-rooms.ts'
import { printRooms } from './print-rooms.ts'

// `npm run rooms`: follows a plain allowed GET from Envoy's first message to the last answer, and prints the folders that it enters.
// The call is the second one of its agent, with limit, scan and log as they are by default, on a faked stream and store.

register(new URL('./instrument.js', import.meta.url))
const entered: Entered[] = []
let isRecording = false
const notes = globalThis as { __entered?: (file: string) => void }
notes.__entered = (file) => {
  if (isRecording) entered.push(file)
}

const { openCalls } = await import('./open-calls.ts')
const { call, close } = openCalls()
await call()
await turn()
isRecording = true
await call()
await turn()
isRecording = false
close()

const rooms = analyseRooms(entered)
process.stdout.write(
  process.argv.includes('--json') ? `${JSON.stringify(rooms)}\n` : printRooms(rooms),
)
