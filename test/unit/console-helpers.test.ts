import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import {
  type Client,
  inQuotes,
  reachableProxy,
  snippetsOf,
} from '../../core/catalogue/templates/snippets.ts'
import { fromRoot } from '../../core/system/root.ts'
import { tempFolder } from '../kit/temp-folder.ts'

// Modules of the console without a page. They are compiled by a project of their own, so they are imported as built.
const built = async (name: string): Promise<any> =>
  await import(fromRoot('dist', 'admin', 'console', `${name}.js`))
const { nearestRule } = await built('nearest-rule')
const { ruleOptions } = await built('rule-options')
const { curlOf } = await built('curl-of')
const { timeTicks } = await built('time-ticks')
const { unusualRefusals } = await built('unusual-refusals')
const words = await built('scope-words')
const { whyOf } = await built('why-of')
const { rateText } = await built('parts/flow-picture')
const { countOf } = await built('count-of')
const { agentActions, actionsNamed, verbOf } = await built('actions-named')

/** Compressed, without the style sheet. A page that is not seen first is loaded when it is asked for. */
const FIRST_VIEW_MAX_BYTES = 30_000

const scope = (scope_id: string, ...rules: [string, string][]) => ({
  scope_id,
  rules: rules.map(([method, path]) => ({ methods: [method], paths: [path] })),
})

test('the scripts of the first view are few bytes, and the page names all of them', () => {
  const bytesOf = (name: string): number =>
    readFileSync(fromRoot('dist', 'console', `${name}.br`)).length
  const page = readFileSync(fromRoot('dist', 'console', 'index.html'), 'utf8')
  const named = new Set(
    [...page.matchAll(/(?:src|rel="modulepreload" href)="\/dashboard\/([^"]+\.js)"/g)].map(
      ([, name = '']) => name,
    ),
  )
  const needed = new Set([...named].filter((name) => /^(?:main|preload)-/.test(name)))
  for (const name of needed)
    for (const [, found = ''] of readFileSync(fromRoot('dist', 'console', name), 'utf8').matchAll(
      /(?:from|import)"\.\/([^"]+)"/g,
    ))
      needed.add(found)
  assert.deepEqual([...named].toSorted(), [...needed].toSorted())
  const bytes = [...named].reduce((sum, name) => sum + bytesOf(name), 0)
  assert.ok(bytes > 10_000 && bytes < FIRST_VIEW_MAX_BYTES, `${bytes} bytes`)
})

test('the nearest rule is the one that shares most of the path, then the method', () => {
  const scopes = [
    scope('a', ['GET', '/models/**'], ['POST', '/chat/completions']),
    scope('b', ['GET', '/refunds/*'], ['*', '/refunds/*/lines']),
  ]
  const rows: readonly [string, string, string | null][] = [
    ['GET', '/models/x', 'a 0 nothing'],
    ['DELETE', '/models/x/y', 'a 0 method'],
    ['DELETE', '/models', 'a 0 method'],
    ['POST', '/chat/other', 'a 1 path'],
    ['GET', '/refunds/1', 'b 0 nothing'],
    ['POST', '/refunds/1', 'b 0 method'],
    ['PATCH', '/refunds/1/lines', 'b 1 nothing'],
    ['PATCH', '/refunds/1/other', 'b 1 path'],
    ['GET', '/unlike', 'a 0 path'],
  ]
  for (const [method, path, expected] of rows) {
    const found = nearestRule(scopes, method, path)
    const text = `${found.scope.scope_id} ${found.rule} ${found.missing}`
    assert.equal(text, expected, `${method} ${path}`)
  }
  assert.equal(nearestRule([scope('empty')], 'GET', '/'), null)
})

test('a long pattern of wildcards is compared in time that the product of the lengths bounds', () => {
  const pattern = `/${Array.from({ length: 200 }, () => '**/a').join('/')}`
  const path = `/${Array.from({ length: 400 }, () => 'a').join('/')}/b`
  assert.equal(nearestRule([scope('a', ['GET', pattern])], 'GET', path).missing, 'path')
})

