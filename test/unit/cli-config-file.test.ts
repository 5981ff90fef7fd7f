import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { configAsYaml, dumpConfig } from '../../cli/config/dump-config.ts'
import { differences } from '../../cli/config/differences.ts'
import { nearestName } from '../../cli/config/nearest-name.ts'
import { partialEnvironment } from '../../cli/config/unknown-secrets.ts'
import { readConfig } from '../../cli/config/read-config.ts'
import { anyConfig, SECRETS } from '../kit/any-config.ts'
import { repetitions } from '../kit/repetitions.ts'

const problemsOf = (source: string, env = {}) =>
  readConfig(source, env).problems.map(
    ({ line, member, message }) => `${line} ${member} ${message}`,
  )

test('what is written as YAML is read as what the same JSON says', () => {
  fc.assert(
    fc.property(anyConfig, (config) => {
      const fromYaml = readConfig(configAsYaml(config), SECRETS)
      const fromJson = readConfig(JSON.stringify(config), SECRETS)
      assert.deepEqual(fromJson.problems, [])
      assert.deepEqual(fromYaml.problems, [])
      assert.deepEqual(fromYaml.entries, fromJson.entries)
    }),
    { numRuns: repetitions(50), examples: [[LINE_SEPARATOR_FIRST]] },
  )
})

/** `.` of a pattern does not match a line separator, so that a name which begins with one needs a pattern without it. */
const LINE_SEPARATOR_FIRST = {
  integrations: [],
  agents: [{ agent_name: '\u2028¡', agent_id: 'chosen-0', metadata: {} }],
  connections: [],
  scopes: [],
  webhooks: [],
}

test('the variables of a dump have names that nothing else has a meaning for', () => {
  const integrations = ['agw', 'openai', '~', '\u652f'].map((name, i) => ({
    integration_id: `int_${i}`,
    name,
    base_url: `https://x${i}.example.com`,
    auth: { type: 'basic', username_last4: 'abcd', password_last4: 'abcd' },
  }))
  const dumped = dumpConfig({ integrations, agents: [], connections: [], scopes: [], webhooks: [] })
  assert.deepEqual(
    dumped.integrations.map(({ auth }) => (auth as Record<string, unknown>)['username']),
    ['SECRET_AGW_USERNAME', 'OPENAI_USERNAME', 'SECRET_USERNAME', 'SECRET_USERNAME_2'].map(
      (name) => `\${${name}}`,
    ),
  )
})

test('an unknown member is named with its line, wherever it is, and hides no other error', () => {
  fc.assert(
    fc.property(anyConfig, fc.nat(), (config, at) => {
      const entries = Object.values(config).flat() as Record<string, unknown>[]
      const entry = entries[at % entries.length]
      fc.pre(entry !== undefined)
      entry['zz_odd'] = 1
      const text = configAsYaml({ ...config, agents: [...config.agents, {}] })
      const lines = text.split('\n')
      const found = readConfig(text, SECRETS).problems.map(({ line, message }) => ({
        line,
        message,
      }))
      assert.deepEqual(
        found.filter(({ message }) => message.startsWith('is not a known member')),
        [
          {
            line: lines.findIndex((line) => line.includes('zz_odd')) + 1,
            message: 'is not a known member',
          },
        ],
      )
      assert.equal(found.filter(({ message }) => message === 'is missing').length, 1)
    }),
    { numRuns: repetitions(30) },
  )
})

test('all errors of a file are reported at once, each with its line, its member and a hint', () => {
  const source = `
integrations:
  - name: openai
    base_url: https://api.openai.com/v1?x=1
    auth: {type: bearer, tokn: "\${KEY}"}
  - {name: stripe, base_url: https://api.stripe.com/v1, auth: {type: basic, username: u, password: sk_live_1}}
agents:
  - agent_name: bot
    status: active
  - agent_name: bot
  - agent_name: bot
scops: []
scopes:
  - name: chat
    agent: bot
    integration: openai
    rules: [{methods: [POST], paths: [chat]}]
    rate_limiting: {requests_per_minut: 60}
    injection_detection: {custom_patterns: "("}
webhooks:
  - {name: pager, url: "http://hooks.example.com/", events: [agent_kiled], secret: "\${1A}"}
  - 3
`
  const expected: readonly [line: number, member: string, message: RegExp][] = [
    [4, 'integrations[0].base_url', /must have no query/],
    [5, 'integrations[0].auth.token', /is missing/],
    [5, 'integrations[0].auth.tokn', /did you mean token\?/],
    [6, 'integrations[1].auth.username', /is a secret and must not be written here/],
    [6, 'integrations[1].auth.password', /is a secret and must not be written here/],
    [9, 'agents[0].status', /use agw kill and agw reactivate/],
    [12, 'scops', /did you mean scopes\?/],
    [11, 'agents[2].agent_name', /is used by an agent above/],
    [17, 'scopes[0].rules[0].paths[0]', /must begin with "\/"/],
    [18, 'scopes[0].rate_limiting.requests_per_minut', /did you mean requests_per_minute\?/],
    [19, 'scopes[0].injection_detection.custom_patterns', /must be a list/],
    [21, 'webhooks[0].url', /must begin with https/],
    [21, 'webhooks[0].events[0]', /must be one of /],
    [21, 'webhooks[0].secret', /which is not the name of an environment variable/],
    [22, 'webhooks[1]', /must be an object/],
  ]
  const { problems } = readConfig(source, {})
  for (const [line, member, message] of expected) {
    const found = problems.filter((problem) => problem.line === line && problem.member === member)
    assert.equal(found.length, 1, `${line} ${member}\n${problemsOf(source).join('\n')}`)
    assert.match(found[0]?.message ?? '', message)
  }
  assert.equal(problems.length, expected.length, problemsOf(source).join('\n'))
})

