import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TSchema } from 'typebox'
import { checkInput } from '../../admin/http/check-input.ts'
import { PATTERN_MESSAGE } from '../../admin/http/describe-problem.ts'
import { readBaseUrl } from '../../admin/integrations/read-base-url.ts'
import { ROUTES } from '../../admin/server/routes.ts'
import { webhookRoutes } from '../../admin/webhooks/webhook-routes.ts'

type Node = Readonly<Record<string, any>>

const routes = [...ROUTES, ...webhookRoutes]
/** What callers give: answers are made by us. A schema of several routes stands once. */
const given = [
  ...new Map(
    routes.flatMap(({ method, path, body, query }) =>
      [body, query].flatMap((schema) =>
        schema === undefined
          ? []
          : [
              [
                JSON.stringify(schema),
                { name: `${method} ${path}`, schema: schema as TSchema & Node },
              ],
            ],
      ),
    ),
  ).values(),
]

function nodesOf(schema: Node): Node[] {
  const below = [
    ...Object.values(schema['properties'] ?? {}),
    ...(schema['anyOf'] ?? []),
    ...(schema['items'] ? [schema['items']] : []),
  ] as Node[]
  return [schema, ...below.flatMap(nodesOf)]
}

/** Values that a schema does not take, for each of its members, and in lists. */
function wrongValues(schema: Node): unknown[] {
  if (schema['anyOf'])
    return [
      ...schema['anyOf'].flatMap((choice: Node) => wrongValues(choice)),
      { type: 'no-such-type' },
      5,
      [],
    ]
  switch (schema['type']) {
    case 'string':
      return [5, true, [], '', ' ', '\u0000', 'x'.repeat(10_000), 'ä b\n', '^[a-z]+$', '::']
    case 'integer':
    case 'number':
      return ['1', 1.5, -1e9, 1e12, true]
    case 'boolean':
      return ['true', 1]
    case 'array': {
      const items = wrongValues((schema['items'] as Node | undefined) ?? {})
      return ['x', {}, [], ...items.map((item) => [item]), Array(600).fill('a'), ['a', 'a']]
    }
    case 'object':
      return [
        [],
        'x',
        5,
        { 'no-such-member': 1 },
        ...Object.entries((schema['properties'] ?? {}) as Record<string, Node>).flatMap(
          ([name, member]) => [
            ...wrongValues(member).map((value) => ({ ...constants(schema), [name]: value })),
            constants(schema),
          ],
        ),
      ]
    default:
      return [5, 'x', null, {}]
  }
}

const distinct = (values: readonly unknown[]): Iterable<unknown> =>
  new Map(values.map((value) => [JSON.stringify(value), value])).values()

/** The literal members, which distinguish the alternatives. */
const constants = (schema: Node): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries((schema['properties'] ?? {}) as Record<string, Node>).flatMap(
      ([name, member]) => ('const' in member ? [[name, member['const']]] : []),
    ),
  )

const SENTENCE = /^(must|is|has) [A-Za-z0-9"][^^$\\[\]{}<>=]*$/

test('every message of a faulty request is in words, and holds no pattern and no term of JSON Schema', () => {
  const messages = new Set<string>()
  for (const { name, schema } of given)
    for (const value of distinct(wrongValues(schema))) {
      const checked = checkInput(schema, value)
      if (checked.ok) continue
      assert.ok(checked.issues.length > 0, name)
      for (const { message } of checked.issues) messages.add(message)
    }
  assert.ok(messages.size > 30, [...messages].join('\n'))
  for (const message of messages) {
    assert.match(message, SENTENCE)
    assert.doesNotMatch(
      message,
      /pattern|anyOf|constant|schema|instance|must be null|an allowed form/,
    )
  }
})

test('every member with a pattern describes it in words', () => {
  let patterns = 0
  for (const { name, schema } of given)
    for (const node of nodesOf(schema)) {
      if (typeof node['pattern'] !== 'string') continue
      patterns++
      assert.match(String(node[PATTERN_MESSAGE]), SENTENCE, `${name}: ${node['pattern']}`)
    }
  assert.ok(patterns > 20, String(patterns))
})

test('each invalid value has one error', () => {
  const route = routes.find(({ method, path }) => method === 'POST' && path === '/admin/agents')
  const rows = [
    [{ agent_name: '' }, ['/agent_name must not be empty']],
    [{ agent_name: ' ' }, ['/agent_name must have a visible character and no control characters']],
    [{ agent_name: 'x'.repeat(201) }, ['/agent_name must have at most 200 characters']],
    [{ agent_name: 5 }, ['/agent_name must be text']],
    [{}, ['/agent_name is missing']],
    [{ agent_name: 'a', agent_id: 'a b' }, [/^\/agent_id must be at most 128 letters, digits/]],
    [{ agent_name: 'a', metadata: [] }, ['/metadata must be an object']],
    [{ agent_name: 'a', more: 1 }, ['/more is not a known member']],
    ['x', [' must be an object']],
  ] as const
  for (const [value, expected] of rows) {
    const checked = checkInput(route?.body ?? assert.fail(), value)
    const issues = checked.ok ? [] : checked.issues.map(({ path, message }) => `${path} ${message}`)
    assert.equal(issues.length, expected.length, issues.join('\n'))
    for (const [i, text] of expected.entries())
      if (typeof text === 'string') assert.equal(issues[i], text)
      else assert.match(issues[i] ?? '', text)
  }
})

test('the error for an unusable base URL says why', () => {
  const rows = [
    ['https://api.example.com/v1?x=1', 'must have no query ("?")'],
    ['https://api.example.com/v1#x', 'must have no fragment ("#")'],
    ['https://user:pass@api.example.com', /^must have no user name or password/],
    ['api.example.com/v1', 'must begin with http:// or https://'],
    ['ftp://api.example.com', 'must begin with http:// or https://'],
    ['https:///v1', 'must have a host'],
    ['https://api.example.com:0/', /^has a port/],
    ['https://api.example.com:99999/', /^has a port/],
    ['https://127.1/', /^must have its IP address in canonical form/],
    ['https://a..b/', 'has a host name that is not valid'],
    ['https://api.example.com/a/../b', 'must have no "." or ".." segments'],
    ['https://api.example.com/a//b', /^must have no empty segment/],
    ['https://api.example.com/a b', 'must have no white space'],
    ['https://api.example.com/%zz', /^has a "%"/],
    ['https://api.example.com\\x', 'must have no backslash'],
  ] as const
  for (const [text, expected] of rows) {
    const read = readBaseUrl(text)
    const message = read.ok ? '' : read.issue.message
    if (typeof expected === 'string') assert.equal(message, expected, text)
    else assert.match(message, expected, text)
    assert.match(message, SENTENCE)
  }
})