test('the rules that are offered go from the path itself to everything next to it', () => {
  const paths = (path: string): string[] =>
    ruleOptions('GET', path).map(({ rule }: any) => rule.paths[0])
  assert.deepEqual(paths('/refunds/re_1'), ['/refunds/re_1', '/refunds/*', '/refunds/**'])
  assert.deepEqual(paths('/x'), ['/x', '/*', '/**'])
  assert.deepEqual(paths('/a/*'), ['/a/%2A', '/a/*', '/a/**'], 'a literal star is no wildcard')
})

test('the curl command is one argument per value, whatever the caller wrote', () => {
  const rows = [
    "/v1/it's",
    '/v1/$(id)',
    '/v1/`id`',
    '/v1/"x"',
    '/v1/a b',
    '/v1/\\',
    '/v1/;id',
    '/v1/%27',
  ]
  for (const endpoint of rows) {
    const command = curlOf('GET', 'https://api.example.com', endpoint)
    const { stdout } = spawnSync(
      'sh',
      ['-c', `curl() { printf '%s\\n' "$@"; }; AGW_PROXY_URL=http://p AGW_KEY=k; ${command}`],
      { encoding: 'utf8' },
    )
    assert.deepEqual(stdout.trimEnd().split('\n'), [
      '-ig',
      '-X',
      'GET',
      `http://p/https://api.example.com${endpoint}`,
      '-H',
      'Authorization: Bearer k',
    ])
  }
})

test('what a new agent is shown to paste is one argument per value, and asks the proxy where the page reaches it', () => {
  const agent_name = 'it\'s `id` $(id) "x" \\ ;id'
  const snippets = snippetsOf({
    proxy_url: reachableProxy('http://127.0.0.1:8080', 'gateway.example'),
    api_key: 'agw_live_1',
    agent_name,
    base_url: 'https://api.example.com',
    path: "/it's",
    template: '',
  })
  const printed = (name: Client, program: string): string[] => {
    const print = `${program}() { printf '%s\\n' "$@"; }; ${snippets[name]}`
    const { stdout } = spawnSync('sh', ['-c', print], { encoding: 'utf8' })
    return stdout.trimEnd().split('\n')
  }
  const url = "https://api.example.com/it's"
  const authorization = 'Authorization: Bearer agw_live_1'
  assert.deepEqual(printed('curl', 'curl'), [
    '-ig',
    `http://gateway.example:8080/${url}`,
    '-H',
    authorization,
  ])
  assert.deepEqual(printed('agw run', 'agw'), ['run', agent_name, '--', 'curl', '-ig', url])
  const { mcpServers } = JSON.parse(snippets['MCP client'])
  assert.equal(mcpServers.gateway.headers.Authorization, 'Bearer agw_live_1')
  const local = 'http://[::1]:8080'
  assert.equal(reachableProxy(`${local}/`, 'localhost'), local)
  assert.equal(reachableProxy('https://proxy.example', 'gateway.example'), 'https://proxy.example')
})

