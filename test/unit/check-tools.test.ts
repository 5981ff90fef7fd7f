import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SCOPE_DEFAULTS } from '../../core/catalogue/model.ts'
import { type CallChange, type Decided, decide, toldOf } from './decision-kit.ts'

const call = (name: unknown, id: unknown = 1): string =>
  JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: {} } })
const SEARCH = call('search')
const DROP = call('drop')
const NOTIFICATION = '{"jsonrpc":"2.0","method":"notifications/initialized"}'

/** A body, and what the tool check answers where only `search` is allowed. */
const BODIES: readonly (readonly [name: string, body: string, answer: string])[] = [
  ['an allowed tool', SEARCH, 'forward'],
  ['another tool', DROP, 'tools: mcp_tool_blocked tool_not_allowed'],
  [
    'another spelling of the allowed tool',
    call('Search'),
    'tools: mcp_tool_blocked tool_not_allowed',
  ],
  ['a tool without a name', call(null), 'tools: mcp_tool_blocked tool_not_allowed'],
  [
    'a name that readers may change',
    call('search\u200b'),
    'tools: mcp_tool_blocked tool_name_invalid',
  ],
  [
    'a name with more combining marks than any language has',
    call(`search${'\u0301'.repeat(31)}`),
    'tools: mcp_tool_blocked tool_name_invalid',
  ],
  ['a longer name than any', call('a'.repeat(513)), 'tools: mcp_tool_blocked tool_name_invalid'],
  ['a batch of allowed tools', `[${SEARCH},${NOTIFICATION}]`, 'forward'],
  ['a batch with another tool', `[${SEARCH},${DROP}]`, 'tools: mcp_tool_blocked tool_not_allowed'],
  ['two methods', DROP.replace('{', '{"method":"ping",'), 'tools: ambiguous_request method'],
  ['what a lenient reader takes for JSON', `${SEARCH}]`, 'tools: ambiguous_request json_rpc'],
  ['another method', '{"jsonrpc":"2.0","id":1,"method":"ping"}', 'forward'],
  ['JSON that is no message', '{"a":1}', 'forward'],
  ['text', 'hello', 'forward'],
  ['nothing', '', 'forward'],
]

for (const [name, body, answer] of BODIES)
  test(`${name}: ${answer}`, async () => {
    const { verdict, steps } = await decide({ body })
    assert.equal(toldOf(verdict), answer)
    if (answer === 'forward' && body !== '') assert.ok(steps.includes('tools pass'))
  })

test('an explicit denial wins over what is allowed', async () => {
  const { verdict } = await decide({
    body: SEARCH,
    scope: { mcp_tools: { allow: ['*'], deny: ['SEARCH'] } },
  })
  assert.equal(toldOf(verdict), 'tools: mcp_tool_blocked tool_denied')
})

const bodyOf = ({ verdict }: Decided): unknown => {
  assert.ok(verdict.kind === 'deny')
  return JSON.parse(String(verdict.denial.body))
}

test('a blocked call is answered as a result that says so, under its own id', async () => {
  const answer = bodyOf(await decide({ body: call('drop', 'a-7') })) as Record<string, any>
  assert.equal(answer['id'], 'a-7')
  assert.equal(answer['result'].isError, true)
  assert.match(
    answer['result'].content[0].text,
    /"drop" is blocked .* the API \(tool_not_allowed\)/,
  )
})

test('a long name is cut in the answer and in what is logged', async () => {
  const { verdict } = await decide({ body: call('x'.repeat(800)) })
  assert.ok(verdict.kind === 'deny')
  const { body, details, data = details } = verdict.denial
  const shown = `${'x'.repeat(255)}…`
  assert.match(String(body), new RegExp(`"${shown}\\\\"`))
  assert.deepEqual([details['tool_name'], data['tool_name']], [shown, shown])
})

