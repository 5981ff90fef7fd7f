import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { editBytes } from '../../core/request/edit-bytes.ts'
import {
  type FoundAgentId,
  findFormAgentId,
  findJsonAgentId,
} from '../../core/request/find-agent-id.ts'
import { type JsonRpcMessage, readJsonRpc } from '../../core/mcp/read-json-rpc.ts'
import { skipSpace, skipStart } from '../../core/request/json-lexis.ts'
import { skipValue } from '../../core/request/walk-json.ts'
import { repetitions } from '../kit/repetitions.ts'

const outcome = (body: string, found: FoundAgentId): string[] =>
  found.kind === 'found'
    ? [found.agent_id, editBytes(Buffer.from(body), found.cut).toString()]
    : [found.kind]

test('agent_id is cut from a JSON body with one comma, and every other byte stays', () => {
  const rows: [body: string, agent_id: string, rest: string][] = [
    ['{"agent_id":"a"}', 'a', '{}'],
    ['{ "agent_id" : "a" }', 'a', '{  }'],
    ['{"agent_id":"a","b":1}', 'a', '{"b":1}'],
    ['{"b":1,"agent_id":"a"}', 'a', '{"b":1}'],
    ['{"b":1 , "agent_id" : "a" }', 'a', '{"b":1   }'],
    ['{"b":1, "agent_id":"a" , "c":2}', 'a', '{"b":1,   "c":2}'],
    ['\ufeff \n{"agent_id":"a"}\r\n', 'a', '\ufeff \n{}\r\n'],
    ['{"\\u0061gent\\u005fid":"\\u0061\\"\\n"}', 'a"\n', '{}'],
    ['{"agent_id":"","b":[]}', '', '{"b":[]}'],
    [
      '{"n":1.0e+5,"n":12345678901234567890,"agent_id":"a","s":"\\u00fc ü 😀"}',
      'a',
      '{"n":1.0e+5,"n":12345678901234567890,"s":"\\u00fc ü 😀"}',
    ],
    [
      '{"x":{"agent_id":"b"},"agent_id":"a","y":[{"agent_id":"c"}]}',
      'a',
      '{"x":{"agent_id":"b"},"y":[{"agent_id":"c"}]}',
    ],
    [
      '{"s":"\\",\\"agent_id\\":\\"b\\"","agent_id":"a"}',
      'a',
      '{"s":"\\",\\"agent_id\\":\\"b\\""}',
    ],
  ]
  for (const [body, agent_id, rest] of rows)
    assert.deepEqual(
      [body, ...outcome(body, findJsonAgentId(Buffer.from(body)))],
      [body, agent_id, rest],
    )
})

test('an agent_id that does not name the agent is left unchanged', () => {
  const bodies = [
    '',
    '{}',
    '[]',
    '"agent_id"',
    '[{"agent_id":"a"}]',
    '{"b":{"agent_id":"a"}}',
    '{"Agent_id":"a"}',
    '{"agent_id ":"a"}',
    '{"agent_id":5}',
    '{"agent_id":null}',
    '{"agent_id":{"agent_id":"a"}}',
    '{"agent_id":["a"]}',
    '{"agent_id":"a"',
    '{"agent_id":"a",}',
    '{"agent_id":"a"} x',
    '{"agent_id":"a"}{}',
    "{'agent_id':'a'}",
    '{agent_id:"a"}',
    '{"agent_id":"a\n"}',
    '{"agent_id":"\\x"}',
    '{"agent_id":"a","b":01}',
    '{"agent_id":"a","b":NaN}',
    '{"agent_id":"a" "b":1}',
    '{"agent_id""a"}',
    '\u00a0{"agent_id":"a"}',
    `${'{"a":'.repeat(100_001)}1${'}'.repeat(100_001)}`,
  ]
  for (const body of bodies)
    assert.deepEqual(
      [body.slice(0, 60), findJsonAgentId(Buffer.from(body)).kind],
      [body.slice(0, 60), 'none'],
    )
  assert.equal(findJsonAgentId(Buffer.from('{"agent_id":"a"}', 'utf16le')).kind, 'none')
})

test('threat 12: two top-level agent_id are ambiguous, however they are spelled and whatever they hold', () => {
  for (const body of [
    '{"agent_id":"a","agent_id":"a"}',
    '{"agent_id":"a","b":1,"\\u0061gent_id":"b"}',
    '{"agent_id":"a","agent_id":5}',
    '{"agent_id":null,"agent_id":{}}',
  ])
    assert.equal(findJsonAgentId(Buffer.from(body)).kind, 'ambiguous', body)
})

