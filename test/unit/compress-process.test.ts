import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { getPriority } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { gunzipSync, gzipSync } from 'node:zlib'
import { removeUnfinished } from '../../admin/audit/compress-hour.ts'
import { CompressProcess } from '../../admin/audit/compress-process.ts'
import { processStat } from '../../core/system/process-stat.ts'
import { tempFolder } from '../kit/temp-folder.ts'
import { until } from '../kit/until.ts'

const HOURS = ['2026-03-01T00.ndjson', '2026-03-01T01.ndjson'] as const
const never = new AbortController().signal
const LOWEST = 19

const compressor = new CompressProcess()
after(() => compressor.end())

/** Two hours, and the text of each. */
function hours(): { folder: string; texts: readonly string[] } {
  const folder = tempFolder('compress')
  const texts = HOURS.map((file) => {
    const lines = Array.from({ length: 2_000 }, () => randomBytes(60).toString('base64'))
    const text = `${lines.join('\n')}\n`
    writeFileSync(join(folder, file), text)
    return text
  })
  return { folder, texts }
}

/** A file that is never read to its end. */
function endless(): string {
  const folder = tempFolder('compress')
  assert.equal(spawnSync('mkfifo', [join(folder, HOURS[0])]).status, 0)
  return folder
}

/** The compressing processes that a process has started. */
const startedBy = (parent: number): number[] =>
  readdirSync('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && processStat(pid)?.parent === parent)
    .filter((pid) => commandOf(pid).startsWith('agw-compress'))

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1')
  } catch {
    return ''
  }
}

const compressing = (parent: number): Promise<number> =>
  until('a process compresses', () => startedBy(parent)[0])

test('files are compressed by one process of the lowest priority, also after one that is damaged', async () => {
  const { folder, texts } = hours()
  const damaged = hours().folder
  const bytes = gzipSync('a line\n')
  writeFileSync(join(damaged, `${HOURS[0]}.gz`), bytes.subarray(0, bytes.length - 6))
  await assert.rejects(compressor.compress(damaged, `${HOURS[0]}.gz`, never), {
    code: 'Z_BUF_ERROR',
  })
  await until('its process has ended', () => startedBy(process.pid).length === 0)
  const pids: number[] = []
  for (const file of HOURS) {
    await compressor.compress(folder, file, never)
    pids.push(...startedBy(process.pid))
  }
  const [pid = 0, ...others] = new Set(pids)
  assert.deepEqual(others, [])
  assert.equal(processStat(pid)?.niceness, Math.min(LOWEST, getPriority() + LOWEST))
  assert.equal(processStat(pid)?.session, pid)
  for (const thread of readdirSync(`/proc/${pid}/task`))
    assert.equal(getPriority(Number(thread)), Math.min(LOWEST, getPriority() + LOWEST))
  const compressed = HOURS.map((file) => readFileSync(join(folder, `${file}.gz`)))
  assert.deepEqual(
    compressed.map((bytes) => gunzipSync(bytes).toString()),
    texts,
  )
  assert.equal(readdirSync(folder).length, 4)
})

test('an hour that was removed meanwhile does not come back', async () => {
  const { folder } = hours()
  const running = compressor.compress(folder, HOURS[0], never)
  rmSync(join(folder, HOURS[0]))
  await assert.rejects(running, /was deleted|ENOENT/)
  await until('nothing of it is there', async () => {
    await removeUnfinished(folder)
    return readdirSync(folder).join() === HOURS[1]
  })
})

test('a stop ends it at once, and the file is as before', async () => {
  const { folder, texts } = hours()
  const stopped = new AbortController()
  const running = compressor.compress(folder, HOURS[0], stopped.signal)
  stopped.abort()
  await assert.rejects(running, { name: 'AbortError' })
  assert.equal(readFileSync(join(folder, HOURS[0]), 'utf8'), texts[0])
  await until('it has ended', () => startedBy(process.pid).length === 0)
  await removeUnfinished(folder)
  await compressor.compress(folder, HOURS[0], never)
  assert.deepEqual(readdirSync(folder).sort(), ['2026-03-01T00.index', `${HOURS[0]}.gz`, HOURS[1]])
})

test('a process that is killed is reported, and the next file has another', async () => {
  const own = new CompressProcess()
  const file = endless()
  // Before it is started: afterwards it may be one of them.
  const known = startedBy(process.pid)
  const running = own.compress(file, HOURS[0], never)
  running.catch(() => undefined)
  const pid = await until('another process compresses', () =>
    startedBy(process.pid).find((one) => !known.includes(one)),
  )
  process.kill(pid, 'SIGKILL')
  await assert.rejects(running, /2026-03-01T00\.ndjson ended: SIGKILL/)
  const { folder } = hours()
  await own.compress(folder, HOURS[0], never)
  own.end()
})

test('it ends with the process that started it', async () => {
  const module = new URL('../../admin/audit/compress-process.js', import.meta.url).href
  const code = `import { CompressProcess } from '${module}'
    await new CompressProcess().compress('${endless()}', '${HOURS[0]}', new AbortController().signal)`
  const parent = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: 'ignore' })
  const pid = await compressing(parent.pid ?? 0)
  parent.kill('SIGKILL')
  await until('it has ended', () => processStat(pid) === null || commandOf(pid) === '')
})
