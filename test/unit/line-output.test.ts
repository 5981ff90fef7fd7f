import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  closeSync,
  constants,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
} from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { LineOutput } from '../../core/system/line-output.ts'
import { tempFolder } from '../kit/temp-folder.ts'
import { until } from '../kit/until.ts'

const PIPE_BYTES = 64 << 10
const LINE = `${'x'.repeat(1_023)}\n`

function pipe(): { readonly fd: number; readonly read: () => string; readonly close: () => void } {
  const path = join(tempFolder('line-output'), 'pipe')
  execFileSync('mkfifo', [path])
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  const fd = openSync(path, 'w')
  const read = (): string => {
    const bytes = Buffer.alloc(4 << 20)
    let length = 0
    try {
      for (;;) {
        const got = readSync(reader, bytes, length, bytes.length - length, null)
        if (got === 0) break
        length += got
      }
    } catch {
      // Empty for now.
    }
    return bytes.toString('utf8', 0, length)
  }
  return { fd, read, close: () => closeSync(reader) }
}

test('lines that a reader has not read yet wait, in order, up to a bound; it is told how many are lost', async () => {
  const { fd, read, close } = pipe()
  const output = new LineOutput(fd, (lost) => `${lost} lost`)
  const count = (PIPE_BYTES >> 10) + 1_024 + 100
  for (let n = 0; n < count; n++) output.write(`${String(n).padStart(1_023)}\n`)
  let text = ''
  await until('what waited and the number of lost lines arrive', () => {
    text += read()
    return text.includes('lost\n')
  })
  const lines = text.trimEnd().split('\n')
  const lost = Number(/^(\d+) lost$/.exec(lines.at(-1) ?? '')?.[1])
  assert.equal(lines.length - 1 + lost, count)
  assert.ok(lost >= 90, String(lost))
  for (const [n, line] of lines.slice(0, -1).entries()) assert.equal(Number(line), n)
  output.write('next\n')
  assert.equal(read(), 'next\n')
  close()
  closeSync(fd)
})

test('a reader that is gone costs lines, and one that comes back is told how many', () => {
  const { fd, close } = pipe()
  const output = new LineOutput(fd, (lost) => `${lost} lost`)
  close()
  for (let n = 0; n < 3; n++) output.write(LINE)
  const file = execFileSync('readlink', [`/proc/${process.pid}/fd/${fd}`], { encoding: 'utf8' })
  const reader = openSync(file.trim(), constants.O_RDONLY | constants.O_NONBLOCK)
  output.write('next\n')
  const bytes = Buffer.alloc(PIPE_BYTES)
  assert.equal(bytes.toString('utf8', 0, readSync(reader, bytes)), 'next\n3 lost\n')
  closeSync(reader)
  closeSync(fd)
})

test('a full disk costs lines, and is tried again after a while only: its space is for kills', () => {
  let now_ms = 0
  const full = openSync('/dev/full', 'w')
  const before = descriptors()
  const output = new LineOutput(
    full,
    (lost) => `${lost} lost`,
    () => now_ms,
  )
  const own = descriptors().find((fd) => !before.includes(fd))
  assert.ok(own !== undefined)
  output.write('first\n')
  // From here on the same descriptor has space.
  closeSync(own)
  const path = join(tempFolder('line-output'), 'log')
  const opened = [openSync(path, 'a')]
  while (opened.at(-1) !== own) opened.push(openSync(path, 'a'))
  now_ms = 9_999
  output.write('second\n')
  assert.equal(readFileSync(path, 'utf8'), '')
  now_ms = 10_000
  output.write('third\n')
  assert.equal(readFileSync(path, 'utf8'), 'third\n2 lost\n')
  for (const fd of [full, ...opened]) closeSync(fd)
})

const descriptors = (): number[] =>
  readdirSync('/proc/self/fd')
    .map(Number)
    .filter((fd) => existsSync(`/proc/self/fd/${fd}`))