/** JSON text with random spacing and escapes, as a list of members so that names may repeat. */
const space = fc.string({ unit: fc.constantFrom(' ', '\n', '\t', '\r'), maxLength: 2 })
const escaped = fc
  .array(
    fc.tuple(
      fc.constantFrom('a', 'g', '"', '\\', '/', 'ü', '😀', '\u2028', '\u0007', '}', ','),
      fc.boolean(),
    ),
    { maxLength: 5 },
  )
  .map((units) => units.map(([unit, isEscaped]) => spell(unit, isEscaped)).join(''))
const spell = (unit: string, isEscaped: boolean): string =>
  isEscaped
    ? unit
        .split('')
        .map((c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)
        .join('')
    : JSON.stringify(unit).slice(1, -1)
const number = fc.constantFrom('0', '-0', '1.50', '1e5', '-2.0E-10', '12345678901234567890', '0.1')
const { value } = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.oneof(
      number,
      fc.constantFrom('true', 'false', 'null'),
      escaped.map((text) => `"${text}"`),
    ),
    fc
      .array(fc.tuple(space, tie('value'), space), { maxLength: 3 })
      .map((items) => `[${items.map((item) => item.join('')).join(',') || ' '}]`),
    fc
      .array(
        fc.tuple(
          space,
          fc.oneof(escaped, fc.constant('agent_id')),
          space,
          space,
          tie('value'),
          space,
        ),
        { maxLength: 3 },
      )
      .map(
        (items) =>
          `{${items.map(([a, key, b, c, v, d]) => `${a}"${key}"${b}:${c}${v}${d}`).join(',')}}`,
      ),
  ),
}))
const key = escaped.filter((text) => JSON.parse(`"${text}"`) !== 'agent_id')
const member = fc
  .tuple(space, key, space, space, value, space)
  .map(([a, k, b, c, v, d]) => [a, `"${k}"${b}:${c}${v}`, d] as const)
const agentIdKey = fc.array(fc.boolean(), { minLength: 8, maxLength: 8 }).map((flags) =>
  'agent_id'
    .split('')
    .map((c, i) => spell(c, flags[i] ?? false))
    .join(''),
)
const agentMember = fc
  .tuple(space, agentIdKey, space, space, escaped, space)
  .map(([a, k, b, c, v, d]) => ({
    parts: [a, `"${k}"${b}:${c}"${v}"`, d] as const,
    agent_id: String(JSON.parse(`"${v}"`)),
  }))

test('cutting agent_id equals writing the document without it', () => {
  fc.assert(
    fc.property(
      fc.array(member, { maxLength: 4 }),
      fc.array(member, { maxLength: 4 }),
      agentMember,
      space,
      (before, after, own, tail) => {
        const write = (members: readonly string[]) => `${tail}{${members.join(',')}}${tail}`
        const text = (m: readonly [string, string, string]) => m.join('')
        const body = Buffer.from(write([...before.map(text), text(own.parts), ...after.map(text)]))
        const found = findJsonAgentId(body)
        assert.ok(found.kind === 'found')
        assert.equal(found.agent_id, own.agent_id)
        // The white space of the cut member stays, on the side where no comma was cut.
        const gap = own.parts[0] + own.parts[2]
        const [first, ...others] = after.map(text)
        const [last, ...earlier] = before.map(text).reverse()
        const expected =
          first !== undefined
            ? write([...before.map(text), gap + first, ...others])
            : last !== undefined
              ? write([...earlier.reverse(), last + gap])
              : write([gap])
        const rest = editBytes(body, found.cut).toString()
        assert.equal(rest, expected)
        JSON.parse(rest)
      },
    ),
    { numRuns: repetitions(300) },
  )
})

test('the walker takes exactly what JSON.parse takes', () => {
  const damaged = fc
    .tuple(
      value,
      fc.nat(),
      fc.constantFrom('', '"', ',', '{', ']', '0', '\\', ' ', 'e', '.', '-', '\u0001'),
    )
    .map(([text, at, insert]) => {
      const i = at % (text.length + 1)
      return text.slice(0, i) + insert + text.slice(i + (at % 2))
    })
  const parses = (text: string): boolean => {
    try {
      JSON.parse(text)
      return true
    } catch {
      return false
    }
  }
  fc.assert(
    fc.property(fc.oneof(value, damaged), (text) => {
      const body = Buffer.from(text)
      const end = skipValue(body, skipStart(body))
      assert.equal(end >= 0 && skipSpace(body, end) === body.length, parses(text), text)
    }),
    { numRuns: repetitions(1_500) },
  )
})

