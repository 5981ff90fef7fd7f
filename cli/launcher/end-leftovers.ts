import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'
import { type DataDir, writeOwnFile } from './data-dir.ts'

const run = promisify(execFile)
const END_LIMIT_MS = 5_000
const POLL_MS = 50

const fileOf = (dataDir: DataDir): string => join(dataDir.path, 'children.json')

/** Records the running children, for the next start after a launcher that was killed. */
export function noteChildren(dataDir: DataDir, pids: ReadonlyMap<string, number>): void {
  writeOwnFile(fileOf(dataDir), JSON.stringify([...pids.values()]))
}

/**
 * Ends the processes that a killed launcher has left behind in this data directory. A pid may have been reused,
 * so only a process whose command line names this data directory is touched.
 */
export async function endLeftovers(dataDir: DataDir): Promise<number> {
  const pids = await leftovers(dataDir)
  for (const pid of pids) signal(pid, 'SIGTERM')
  const deadline = Date.now() + END_LIMIT_MS
  while ((await leftovers(dataDir)).length > 0 && Date.now() < deadline) await wait(POLL_MS)
  for (const pid of await leftovers(dataDir)) signal(pid, 'SIGKILL')
  return pids.length
}

async function leftovers(dataDir: DataDir): Promise<number[]> {
  const noted = readNoted(fileOf(dataDir))
  if (noted.length === 0) return []
  const { stdout } = await run('ps', ['-A', '-o', 'pid=,args=']).catch(() => ({ stdout: '' }))
  return stdout.split('\n').flatMap((line) => {
    const [, pid = '', args = ''] = /^\s*(\d+)\s+(.*)$/.exec(line) ?? []
    return noted.includes(Number(pid)) && args.includes(`${dataDir.path}/`) ? [Number(pid)] : []
  })
}

function readNoted(file: string): number[] {
  if (!existsSync(file)) return []
  try {
    const value: unknown = JSON.parse(readFileSync(file, 'utf8'))
    return Array.isArray(value) ? value.filter((pid): pid is number => Number.isInteger(pid)) : []
  } catch {
    return []
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch {
    // It has ended meanwhile.
  }
}