test('attack, names and addresses in a pasted snippet are data: no shell, no option, no list of URLs', () => {
  const names = [
    "'; touch pwned #",
    "\\'; touch pwned #",
    "\\\\'\\''; touch pwned; '",
    '$(touch pwned)`touch pwned`${HOME}',
    '"; touch pwned; "',
    '!!; !touch \u202E#\u2066 \u2028touch pwned',
    "it's \\",
    '--url=https://evil.example',
    '-c',
    '<img src=x onerror=1> ${7*7} {{7*7}}',
  ]
  const home = tempFolder('pasted')
  for (const agent_name of names) {
    const base_url = `https://api.example.com/[1-9]{a,b}/${agent_name}`
    const place = { proxy_url: "http://p/'$(touch pwned)", agent_name, path: '/x', template: 'mcp' }
    const snippets = snippetsOf({ ...place, api_key: `the key of ${agent_name}`, base_url })
    const run = (client: Client) => {
      const stubs = ['curl', 'agw', 'claude', 'codex']
        .map((name) => `${name}() { printf '%s\\0' "$@"; }`)
        .join('\n')
      const shown = '\nprintf "%s" "$AGW_KEY$ANTHROPIC_AUTH_TOKEN"'
      const options = { encoding: 'utf8', cwd: home, env: { PATH: process.env['PATH'] } } as const
      return spawnSync('sh', ['-c', `${stubs}\n${snippets[client]}${shown}`], options).stdout.split(
        '\0',
      )
    }
    const key = `the key of ${agent_name}`
    const url = `${place.proxy_url}/${base_url}/x`
    assert.deepEqual(run('curl').slice(0, 2), ['-ig', url])
    const isOption = agent_name.startsWith('-')
    const called = isOption ? ['--', agent_name] : [agent_name, '--']
    assert.deepEqual(run('agw run'), ['run', ...called, 'curl', '-ig', `${base_url}/x`, key])
    for (const client of ['Claude Code', 'Codex'] as const) assert.equal(run(client).at(-1), key)
    const setting = `model_providers.gateway={name="gateway",base_url=${JSON.stringify(`${place.proxy_url}/https://api.openai.com/v1`)},wire_api="responses",env_key="AGW_KEY"}`
    const codex = ['-c', 'model_provider=gateway', '-c', setting]
    assert.deepEqual(run('Codex').slice(0, -1), codex)
    const { gateway } = JSON.parse(snippets['MCP client']).mcpServers
    assert.deepEqual(gateway, {
      type: 'http',
      url: `${place.proxy_url}/${base_url}`,
      headers: { Authorization: `Bearer ${key}` },
    })
    // Python reads the strings of JSON.
    const [, strings = ''] =
      /^client = OpenAI\(base_url=([^\n]*)\)$/m.exec(snippets['OpenAI SDK']) ?? []
    assert.deepEqual(JSON.parse(`[${strings.replace('", api_key="', '","')}]`), [
      `${place.proxy_url}/https://api.openai.com/v1`,
      key,
    ])
    // Fish reads a backslash between single quotes as an escape.
    const single = inQuotes(agent_name).replaceAll(/"[^"]*"/g, (part) =>
      part === `"'"` || part === '"\\\\"' ? '' : part,
    )
    assert.doesNotMatch(single, /\\/)
  }
  assert.deepEqual(readdirSync(home), [])
})

test('refusals are out of the ordinary when an hour has far more of them than the hours before', () => {
  const week = (usual: number, ...last: number[]) => [
    ...Array.from({ length: 168 - last.length }, (_, hour) => usual + (hour % 3)),
    ...last,
  ]
  const rows: readonly [string, readonly number[], number, readonly number[]][] = [
    ['a burst in this hour', week(2, 500), 168, [500]],
    ['a burst in the hour before, while this one has only begun', week(2, 500, 0), 168, [500]],
    ['five times the usual number is not enough', week(99, 500), 168, []],
    ['more than five times', week(9, 100), 168, [100]],
    ['few refusals, however unusual', week(0, 19), 168, []],
    ['twenty where there were none', week(0, 20), 168, [20]],
    ['as it has been for many hours', week(1, ...Array.from({ length: 20 }, () => 400)), 168, []],
    ['a deployment of less than a day', week(0, 500), 23, []],
    ['a deployment of a day', week(0, 500), 24, [500]],
    ['nothing now', week(5, 0, 0), 168, []],
    ['no hours at all', [], 168, []],
  ]
  for (const [name, counts, active, expected] of rows) {
    const found = unusualRefusals([{ reason: 'permission_denied', counts }], active)
    assert.deepEqual(
      found.map(({ count }: { count: number }) => count),
      expected,
      name,
    )
  }
})