test('agent_id is cut from a form body with one ampersand', () => {
  const rows: [body: string, ...expected: string[]][] = [
    ['agent_id=x', 'x', ''],
    ['a&agent_id=x&b', 'x', 'a&b'],
    ['agent_id=x&b=%zz+', 'x', 'b=%zz+'],
    ['b=1&agent_id=x', 'x', 'b=1'],
    ['b=1&&agent_id=x&&c', 'x', 'b=1&&&c'],
    ['%61gent%5Fid=a%20b+c&d', 'a b c', 'd'],
    ['agent_id&b', '', 'b'],
    ['agent_id=&b', '', 'b'],
    ['agent_id=a=b', 'a=b', ''],
    ['x=agent_id', 'none'],
    ['xagent_id=1&agent_id2=2&agent_i=3&=agent_id', 'none'],
    ['Agent_id=1', 'none'],
    ['', 'none'],
    ['agent_id=x&agent_id=x', 'ambiguous'],
    ['agent_id=x&a&agent%5fid', 'ambiguous'],
  ]
  for (const [body, ...expected] of rows)
    assert.deepEqual(
      [body, ...outcome(body, findFormAgentId(Buffer.from(body)))],
      [body, ...expected],
    )
})

test('cutting agent_id from a form leaves the other pairs as they were', () => {
  const pair = fc.string({
    unit: fc.constantFrom('a', '=', '%', '%61', 'gent_id', '+', 'ü'),
    maxLength: 5,
  })
  fc.assert(
    fc.property(fc.array(pair, { maxLength: 5 }), (pairs) => {
      const body = pairs.join('&')
      const named = pairs.filter((text) => new URLSearchParams(text).has('agent_id'))
      const [kind, rest] = outcome(body, findFormAgentId(Buffer.from(body)))
      if (named.length === 0) assert.equal(kind, 'none')
      else if (named.length > 1) assert.equal(kind, 'ambiguous')
      else assert.equal(rest, pairs.filter((text) => text !== named[0]).join('&'))
    }),
    { numRuns: repetitions(500) },
  )
})

const call = (id: string | null, tool: string | null): JsonRpcMessage => ({
  id,
  method: 'tools/call',
  is_tool_call: true,
  tool,
  uses: [],
})
const other = (id: string | null, method: string | null): JsonRpcMessage => ({
  id,
  method,
  is_tool_call: false,
  tool: null,
  uses: [],
})

test('the tools that a JSON-RPC body calls are found, alone and in a batch', () => {
  const rows: [body: string, kind: string, messages: JsonRpcMessage[]][] = [
    [
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":{"name":"x"}}}',
      'single',
      [call('1', 't')],
    ],
    [
      '{"params":{"arguments":{},"name":"t"},"method":"tools/call","id":"a\\u0062","jsonrpc":"2.0"}',
      'single',
      [call('"a\\u0062"', 't')],
    ],
    [' {"method":"tools\\/call","params":{"n\\u0061me":"\\u0074"}} ', 'single', [call(null, 't')]],
    ['\ufeff{"Method":"tools/call","PARAMS":{"Name":"t"}}', 'single', [call(null, 't')]],
    ['{"method":"tools/call","param\\u017f":{"name":"t"}}', 'single', [call(null, 't')]],
    ['{"method":"tools/call"}', 'single', [call(null, null)]],
    ['{"method":"tools/call","params":["t"],"id":null}', 'single', [call('null', null)]],
    ['{"method":"tools/call","params":{"name":5}}', 'single', [call(null, null)]],
    ['{"jsonrpc":"2.0","id":2,"method":"tools/list"}', 'single', [other('2', 'tools/list')]],
    [
      '{"jsonrpc":"2.0","method":"x","params":{"name":"a","name":"b"}}',
      'single',
      [other(null, 'x')],
    ],
    ['{"jsonrpc":"2.0","id":3,"result":{"method":"tools/call"}}', 'single', [other('3', null)]],
    [
      '[{"jsonrpc":"2.0","id":1,"method":"ping"}, 5, {"a":1}, {"jsonrpc":"2.0","method":"tools/call","params":{"name":"t"}}]',
      'batch',
      [other('1', 'ping'), call(null, 't')],
    ],
    [
      '[[{"jsonrpc":"2.0","id":1,"method":"ping"}],[[{"method":"tools/call","params":{"name":"t"}}]]]',
      'batch',
      [other('1', 'ping'), call(null, 't')],
    ],
  ]
  for (const [body, kind, messages] of rows)
    assert.deepEqual([body, readJsonRpc(Buffer.from(body))], [body, { kind, messages }])
})

