import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { parseArgs } from 'node:util'
import { fromRoot } from '../core/system/root.ts'
import { loadDuring } from '../test/kit/load-during.ts'
import { startAll, stopAll } from '../test/kit/shared-stack.ts'

/**
 * `npm run bench -- rolling-restart [--calls 20000] [--rate 200] [--workers 2] [--streams 8] [--stream-s 8]`: runs
 * `agw restart` again and again under short calls at a fixed rate, event streams, kills and reads of the admin API, and prints
 * what failed.
 */
const { values } = parseArgs({
  options: {
    calls: { type: 'string', default: '20000' },
    rate: { type: 'string', default: '200' },
    workers: { type: 'string', default: '2' },
    streams: { type: 'string', default: '8' },
    'stream-s': { type: 'string', default: '8' },
  },
})
const rate = Math.min(Number(values.rate), 1000)
const least_ms = (Math.min(Number(values.calls), 1_000_000) / rate) * 1000

const stack = await startAll({ AGW_EXT_PROC_WORKERS: values.workers })
let restarts = 0

async function restart(): Promise<void> {
  const child = spawn(process.execPath, [fromRoot('dist', 'cli', 'bin.js'), 'restart'], {
    env: { PATH: process.env['PATH'], AGW_DATA_DIR: stack.dataDir },
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  const [code] = (await once(child, 'exit')) as [number | null]
  if (code !== 0) throw new Error(`agw restart ended with ${code}`)
  restarts++
}

async function restarting(): Promise<void> {
  const began_ms = performance.now()
  while (performance.now() - began_ms < least_ms) await restart()
}

const result = await loadDuring(stack, restarting(), {
  rate,
  streams: Number(values.streams),
  stream_ms: Number(values['stream-s']) * 1000,
})
process.stdout.write(`${JSON.stringify({ restarts, ...result }, null, 2)}\n`)
await stopAll(stack)
