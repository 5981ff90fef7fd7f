import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ownLogLine, processLogLine } from '../../cli/launcher/process-log.ts'

const TIME = Date.UTC(2026, 10, 22, 23, 34, 27, 425)
const entry = (members: object): string => JSON.stringify({ level: 30, time: TIME, ...members })
const START = '2026-11-22T23:34:27.425Z'

const ROWS: readonly (readonly [what: string, line: string, text: string])[] = [
  [
    'an entry',
    entry({ service: 'ext-proc', edge_id: 'vm-1', address: 'unix:/run/a.sock', msg: 'serving' }),
    `${START} INFO  ext-proc-1: serving edge_id=vm-1 address=unix:/run/a.sock`,
  ],
  [
    'a value with a blank, a number, an object, and none',
    entry({ msg: 'x', a: 'b c', n: 7, o: { p: 'q' }, none: null, yes: true }),
    `${START} INFO  ext-proc-1: x a="b c" n=7 o={"p":"q"} yes=true`,
  ],
  ['a warning', entry({ level: 40, msg: 'x' }), `${START} WARN  ext-proc-1: x`],
  ['a level of its own', entry({ level: 35, msg: 'x' }), `${START} 35    ext-proc-1: x`],
  [
    'an error without its stack',
    entry({ level: 40, msg: 'x', err: { message: 'no reply', stack: 'Error: no reply\n at a' } }),
    `${START} WARN  ext-proc-1: x error="no reply"`,
  ],
  [
    'an error with its stack',
    entry({
      level: 50,
      msg: 'x',
      err: { message: 'gone', stack: 'Error: gone\n    at a\n    at b' },
    }),
    `${START} ERROR ext-proc-1: x error=gone\n      at a\n      at b`,
  ],
  [
    'what would steer a terminal',
    entry({ msg: 'a\u001b[2Jb\n2026', who: '\u202egnp', '\u001b]0;': 1 }),
    `${START} INFO  ext-proc-1: a?[2Jb?2026 who="\\u202egnp" ?]0;=1`,
  ],
  [
    'a value that looks like more members',
    entry({ msg: 'x', a: 'b c=d' }),
    `${START} INFO  ext-proc-1: x a="b c=d"`,
  ],
  [
    'a time beyond all dates',
    entry({ time: 9e15, msg: 'x' }),
    '9000000000000000 INFO  ext-proc-1: x',
  ],
  ['a line of Envoy', '[2026-11-22][warning] caught', 'ext-proc-1 | [2026-11-22][warning] caught'],
  ['a line that steers', 'a\u001b[2Jb', 'ext-proc-1 | a?[2Jb'],
  ['JSON that is no entry', '{"level":"high"}', 'ext-proc-1 | {"level":"high"}'],
  ['an entry that is cut off', '{"level":30,"ti', 'ext-proc-1 | {"level":30,"ti'],
  ['an empty line', '', 'ext-proc-1 | '],
]

for (const [what, line, text] of ROWS)
  test(`the log as text: ${what}`, () => {
    assert.equal(processLogLine('text', 'ext-proc-1', line), text)
  })

test('the log as JSON: each line is one value, and an entry stays as it is', () => {
  for (const [what, line] of ROWS) {
    const printed = processLogLine('json', 'envoy', line)
    assert.doesNotMatch(printed, /[\p{Cc}\p{Cf}]/u, what)
    const { level, time, service, msg } = JSON.parse(printed)
    if (line.startsWith('{"level":30,"time"') && line.endsWith('}'))
      assert.deepEqual(JSON.parse(printed), JSON.parse(line), what)
    if (line === 'a\u001b[2Jb') assert.deepEqual([level, service, msg], [30, 'envoy', line])
    assert.equal(typeof time, 'number', what)
  }
})

test('a line of the launcher itself', () => {
  const { time, ...entry } = JSON.parse(
    ownLogLine('json', 'warn', 'envoy exited\nwith 7', { n: 1 }),
  )
  assert.deepEqual(entry, { level: 40, service: 'agw', n: 1, msg: 'envoy exited\nwith 7' })
  assert.ok(Number.isSafeInteger(time))
  assert.match(
    ownLogLine('text', 'warn', 'envoy exited with 7'),
    /Z WARN {2}agw: envoy exited with 7$/,
  )
})