test('a method that a lenient server may read as tools/call is a tool call', () => {
  const methods = [
    'Tools/Call',
    'TOOLS/CALL',
    ' tools/call ',
    'tools/call\\n',
    'tools/call\\u0000',
    'tools/call\\u0000/list',
    'tools\\u200b/call',
    '\\ufefftools/call',
    'tools/c\\u00adall',
    'ｔｏｏｌｓ／ｃａｌｌ',
    'tool\\u017f/call',
  ]
  for (const method of methods) {
    const read = readJsonRpc(Buffer.from(`{"id":1,"method":"${method}","params":{"name":"t"}}`))
    assert.ok(read.kind === 'single', method)
    assert.deepEqual(
      read.messages.map(({ is_tool_call, tool }) => [method, is_tool_call, tool]),
      [[method, true, 't']],
    )
  }
  for (const method of ['tools/callx', 'tools//call', 'tools/list', 'xtools/call', 'tools.call']) {
    const read = readJsonRpc(Buffer.from(`{"jsonrpc":"2.0","id":1,"method":"${method}"}`))
    assert.ok(read.kind === 'single' && !read.messages[0]?.is_tool_call, method)
  }
})

test('the tools that an answer to a sampling asks for are found', () => {
  const use = (name: string) => `{"type":"tool_use","id":"c","name":${name},"input":{"name":"x"}}`
  const rows: [body: string, uses: (string | null)[]][] = [
    [`{"jsonrpc":"2.0","id":1,"result":{"role":"assistant","content":${use('"t"')}}}`, ['t']],
    [
      `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","name":"n"},${use('"t"')},${use('"u"')}]}}`,
      ['t', 'u'],
    ],
    [
      `{"method":"tools/call","params":{"name":"x","inputResponses":{"k":{"content":[${use('"t"')}]}}}}`,
      ['t'],
    ],
    [
      `{"jsonrpc":"2.0","id":1,"method":"tasks/update","params":{"INPUTRESPONSES":{"k":{"content":${use('"t"')}}}}}`,
      ['t'],
    ],
    [`{"jsonrpc":"2.0","id":1,"result":{"content":{"name":"t","Type":"tool_use"}}}`, ['t']],
    [
      `{"jsonrpc":"2.0","id":1,"result":{"content":{"type":"tool\\u005fuse","n\\u0061me":"t"}}}`,
      ['t'],
    ],
    [`{"jsonrpc":"2.0","id":1,"result":{"content":${use('5')}}}`, [null]],
    [`{"jsonrpc":"2.0","id":1,"result":{"content":{"type":"tool_use"}}}`, [null]],
    [
      `{"jsonrpc":"2.0","id":1,"result":{"content":{"type":"tool_use","name":"t","name":"u"}}}`,
      ['t', 'u'],
    ],
    [
      `{"jsonrpc":"2.0","id":1,"result":{"content":{"type":"text","type":"tool_use","name":"t"}}}`,
      ['t'],
    ],
    [`{"jsonrpc":"2.0","id":1,"result":{"content":{"type":"text","name":"t"}}}`, []],
    [`{"jsonrpc":"2.0","id":1,"method":"x","params":{"arguments":${use('"t"')}}}`, []],
  ]
  for (const [body, uses] of rows) {
    const read = readJsonRpc(Buffer.from(body))
    assert.deepEqual([body, read.kind === 'single' && read.messages[0]?.uses], [body, uses])
  }
  const many = `{"jsonrpc":"2.0","id":1,"result":[${`${use('"t"')},`.repeat(1_001)}1]}`
  assert.equal(readJsonRpc(Buffer.from(many)).kind, 'unreadable')
})