test('a scope is read aloud as sentences', () => {
  const rows: readonly [string, string][] = [
    [words.ruleWords({ methods: ['GET'], paths: ['/**'] }), 'GET on every path'],
    [
      words.ruleWords({ methods: ['GET'], paths: ['/**'], upgrade: ['websocket'] }),
      'GET, and WebSockets, on every path',
    ],
    [
      words.ruleWords({ methods: ['GET', 'POST'], paths: ['/a/*/b', '/c/**'] }),
      'GET and POST on /a/{any}/b and /c and everything below it',
    ],
    [words.ruleWords({ methods: ['*'], paths: ['/**/x'] }), 'Any method on /{any number}/x'],
    [words.ruleWords({ methods: [], paths: [] }), 'no method on no path'],
    [words.toolWords({ allow: [], deny: ['x'] }), 'No MCP tool may be called.'],
    [words.toolWords({ allow: ['*'], deny: [] }), 'All MCP tools may be called.'],
    [words.toolWords({ allow: ['*'], deny: ['x'] }), 'All MCP tools may be called except x.'],
    [
      words.toolWords({ allow: ['a', 'b'], deny: ['x'] }),
      'Only the MCP tools a and b may be called, except x.',
    ],
    [words.rateWords(rate(null)), 'No rate limit.'],
    [words.rateWords(rate(1)), 'At most 1 call per minute.'],
    [
      words.rateWords({ ...rate(600), auto_kill_on_sustained_violation: true }),
      'At most 600 calls per minute. A violation that lasts 5 minutes kills the agent.',
    ],
    [
      words.injectionWords(injection({ enabled: false, scan_responses: true })),
      'Requests and responses are not scanned.',
    ],
    [
      words.injectionWords(injection({})),
      'Requests are scanned; one with a critical or high finding is refused.',
    ],
    [
      words.injectionWords(
        injection({ scan_responses: true, auto_kill_on_critical: true, custom_patterns: ['a'] }),
      ),
      'Requests and responses are scanned; one with a critical or high finding is refused. A critical finding kills the agent. Patterns: 1 custom.',
    ],
    [
      words.injectionWords(injection({ mode: 'log', auto_kill_on_critical: true })),
      'Requests are scanned; one with a critical or high finding passes and is logged.',
    ],
    [
      words.anomalyWords({ enabled: false, alert_threshold: 0.7, auto_kill_threshold: 0.9 }),
      'Anomalies raise no alert.',
    ],
    [
      words.anomalyWords({ enabled: true, alert_threshold: 0.7, auto_kill_threshold: 1 }),
      'An alert at score 0.7, never a kill.',
    ],
    [
      words.anomalyWords({ enabled: true, alert_threshold: 0.7, auto_kill_threshold: 0.9 }),
      'An alert at score 0.7, a kill at 0.9.',
    ],
  ]
  for (const [found, expected] of rows) assert.equal(found, expected)
})

const rate = (requests_per_minute: number | null) => ({
  requests_per_minute,
  auto_kill_on_sustained_violation: false,
  violation_window_minutes: 5,
})

const injection = (changes: object) => ({
  enabled: true,
  mode: 'block',
  sensitivity: 'medium',
  custom_patterns: [],
  whitelist_patterns: [],
  disabled_patterns: [],
  auto_kill_on_critical: false,
  scan_responses: false,
  ...changes,
})

test('the command menu offers what the role may do, and to the agents that it can be done to', () => {
  const rank = ['viewer', 'operator', 'admin']
  const as =
    (mine: string) =>
    (role: string): boolean =>
      rank.indexOf(mine) >= rank.indexOf(role)
  const titles = (found: any[]): string[] => found.map(({ title }) => title)
  assert.deepEqual(titles(actionsNamed('CREATE', as('admin'))), ['Create an agent'])
  assert.deepEqual(titles(actionsNamed('create', as('operator'))), [])
  assert.ok(titles(actionsNamed('', as('viewer'))).every((title) => !/Create|Add/.test(title)))
  const agents = [
    { agent_id: 'agt_1', agent_name: 'a b', status: 'active' },
    { agent_id: 'agt_2', agent_name: 'b', status: 'killed' },
  ]
  const rows: readonly [string, string, string[]][] = [
    ['stop', 'operator', ['Stop a b …']],
    ['kill', 'operator', ['Stop a b …']],
    ['stop', 'viewer', []],
    ['reactivate', 'operator', []],
    ['reactivate', 'admin', ['Reactivate b …']],
    ['allow', 'admin', ['Allow a b to call an API', 'Allow b to call an API']],
    ['explain', 'viewer', ['Explain a call of a b', 'Explain a call of b']],
    ['constructor', 'admin', []],
  ]
  for (const [verb, role, expected] of rows)
    assert.deepEqual(titles(agentActions(verb, agents, as(role))), expected, `${verb} ${role}`)
  assert.deepEqual(verbOf(' Stop  a b '), { verb: 'stop', name: 'a b' })
  for (const text of ['stop', 'stop ', 'stopping a', 'a stop b', ''])
    assert.equal(verbOf(text), null)
})

