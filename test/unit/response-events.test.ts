import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compileToolGlob } from '../../core/policy/tool-glob.ts'
import { EventFilter } from '../../ext-proc/response/event-filter.ts'

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