test('a body that is not JSON-RPC is distinguished from one that a lenient reader might accept', () => {
  const rows: [body: string | Buffer, kind: string][] = [
    ['', 'other'],
    ['  ', 'other'],
    ['a=1', 'other'],
    ['--b\r\n', 'other'],
    ['"tools/cal"', 'other'],
    ['"tools/call"', 'unreadable'],
    ['method: tools/call\n', 'unreadable'],
    ['method: "tools\\x2fcall"\n', 'unreadable'],
    ['call=tools/list', 'other'],
    ['[]', 'other'],
    ['{"method":"card","id":1,"id":2,"params":{}}', 'other'],
    ['[{"method":"GET"}]', 'other'],
    ['[[1,2],[[[3]]]]', 'other'],
    ['1 2 3', 'other'],
    ['1 2\n{"method":"tools/call"}', 'unreadable'],
    [`${'['.repeat(12)}{"method":"tools/call"}${']'.repeat(12)}`, 'unreadable'],
    ['{"method":"tools/call",}', 'unreadable'],
    ['{"method":"tools/call","x":NaN}', 'unreadable'],
    ['{"a":1}\n{"method":"tools/call"}', 'unreadable'],
    ['{"method":"tools/call"', 'unreadable'],
    ["{'method':'tools/call'}", 'unreadable'],
    ['// {\n{"method":"tools/call"}', 'unreadable'],
    ['\u000b{"method":"tools/call"}', 'unreadable'],
    ['\u00a0{"method":"tools/call"}', 'unreadable'],
    [Buffer.from('{"method":"tools/call"}', 'utf16le'), 'unreadable'],
    [Buffer.from('\ufeff{"method":"tools/call"}', 'utf16le'), 'unreadable'],
    [Buffer.from('{"method":"tools/call"}', 'utf16le').swap16(), 'unreadable'],
    [`{"jsonrpc":"2.0","id":"${'a'.repeat(2_000)}"}`, 'unreadable'],
    [`[${'{"jsonrpc":"2.0"},'.repeat(1_000)}{"jsonrpc":"2.0"}]`, 'unreadable'],
    ['{"jsonrpc":"2.0","x":'.repeat(200_000), 'unreadable'],
  ]
  for (const [body, kind] of rows)
    assert.deepEqual(
      [body.slice(0, 40), readJsonRpc(Buffer.from(body)).kind],
      [body.slice(0, 40), kind],
    )
})

test('threat 12: duplicate members that decide are ambiguous, after unescaping and without case', () => {
  const rows: [body: string, member: string][] = [
    ['{"method":"ping","method":"tools/call"}', 'method'],
    ['{"method":"tools/call","m\\u0065thod":"ping"}', 'method'],
    ['{"method":"tools/call","Method":"ping"}', 'method'],
    ['{"jsonrpc":"2.0","method":"x","method":"y"}', 'method'],
    ['{"method":"tools/call","params":{},"params":{"name":"t"}}', 'params'],
    ['{"jsonrpc":"2.0","id":1,"id":2,"method":"x"}', 'id'],
    ['{"jsonrpc":"2.0","jsonrpc":"1.0","method":"x"}', 'jsonrpc'],
    // Strings of C end at a NUL.
    ['{"method":"ping","method\\u0000x":"tools/call"}', 'method'],
    ['{"method":"tools/call","method\\u0000":"ping"}', 'method'],
    [`{"method":"tools/call","method\\u0000${'x'.repeat(200)}":"ping"}`, 'method'],
    ['{"method":"tools/call"," Method ":"ping"}', 'method'],
    ['{"method":"tools/call","params":{"name":"a","name\\u0000":"b"}}', 'name'],
    ['{"params":{"name":"a","name":"b"},"method":"tools/call"}', 'name'],
    ['{"method":"tools/call","params":{"name":"a","Na\\u006de":"b"}}', 'name'],
    [
      '[{"jsonrpc":"2.0","method":"x"},{"method":"tools/call","params":{"name":"a","name":"a"}}]',
      'name',
    ],
  ]
  for (const [body, name] of rows)
    assert.deepEqual(
      [body, readJsonRpc(Buffer.from(body))],
      [body, { kind: 'ambiguous', member: name }],
    )
})

test('threat 13: a form with more pairs than any server reads is ambiguous', () => {
  const few = Buffer.from(`${'a=1&'.repeat(49_000)}agent_id=agt_1`)
  assert.equal(findFormAgentId(few).kind, 'found')
  const many = Buffer.from(`${'a=1&'.repeat(60_000)}agent_id=agt_1`)
  assert.equal(findFormAgentId(many).kind, 'ambiguous')
})
