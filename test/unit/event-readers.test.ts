import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { EventSplitter, readEvent } from '../../core/request/event-stream.ts'
import { compileToolGlob } from '../../core/mcp/tool-glob.ts'
import { fromRoot } from '../../core/system/root.ts'
import { defaultSettings } from '../../core/scanner/default-settings.ts'
import { openStreamScanner } from '../../core/scanner/scan-stream.ts'
import { SearchBudget } from '../../core/scanner/text/search-budget.ts'
import { scanTexts } from '../../core/scanner/scan-texts.ts'
import { EventFilter } from '../../ext-proc/response/event-filter.ts'
import { EVENT_STREAMS } from '../kit/event-streams.ts'
import { repetitions, shareOf } from '../kit/repetitions.ts'

/** By stream: what real readers saw (`list`: the denied tool in a list; `attack`: its text), and which of them. */
const RECORD = JSON.parse(
  readFileSync(fromRoot('test', 'witness', 'events', 'readers.json'), 'utf8'),
) as Record<string, Record<string, string>>

const TOOLS = {
  allow: [[compileToolGlob('*')]],
  deny: [compileToolGlob('drop_*')],
  is_unrestricted: false,
}
const rows = Object.entries(EVENT_STREAMS).map(([name, text]) => {
  const seen = Object.keys(RECORD[name] ?? {}).join(' ')
  return {
    name,
    stream: Buffer.from(text),
    hasList: seen.includes('list'),
    hasAttack: seen.includes('attack'),
  }
})
const SIZES = [1, 3, 17, 100_000]
const piecesOf = (stream: Buffer, size: number): Buffer[] =>
  Array.from({ length: Math.ceil(stream.length / size) }, (_, at) =>
    stream.subarray(at * size, (at + 1) * size),
  )

test('the record has every stream', () => {
  assert.deepEqual(Object.keys(RECORD), Object.keys(EVENT_STREAMS))
  assert.ok(rows.filter(({ hasList }) => hasList).length > 30)
})

test('a denied tool that a real reader sees in a list is cut, or the stream is refused', () => {
  for (const [i, { name, stream, hasList }] of rows.entries())
    for (const size of shareOf(SIZES, i)) {
      const filter = new EventFilter(TOOLS)
      const pieces = piecesOf(stream, size)
      const out = pieces.map((piece, at) => filter.push(piece, at === pieces.length - 1))
      if (hasList && !out.includes(null))
        assert.doesNotMatch(out.join(''), /rop_b/, `${name} in pieces of ${size}`)
      if (!stream.includes('tools') && !hasList)
        assert.deepEqual(Buffer.concat(out.filter((one) => one !== null)), stream, name)
    }
})

test('an attack that a real reader sees is not let through', async () => {
  const settings = defaultSettings('medium')
  for (const [i, { name, stream }] of rows.filter(({ hasAttack }) => hasAttack).entries()) {
    for (const size of shareOf(SIZES, i)) {
      const scanner = openStreamScanner(
        { mode: 'block' },
        (texts) => scanTexts(texts, settings, new SearchBudget()),
        null,
      )
      const pieces = piecesOf(stream, size)
      let clean = 0
      let isCut = false
      for (const [at, piece] of pieces.entries()) {
        const verdict = await scanner.push(piece, at === pieces.length - 1)
        clean = verdict.clean_until_bytes
        isCut ||= verdict.cut === 'blocked'
      }
      assert.ok(isCut, `${name} in pieces of ${size}`)
      assert.ok(!stream.subarray(0, clean).includes('Ignore all'), name)
    }
  }
})

test('a stream in any pieces gives the same events, and no byte is lost', () => {
  const all = Buffer.concat(rows.map(({ stream }) => stream))
  const whole = new EventSplitter()
  const expected = [...whole.push(all), whole.take()]
  assert.deepEqual(Buffer.concat(expected), all)
  for (const size of [1, 2, 5, 64]) {
    const splitter = new EventSplitter()
    const events = piecesOf(all, size).flatMap((piece) => [...splitter.push(piece)])
    assert.deepEqual(Buffer.concat([...events, splitter.take()]), all)
    assert.equal(splitter.held_bytes, 0)
  }
})

test('an event in very many pieces costs no more than its length', () => {
  const splitter = new EventSplitter()
  const piece = Buffer.from('x')
  const count = repetitions(300_000)
  for (let i = 0; i < count; i++) assert.equal(splitter.push(piece).length, 0)
  assert.equal(splitter.held_bytes, count)
  assert.equal(splitter.push(Buffer.from('\n\n'))[0]?.length, count + 2)
})

test('an event is read as the standard says, and as readers do that drop marks of every line', () => {
  const list: [
    event: string,
    isFirst: boolean,
    data: string | null,
    unmarked: string | null,
    others: string[],
  ][] = [
    ['data: a\n\n', false, 'a', null, []],
    ['data:a\ndata:  b\ndata\ndata:\n\n', false, 'a\n b\n\n', null, []],
    ['id: 7\r\ndata: a\r\n: c\r\rretry: 5\n', false, 'a', null, ['id: 7', ': c', 'retry: 5']],
    ['\ufeffdata: a\n\n', true, 'a', null, []],
    ['\ufeffdata: a\n\n', false, null, 'a', ['\ufeffdata: a']],
    ['data: a\n\ufeffdata: b\n\n', true, 'a', 'a\nb', ['\ufeffdata: b']],
    ['event: x\n\n', false, null, null, ['event: x']],
    [
      ' data: a\nDATA: b\ndata : c\ndatax: d\n\n',
      false,
      null,
      null,
      [' data: a', 'DATA: b', 'data : c', 'datax: d'],
    ],
  ]
  for (const [event, isFirst, data, unmarked, others] of list) {
    const bytes = Buffer.from(event)
    assert.deepEqual(readEvent(bytes, 'utf8', isFirst), { data, unmarked, others })
    const raw = readEvent(bytes, 'latin1', isFirst)
    assert.deepEqual([raw.data, raw.unmarked], [data, unmarked])
  }
})