test('the times below a chart are round, evenly apart, and not too many', () => {
  const zone = process.env['TZ']
  const HOUR_MS = 3_600_000
  try {
    // The last one has a change of the clock, on October 25.
    for (const [name, to] of [
      ['UTC', '2026-11-23T06:47:12Z'],
      ['Asia/Kolkata', '2026-11-23T06:47:12Z'],
      ['Europe/Berlin', '2026-10-27T06:47:12Z'],
    ] as const) {
      process.env['TZ'] = name
      const ticksOf = (hours: number): Date[] =>
        timeTicks(Date.parse(to) - hours * HOUR_MS, Date.parse(to), 8).map(
          (at_ms: number) => new Date(at_ms),
        )
      for (const [hours, days] of [
        [7 * 24, 1],
        [30 * 24, 5],
        [366 * 24, 60],
      ] as const) {
        const ticks = ticksOf(hours)
        assert.ok(ticks.length >= 6 && ticks.length <= 8, `${name} ${hours}: ${ticks.length}`)
        for (const [at, tick] of ticks.entries()) {
          assert.equal(tick.getHours() + tick.getMinutes(), 0)
          const next = new Date(tick)
          next.setDate(next.getDate() + days)
          assert.equal(ticks[at + 1]?.getTime() ?? next.getTime(), next.getTime())
        }
      }
      assert.deepEqual(
        ticksOf(24).map((tick) => tick.getHours() % 3),
        [0, 0, 0, 0, 0, 0, 0, 0],
      )
      for (const tick of ticksOf(1)) assert.equal(tick.getMinutes() % 10, 0)
      for (const tick of ticksOf(0.25)) assert.equal(tick.getMinutes() % 2, 0)
    }
  } finally {
    if (zone === undefined) delete process.env['TZ']
    else process.env['TZ'] = zone
  }
})

test('a number and its noun agree', () => {
  assert.deepEqual(
    [0, 1, 2, 1000].map((count) => countOf(count, 'call')),
    ['0 calls', '1 call', '2 calls', `${(1000).toLocaleString()} calls`],
  )
  assert.equal(countOf(1, 'entry', 'entries'), '1 entry')
  assert.equal(countOf(2, 'entry', 'entries'), '2 entries')
  const flood = (suppressed: number): string =>
    whyOf({ event: 'permission_denied', method: null, data: { suppressed } }, 'an API')
  assert.equal(flood(1), '1 further refusal of this minute was only counted.')
  assert.equal(flood(2), '2 further refusals of this minute were only counted.')
})

test('a call that Envoy did not send says who answered it, or why', () => {
  const of = (upstream: object): string =>
    whyOf(
      {
        event: 'request_allowed',
        method: 'GET',
        decision: 'allowed',
        reason: null,
        rule: 0,
        data: { upstream: { outcome: 'not_sent', ...upstream } },
      },
      'shop',
    )
  const details = 'jwt_authn_access_denied{Jwt_is_missing}'
  const begin = 'The call was allowed, but Envoy did not send it to shop.'
  assert.equal(
    of({ details }),
    `${begin} Another filter or route of this Envoy answered: ${details}.`,
  )
  assert.equal(of({ details, cause: 'No route matched.' }), `${begin} No route matched.`)
})

test('a rate of few calls is not shown as none', () => {
  const texts = [0, 1, 5, 6, 60, 90].map((calls) => rateText(calls, 60))
  assert.deepEqual(texts, ['0', '<0.1', '<0.1', '0.1', '1', '1.5'])
})