test('a batch with one blocked call is answered whole: nothing of it was forwarded', async () => {
  const batch = `[${call('search', 1)},${NOTIFICATION},{"jsonrpc":"2.0","id":2,"method":"ping"},${call('drop', 3)}]`
  const answers = bodyOf(await decide({ body: batch })) as readonly Record<string, any>[]
  assert.deepEqual(
    answers.map(({ id, error, result }) => [id, error?.code ?? null, result?.isError ?? null]),
    [
      [1, null, true],
      [2, 403, null],
      [3, null, true],
    ],
  )
})

test('a blocked notification is answered without an id', async () => {
  const body = '{"jsonrpc":"2.0","method":"tools/call","params":{"name":"drop"}}'
  const answer = bodyOf(await decide({ body })) as Record<string, any>
  assert.equal(answer['id'], null)
  assert.equal(answer['error'].code, 403)
})

const MCP = { 'mcp-method': 'tools/call', 'mcp-name': 'search' }
/** Headers that mirror the body must agree with it, also where no tool is restricted. */
const HEADERS: readonly (readonly [name: string, change: CallChange, answer: string])[] = [
  ['that agree', { body: SEARCH, headers: MCP }, 'forward'],
  [
    'another method',
    { body: SEARCH, headers: { 'mcp-method': 'ping' } },
    'tools: ambiguous_request mcp-method',
  ],
  ['another tool', { body: DROP, headers: MCP }, 'tools: ambiguous_request mcp-name'],
  [
    'a name in two spellings',
    { body: SEARCH, headers: { ...MCP, mcp_name: 'search' } },
    'tools: ambiguous_request mcp-name',
  ],
  ['and no body', { body: '', headers: MCP }, 'tools: ambiguous_request mcp-method'],
  [
    'and a body that is no message',
    { body: '{}', headers: MCP },
    'tools: ambiguous_request mcp-method',
  ],
  [
    'and another charset',
    { body: SEARCH, headers: { ...MCP, 'content-type': 'application/json; charset=utf-7' } },
    'tools: ambiguous_request charset',
  ],
]

for (const mcp_tools of [SCOPE_DEFAULTS.mcp_tools, { allow: ['search'], deny: [] }])
  for (const [name, change, answer] of HEADERS)
    test(`headers ${name}, ${mcp_tools.allow.join()} allowed: ${answer}`, async () => {
      const { verdict } = await decide({ ...change, scope: { mcp_tools } })
      assert.equal(toldOf(verdict), answer)
      if (verdict.kind === 'deny')
        assert.equal(verdict.denial.json_rpc_code, answer.endsWith('charset') ? undefined : -32020)
    })

test('where no tool is restricted and no header mirrors the body, nothing is checked', async () => {
  const { verdict, steps } = await decide({
    body: DROP,
    scope: { mcp_tools: SCOPE_DEFAULTS.mcp_tools },
  })
  assert.equal(verdict.kind, 'forward')
  assert.ok(!steps.some((step) => step.startsWith('tools')))
})

/** A list of tools may come in the response, which is then read. */
const LISTS: readonly (readonly [name: string, change: CallChange, reads: boolean])[] = [
  ['a call of a tool', { body: SEARCH }, false],
  ['the list is asked for', { body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}' }, true],
  ['in another case', { body: '{"jsonrpc":"2.0","id":1,"method":"Tools/List"}' }, true],
  ['within a batch', { body: `[${SEARCH},{"jsonrpc":"2.0","id":2,"method":"tools/list"}]` }, true],
  ['a stream is opened', { method: 'GET', body: '' }, true],
  [
    'no tool is restricted',
    {
      body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
      scope: { mcp_tools: SCOPE_DEFAULTS.mcp_tools },
    },
    false,
  ],
]

for (const [name, change, reads] of LISTS)
  test(`${name}: the response ${reads ? 'is read for its tools' : 'is not read'}`, async () => {
    const { verdict } = await decide({ auth: { type: 'none' }, ...change })
    assert.ok(verdict.kind === 'forward')
    assert.equal(verdict.inspector.may_read_body, reads)
  })
