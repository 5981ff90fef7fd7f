import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compileToolGlob } from '../../core/mcp/tool-glob.ts'
import { EventFilter } from '../../ext-proc/response/event-filter.ts'
import { filterTools } from '../../ext-proc/response/filter-tools.ts'

const tools = { allow: [[compileToolGlob('read_*')]], deny: [], is_unrestricted: false }
const list = (...names: string[]): string =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, result: { tools: names.map((name) => ({ name })) } })

/** Where an end of event is cut in two, an empty line more says nothing. */
const meaning = (text: string | undefined): string =>
  (text ?? '').replaceAll(/\r\n|\r/g, '\n').replaceAll(/\n{2,}/g, '\n\n')

test('an event stream is filtered alike in whatever pieces it comes', () => {
  for (const eol of ['\n', '\r\n', '\r']) {
    const events = [`id: 1${eol}data: ${list('read_a', 'drop_b')}${eol}${eol}`, `: hi${eol}${eol}`]
    const stream = Buffer.from(events.join('') + `data: ${list('drop_c')}`)
    const whole = new EventFilter(tools).push(stream, true)?.toString()
    assert.ok(whole?.includes('read_a') && !whole.includes('drop_'), whole)
    for (const size of [1, 2, 3, 5]) {
      const filter = new EventFilter(tools)
      let out = ''
      for (let at = 0; at < stream.length; at += size)
        out += filter.push(stream.subarray(at, at + size), at + size >= stream.length)?.toString()
      assert.equal(meaning(out), meaning(whole))
    }
  }
})

test('a list of tools behind a byte order mark is filtered too', () => {
  const event = Buffer.from(`\ufeffdata: ${list('read_a', 'drop_b')}\n\n`)
  const out = new EventFilter(tools).push(event, true)?.toString() ?? ''
  assert.ok(out.includes('read_a') && !out.includes('drop_b'), out)
})

test('a list that only a lenient client reads is not let through', () => {
  const lenient = [
    `{"result":{"tools":[{"name":"drop_b","x":NaN}]}}`,
    `{"result":{"tools":[{"name":"drop_b"},]}}`,
    `{"a":1} {"result":{"tools":[{"name":"drop_b"}]}`,
  ]
  for (const data of lenient) {
    assert.equal(filterTools(Buffer.from(data), tools).kind, 'unreadable', data)
    assert.equal(new EventFilter(tools).push(Buffer.from(`data: ${data}\n\n`), false), null, data)
  }
  const wide = Buffer.from(list('drop_b'), 'utf16le')
  assert.equal(filterTools(wide, tools).kind, 'unreadable')
  const lines = filterTools(Buffer.from(`${list('read_a')}\n${list('drop_b')}\n`), tools)
  assert.equal(lines.kind === 'filtered' && lines.body.includes('drop_b'), false)
  for (const harmless of ['<html>tools</html>', 'tools', '{"error": oops}', ''])
    assert.equal(filterTools(Buffer.from(harmless), tools).kind, 'unchanged', harmless)
})

test('a list of a revision with pages and caching is filtered, and marked as private', () => {
  const page = (more: string) =>
    `{"jsonrpc":"2.0","id":1,"result":{${more}"resultType":"complete","tools":[{"name":"read_a"},{"name":"drop_b"}],"nextCursor":"n","ttlMs":5,"cacheScope":"public"}}`
  const kept = (more: string) =>
    `{"jsonrpc":"2.0","id":1,"result":{${more}"resultType":"complete","tools":[{"name":"read_a"}],"nextCursor":"n","ttlMs":5,"cacheScope":"private"}}`
  const rows: [body: string, out: string | null][] = [
    [page(''), kept('')],
    [page('"cacheScope":"publi\\u0063",'), kept('"cacheScope":"private",')],
    // Another agent may be shown more, so a list of which nothing is cut is private as well.
    [
      '{"result":{"tools":[{"name":"read_a"}],"cacheScope":"public"}}',
      '{"result":{"tools":[{"name":"read_a"}],"cacheScope":"private"}}',
    ],
    [
      '{"result":{"cacheScope":"public","tools":[]}}',
      '{"result":{"cacheScope":"private","tools":[]}}',
    ],
    ['{"result":{"tools":[],"cacheScope":"private"}}', null],
    ['{"result":{"tools":[],"cacheScope":5}}', null],
    ['{"result":{"prompts":[],"cacheScope":"public"}}', null],
    ['{"result":{"resources":[{"name":"drop_b"}],"cacheScope":"public"}}', null],
    ['{"Result":{"Tools":[{"Name":"drop_b"}]}}', '{"Result":{"Tools":[]}}'],
    ['{"result":{"tools":[{"name":"read_\\u200b"}]}}', '{"result":{"tools":[]}}'],
    ['{"result":{"tools":[{"name":"read_a","name":"read_b"}]}}', '{"result":{"tools":[]}}'],
    [
      `[${page('')},{"result":{"tools":[{"name":"drop_b"}],"cacheScope":"public"}}]`,
      `[${kept('')},{"result":{"tools":[],"cacheScope":"private"}}]`,
    ],
  ]
  for (const [body, out] of rows) {
    const filtered = filterTools(Buffer.from(body), tools)
    const found = filtered.kind === 'filtered' ? filtered.body.toString() : filtered.kind
    assert.deepEqual([body, found], [body, out ?? 'unchanged'])
  }
})