const odd: readonly [what: string, source: string, says: RegExp][] = [
  ['no YAML', 'agents: [', /^1  cannot be parsed: Flow sequence in block collection/],
  ['a member twice', 'agents: []\nagents: []', /^2  cannot be parsed: Map keys must be unique/],
  [
    'a text',
    'hello',
    /^1  must have sections: integrations, agents, connections, scopes, webhooks/,
  ],
  ['nothing', '', /^1  must have sections/],
  ['a section without a list', 'agents:\nscopes: []', /^1 agents must be a list; write \[\]/],
  [
    'aliases without end',
    `a: &a [1]\n${Array.from('bcdefgh')
      .map((c, i) => `${c}: &${c} [${`*${'abcdefg'[i]},`.repeat(9)}]`)
      .join('\n')}`,
    /Excessive alias count/,
  ],
]
for (const [what, source, says] of odd)
  test(`a file that holds ${what} is refused with a sentence`, () => {
    assert.match(problemsOf(source)[0] ?? '', says)
  })

test('a reference to a variable that is not set is an error, a text around references stays', () => {
  const source = (value: string): string =>
    JSON.stringify({
      integrations: [
        {
          name: 'a',
          base_url: 'https://a.example.com',
          auth: { type: 'header', name: 'authorization', value },
        },
      ],
    })
  const env = { A: 'one', B: 'two' }
  assert.match(
    problemsOf(source('${A} ${C}'), env)[0] ?? '',
    /requires C, not set in the environment/,
  )
  const { entries } = readConfig(source('Token ${A}:${B}'), env)
  assert.deepEqual(
    entries.map(({ wanted }) => wanted['auth']),
    [{ type: 'header', name: 'authorization', value: 'Token one:two' }],
  )
})

test('a secret that is not set is neither an error nor a difference for a command that only compares', () => {
  const source = JSON.stringify({
    integrations: [
      {
        name: 'new name',
        base_url: 'https://a.example.com',
        auth: { type: 'header', name: 'x-key', value: 'Token ${A}' },
      },
    ],
    webhooks: [
      { name: 'pager', url: '${URL}', secret: '${SECRET}', events: ['agent_killed'] },
      { name: 'open', url: 'https://hooks.example.com', secret: '${SET}', events: ['test'] },
    ],
  })
  const { env, missing } = partialEnvironment({ SET: 'short' })
  const { entries, problems } = readConfig(source, env)
  assert.deepEqual([...missing].sort(), ['A', 'SECRET', 'URL'])
  assert.deepEqual(
    problems.map(({ member }) => member),
    ['webhooks[1].events[0]'],
    'other errors are still found',
  )
  const [api, pager] = entries.map(({ wanted }) => wanted)
  const shown = {
    ...api,
    name: 'old name',
    auth: { type: 'header', name: 'x-key', value_last4: 'abcd' },
  }
  const membersOf = (kind: 'integrations' | 'webhooks', wanted: any, of: any, all = false) =>
    differences(kind, wanted, of, all).map(({ member }) => member)
  assert.deepEqual(membersOf('integrations', api, shown), ['name'])
  assert.deepEqual(membersOf('integrations', api, shown, true), ['name'])
  const moved = { ...shown, base_url: 'https://b.example.com' }
  assert.deepEqual(membersOf('integrations', api, moved), ['name', 'base_url', 'auth'])
  const stored = {
    name: 'pager',
    url: 'https://x.example.com/***',
    events: ['agent_killed'],
    format: 'standard',
    ca_certificates: null,
  }
  assert.deepEqual(membersOf('webhooks', pager, { ...stored, has_secret: true }, true), [])
  assert.deepEqual(membersOf('webhooks', pager, { ...stored, has_secret: false }), ['secret'])
  // Applying needs them all.
  assert.equal(readConfig(source, { SET: 'short' }).problems.length, 4)
})

test('a similar name is given as a hint, a different one is not', () => {
  assert.equal(nearestName('integratons', ['agents', 'integrations']), 'integrations')
  assert.equal(nearestName('name', ['agent_name', 'metadata']), 'agent_name')
  assert.equal(nearestName('colour', ['agent_name', 'metadata']), null)
})
