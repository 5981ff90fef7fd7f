import assert from 'node:assert/strict'
import { once } from 'node:events'
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { after, before, test, type TestContext } from 'node:test'
import fc from 'fast-check'
import { runApply, type ApplyOptions } from '../../cli/commands/apply.ts'
import { configAsYaml } from '../../cli/config/dump-config.ts'
import type { AgentWithKey } from '../../cli/config/key-book.ts'
import { runDiff, type DiffOptions } from '../../cli/commands/diff.ts'
import { runDump } from '../../cli/commands/dump.ts'
import { connectRedis } from '../../core/redis/connect-redis.ts'
import { type AdminInProcess, adminInProcess } from '../kit/admin-in-process.ts'
import { anyConfig, SECRETS } from '../kit/any-config.ts'
import { type Operator, operatorAt } from '../kit/operator.ts'
import { repetitions } from '../kit/repetitions.ts'
import { type KitValkey, startValkey } from '../kit/start-valkey.ts'
import { tempFolder } from '../kit/temp-folder.ts'

let valkey: KitValkey
let admin: AdminInProcess
let url: string
let root: Operator

before(async () => {
  valkey = await startValkey()
  admin = await adminInProcess(valkey.url)
  url = `http://127.0.0.1:${admin.port}`
  root = operatorAt(url, admin.token)
})

after(async () => {
  await admin.stop()
  await valkey.stop()
})

const folder = tempFolder('config')
let count = 0

class Sink extends Writable {
  text = ''
  override _write(chunk: Buffer, _: string, done: () => void): void {
    this.text += chunk.toString()
    done()
  }
}

interface Ran {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** An organization with nothing in it, and the commands as its operator gives them. */
async function emptyOrganization() {
  const { admin_token: token } = await root.send('POST', '/admin/organizations', { name: 'mine' })
  const keysOut = join(folder, `keys-${++count}`)
  const file = join(folder, `file-${count}.yaml`)
  const run = async (
    text: string,
    command: (out: Writable, err: Writable) => Promise<number>,
  ): Promise<Ran> => {
    writeFileSync(file, text)
    const [out, err] = [new Sink(), new Sink()]
    const code = await command(out, err)
    return { code, out: out.text, err: err.text }
  }
  const apply = (text: string, more: Partial<ApplyOptions> = {}, env = SECRETS): Promise<Ran> =>
    run(text, (out, err) => runApply({ url, token, file, keysOut, ...more }, env, out, err))
  const diff = (text: string, more: Partial<DiffOptions> = {}, env = SECRETS): Promise<Ran> =>
    run(text, (out, err) => runDiff({ url, token, file, ...more }, env, out, err))
  const dump = async (by = token): Promise<string> =>
    (await run('', (out, err) => runDump({ url, token: by, file: '-' }, out, err))).out
  const keys = (): AgentWithKey[] =>
    existsSync(keysOut)
      ? readFileSync(keysOut, 'utf8')
          .split('\n')
          .filter((line) => line.startsWith('{'))
          .map((line) => JSON.parse(line) as AgentWithKey)
      : []
  return { token, file, keysOut, apply, diff, dump, keys, operator: operatorAt(url, token) }
}

/** The variables that a dump refers to, with a secret each. */
const variablesOf = (text: string): Record<string, string> =>
  Object.fromEntries(
    [...text.matchAll(/\$\{(\w+)\}/g)].map(([, name = '']) => [
      name,
      /PRIVATE_KEY(_\d+)?$/.test(name) ? SECRETS.SECRET_KEY : `secret in ${name} of some length`,
    ]),
  )

test('a dump that is applied to an empty deployment is dumped as the same text, whatever is in it', async () => {
  await fc.assert(
    fc.asyncProperty(anyConfig, async (config) => {
      const [one, other] = [await emptyOrganization(), await emptyOrganization()]
      const applied = await one.apply(configAsYaml(config))
      assert.equal(applied.code, 0, applied.err)
      const again = await one.diff(JSON.stringify(config), { prune: true, exitCode: true })
      assert.deepEqual(again, { ...again, code: 0, out: '' })
      const text = await one.dump()
      const env = variablesOf(text)
      const restored = await other.apply(text, {}, env as typeof SECRETS)
      assert.equal(restored.code, 0, restored.err)
      assert.equal(await other.dump(), text)
      const nothing = await other.diff(text, { prune: true, exitCode: true }, env as typeof SECRETS)
      assert.equal(nothing.code, 0, nothing.out)
    }),
    { numRuns: repetitions(12) },
  )
})

const config = (change: object = {}): string =>
  JSON.stringify({
    integrations: [
      {
        name: 'openai',
        base_url: 'https://api.openai.com/v1',
        auth: { type: 'bearer', token: '${SECRET_A}' },
      },
    ],
    agents: [
      { agent_name: 'bot', metadata: { team: 'billing', old: { a: 1, b: 2 } } },
      { agent_name: 'other' },
    ],
    scopes: [
      {
        name: 'chat',
        agent: 'bot',
        integration: 'openai',
        rules: [{ methods: ['POST'], paths: ['/chat'] }],
      },
    ],
    webhooks: [
      {
        name: 'pager',
        url: 'https://hooks.example.com/a',
        events: ['agent_killed'],
        secret: '${SECRET_B}',
      },
    ],
    ...change,
  })

test('a second apply has nothing to do; a changed file changes what it names and keeps ids and keys', async () => {
  const { apply, diff, operator, keys } = await emptyOrganization()
  assert.equal((await apply(config())).code, 0)
  const second = await apply(config())
  assert.deepEqual([second.code, second.out, second.err], [0, '', 'Nothing to do; 5 unchanged.\n'])
  const changed = config({
    agents: [{ agent_name: 'bot', metadata: { old: { b: 3 } } }, { agent_name: 'other' }],
    integrations: [
      {
        name: 'chat api',
        base_url: 'https://api.openai.com/v1',
        auth: { type: 'bearer', token: '${SECRET_B}' },
      },
    ],
    scopes: [
      {
        name: 'chat',
        agent: 'bot',
        integration: 'chat api',
        rules: [],
        mcp_tools: { deny: ['x'] },
      },
    ],
  })
  const before = await operator.send('GET', '/admin/scopes')
  const told = await diff(changed)
  assert.equal(
    told.out,
    [
      '~ integration chat api',
      '    name: "openai" → "chat api"',
      '    auth.token: written again',
      '~ agent bot',
      '    metadata.old.b: 2 → 3',
      '    metadata.old.a: 1 → (none)',
      '    metadata.team: "billing" → (none)',
      '~ scope chat (bot → chat api)',
      '    rules: [{"methods":["POST"],"paths":["/chat"]}] → []',
      '    mcp_tools.deny: [] → ["x"]',
      '',
    ].join('\n'),
  )
  assert.equal((await diff(changed, { exitCode: true })).code, 1)
  assert.equal((await apply(changed)).out, told.out)
  assert.equal((await diff(changed, { exitCode: true })).code, 0)
  const [scope] = (await operator.send('GET', '/admin/scopes')).data
  assert.equal(scope.scope_id, before.data[0].scope_id)
  assert.deepEqual(scope.rules, [])
  assert.equal(keys().length, 2)
})

test('a template is expanded when it is applied, proposes the format of refusals, and is not in a dump', async () => {
  const { apply, diff, dump } = await emptyOrganization()
  const file = `
integrations:
  - template: openai
agents:
  - agent_name: bot
scopes:
  - {template: openai, actions: [read, write], agent: bot, integration: openai}
`
  const env = { ...SECRETS, OPENAI_API_KEY: 'sk-example-13579' }
  const first = await apply(file, {}, env)
  assert.equal(first.code, 0, first.err)
  assert.match(first.err, /Hint: openai: with "error_format": "openai" the SDKs/)
  assert.match((await apply(file, {}, env)).err, /Nothing to do; 3 unchanged/)
  assert.match((await diff(file.replace(', write', ''), {}, SECRETS)).out, /~ scope|\+ scope/)
  const text = await dump()
  assert.doesNotMatch(text, /template|sk-example/)
  assert.match(text, /name: openai read, write/)
  assert.match(text, /- \/chat\/completions/)
  // In four fields: a scope is for the API of its template, and for reading.
  const fields = `
integrations: [{template: github}]
agents: [{agent_name: reader}]
scopes: [{template: github, agent: reader}]
`
  assert.equal(fields.match(/\w+(?=: \w)/g)?.length, 4)
  const token = { GITHUB_TOKEN: 'ghp_example' }
  const { code, err } = await apply(fields, {}, { ...SECRETS, ...token } as typeof SECRETS)
  assert.equal(code, 0, err)
  assert.match(await dump(), /name: github read\n/)
})

test('connections are matched by API, subject and name, a scope names one, and no plan or dump shows a secret', async () => {
  const { apply, diff, dump, operator } = await emptyOrganization()
  const credential = { type: 'bearer', token: '${SECRET_A}' }
  const billing = { name: 'billing', integration: 'openai', auth: credential }
  const own = { ...billing, name: 'own', agent: 'bot' }
  const alices = { ...billing, name: 'alice', user: 'alice' }
  const scope = { name: 'chat', agent: 'bot', integration: 'openai', rules: [] }
  const file = (connections: object[], named: object = { connection: 'billing' }): string =>
    config({ connections, scopes: [{ ...scope, ...named }] })
  const all = file([billing, own, alices])
  const first = await apply(all)
  assert.equal(first.code, 0, first.err)
  assert.match(
    first.out,
    /\+ connection billing \(openai\)\n\+ connection own \(openai, agent bot\)\n\+ connection alice \(openai, user alice\)\n\+ scope/,
  )
  assert.match((await apply(all)).err, /^Nothing to do; 8 unchanged/)
  const { data: made } = await operator.send('GET', '/admin/connections')
  const idOf = (called: string): string =>
    made.find(({ name }: { name: string }) => name === called).connection_id
  const named = async (): Promise<unknown> =>
    (await operator.send('GET', '/admin/scopes')).data[0].connection_id
  assert.equal(await named(), idOf('billing'))
  const text = await dump()
  assert.match(text, /connection: billing\n/)
  assert.match(text, /token: \$\{OPENAI_BILLING_TOKEN\}/)
  for (const secret of Object.values(SECRETS)) assert.doesNotMatch(text, new RegExp(secret))

  // Another credential for a revoked connection does not make it active.
  const at = `/admin/integrations/${made[0].integration_id}/connections/${idOf('billing')}`
  await operator.send('PATCH', at, { status: 'revoked' })
  const other = { ...credential, token: '${SECRET_B}' }
  const next = [
    { ...billing, auth: other },
    { ...own, name: 'mine' },
    { ...own, agent: 'other' },
  ]
  const changed = file(next, { connection: 'mine' })
  const told = await diff(changed)
  assert.equal(
    told.out,
    [
      '~ connection billing (openai)',
      '    auth.token: written again',
      '~ connection mine (openai, agent bot)',
      '    name: "own" → "mine"',
      '+ connection own (openai, agent other)',
      '~ scope chat (bot → openai)',
      `    connection_id: "${idOf('billing')}" → "${idOf('own')}"`,
      '',
    ].join('\n'),
  )
  assert.equal((await apply(changed)).out, told.out)
  assert.equal((await operator.send('GET', at)).status, 'revoked')
  const pruned = await apply(file([billing]), { prune: true })
  assert.match(
    pruned.out,
    /- connection own[^]*- connection mine|- connection mine[^]*- connection own/,
  )
  assert.equal((await operator.send('GET', '/admin/connections')).data.length, 1)
})

test('a dump says which of two connections with one name a scope is for, and applies elsewhere', async () => {
  const [source, target] = [await emptyOrganization(), await emptyOrganization()]
  const auth = { type: 'bearer', token: '${SECRET_A}' }
  const shared = { name: 'billing', integration: 'openai', auth }
  const scope = { agent: 'bot', integration: 'openai', rules: [], connection: 'billing' }
  const scopes = (['shared', 'agent'] as const).map((connection_subject, i) => ({
    ...scope,
    name: connection_subject,
    priority: i,
    connection_subject,
  }))
  const file = config({ connections: [shared, { ...shared, agent: 'bot' }], scopes })
  assert.equal((await source.apply(file)).code, 0)
  const dumped = await source.dump()
  const env = Object.fromEntries(
    [...dumped.matchAll(/\$\{(\w+)\}/g)].map(([, name]) => [name, 'a long secret']),
  )
  const applied = await target.apply(dumped, {}, { ...SECRETS, ...env } as typeof SECRETS)
  assert.equal(applied.code, 0, applied.err)
  assert.equal(await target.dump(), dumped)
})

test('connections of a file that cannot be told apart, or are named in vain, are errors before anything is written', async () => {
  const { apply, dump } = await emptyOrganization()
  const auth = { type: 'bearer', token: '${SECRET_A}' }
  const own = { name: 'own', integration: 'openai', agent: 'bot', auth }
  const scope = { name: 'chat', agent: 'bot', integration: 'openai', rules: [] }
  const empty = await dump()
  for (const [connections, scopes, message] of [
    [[own, { ...own, name: 'second' }], [], /connections\[1\]\.name has the agent or user of a/],
    [[{ ...own, user: 'u' }], [], /connections\[0\]\.user must not be given together with agent/],
    [[{ ...own, integration: 'x' }], [], /connections\[0\]\.integration names an unknown/],
    [[{ ...own, agent: 'bott' }], [], /connections\[0\]\.agent names an unknown agent/],
    [[{ ...own, status: 'active' }], [], /connections\[0\]\.status .*cannot revoke connections/],
    [[{ ...own, auth: { ...auth, token: 'plain' } }], [], /auth\.token is a secret and must not/],
    [[own], [{ ...scope, agent: 'other', connection: 'own' }], /connection names no connection/],
    [[own], [{ ...scope, connection: 'owns' }], /scopes\[0\]\.connection names no connection/],
    [[own], [{ ...scope, connection: 'own', connection_id: 'con_1' }], /and no connection_id/],
    [[own], [{ ...scope, connection_subject: 'agent' }], /connection_subject needs connection/],
  ] as const) {
    const { code, out, err } = await apply(config({ connections, scopes }))
    assert.deepEqual([code, out], [1, ''], err)
    assert.match(err, message)
  }
  assert.equal(await dump(), empty)
})

test('a killed agent stays killed, whatever a file says of it', async () => {
  const { apply, operator, keys } = await emptyOrganization()
  await apply(config())
  const bot = keys().find(({ agent_name }) => agent_name === 'bot')
  await operator.send('POST', `/admin/agents/${bot?.agent_id}/kill`)
  const agents = [{ agent_name: 'bot', metadata: { now: 1 } }, { agent_name: 'other' }]
  const applied = await apply(config({ agents }))
  assert.equal(applied.code, 0, applied.err)
  assert.match(applied.err, /^bot is killed and stays killed/)
  const agent = await operator.send('GET', `/admin/agents/${bot?.agent_id}`)
  assert.deepEqual([agent.status, agent.metadata], ['killed', { now: 1 }])
  const revived = await apply(config({ agents: [{ agent_name: 'bot', status: 'active' }] }))
  assert.equal(revived.code, 1)
  assert.match(revived.err, /agents\[0\]\.status .*agw reactivate/)
})

test('only --prune deletes, only in sections that the file has, and scopes before what they need', async () => {
  const { apply, diff, operator } = await emptyOrganization()
  await apply(config())
  const rest = JSON.stringify({ integrations: [], agents: [{ agent_name: 'other' }] })
  const kept = await apply(rest)
  assert.match(kept.err, /^Nothing to do; 1 unchanged\. 2 not in the file were kept; --prune/)
  const told = await diff(rest, { prune: true })
  assert.equal(told.out, '- scope chat (bot → openai)\n- agent bot\n- integration openai\n')
  assert.equal((await apply(rest, { prune: true })).out, told.out)
  assert.equal((await operator.send('GET', '/admin/agents')).data.length, 1)
  assert.equal((await operator.send('GET', '/webhooks')).data.length, 1)
})

test('scopes may refer to what the deployment has and the file does not, unless it is pruned', async () => {
  const { apply } = await emptyOrganization()
  await apply(config())
  const scopes = [
    { name: 'more', agent: 'bot', integration: 'https://api.openai.com/v1', rules: [] },
  ]
  assert.equal((await apply(JSON.stringify({ scopes }))).out, '+ scope more (bot → openai)\n')
  const pruned = await apply(JSON.stringify({ agents: [], scopes }), { prune: true })
  assert.match(pruned.err, /scopes\[0\]\.agent names an agent that --prune would delete/)
  const wrong = await apply(JSON.stringify({ scopes: [{ ...scopes[0], agent: 'bott' }] }))
  assert.match(wrong.err, /scopes\[0\]\.agent names an unknown agent: .* did you mean bot\?/)
})

test('nothing is written when the file has an error, a variable is missing, or keys have no place to go', async () => {
  const { apply, keysOut, dump } = await emptyOrganization()
  const empty = await dump()
  const missing = await apply(config(), {}, { SECRET_A: 'a' } as typeof SECRETS)
  assert.deepEqual([missing.code, missing.out], [1, ''])
  assert.match(
    missing.err,
    /^\S+:1: webhooks\[0\]\.secret requires SECRET_B, not set in the environment\n$/,
  )
  const twoProblems = await apply(config({ agents: [{ agent_name: 'bott' }], webhooks: [{}] }))
  assert.match(twoProblems.err, /scopes\[0\]\.agent names an unknown agent/)
  assert.match(twoProblems.err, /webhooks\[0\]\.url is missing/)
  const nowhere = await apply(config(), { keysOut: undefined as never })
  assert.match(nowhere.err, /New agents: 2\. .* --keys-out FILE/)
  writeFileSync(keysOut, '')
  chmodSync(keysOut, 0o644)
  await assert.rejects(apply(config()), /must be readable by you only/)
  assert.equal(await dump(), empty)
})

test('errors that only the gateway can detect are reported with their position in the file', async () => {
  const { apply } = await emptyOrganization()
  const scopes = [
    { name: 'chat', agent: 'bot', integration: 'openai', max_body_bytes: 1e9, rules: [] },
  ]
  const { code, out, err } = await apply(config({ scopes }))
  assert.equal(code, 1)
  assert.equal(out, '+ integration openai\n+ agent bot\n+ agent other\n')
  assert.match(
    err,
    /^Hint: .*\n3 of 5 changes were made\. Not made:\n\+ scope chat \(bot → openai\)\n/,
  )
  assert.match(err, /:1: scopes\[0\]\.max_body_bytes must be at most 8388608/)
  // Patterns are compiled by the gateway, before anything is written.
  const injection_detection = { custom_patterns: ['ok', '('], disabled_patterns: ['no_such'] }
  const unusable = { name: 'read', agent: 'bot', integration: 'openai', injection_detection }
  const refused = await apply(config({ scopes: [{ ...unusable, rules: [] }] }))
  assert.deepEqual([refused.code, refused.out], [1, ''])
  const at = ':1: scopes\\[0\\]\\.injection_detection\\.'
  assert.match(refused.err, new RegExp(`${at}custom_patterns\\[1\\] .*not an RE2 expression`))
  assert.match(refused.err, new RegExp(`${at}disabled_patterns\\[0\\] is not the name of`))
})

test('agents and scopes are created in groups; what is wrong with one is reported where it is in the file', async () => {
  const { apply, keys, operator, keysOut } = await emptyOrganization()
  const names = Array.from({ length: 250 }, (_, i) => `bot ${i}`)
  const file = (last: object): string =>
    JSON.stringify({
      integrations: [{ name: 'api', base_url: 'https://api.example.com', auth: { type: 'none' } }],
      agents: names.map((agent_name) => ({ agent_name })),
      scopes: names.map((agent, i) => ({
        name: 's',
        agent,
        integration: 'api',
        rules: [],
        ...(i === 249 ? last : {}),
      })),
    })
  const refused = await apply(file({ max_body_bytes: 99_999_999 }))
  assert.equal(refused.code, 1)
  assert.match(
    refused.err,
    /^451 of 501 changes were made\. Not made:\n\+ scope s \(bot 249 → api\)\n/,
  )
  assert.match(refused.err, /scopes\[249\]\.max_body_bytes/)
  assert.equal(keys().length, 250)
  const { err } = await apply(file({}))
  assert.match(err, /^50 created; 451 unchanged\./)
  const { data } = await operator.send('GET', '/admin/scopes?limit=200')
  const agents = await operator.send('GET', `/admin/agents/${data[0].agent_id}`)
  assert.equal(agents.agent_name, 'bot 249')
  assert.equal(existsSync(`${keysOut}.pending`), false)
})

test('a base URL that another integration has is reported before anything is written', async () => {
  const { apply } = await emptyOrganization()
  const integration = (name: string, n: number): object => ({
    name,
    base_url: `https://api${n}.example.com`,
    auth: { type: 'none' },
  })
  const two = (a: number, b: number): string =>
    JSON.stringify({ integrations: [integration('a', a), integration('b', b)] })
  await apply(two(1, 2))
  // Each is found by its base URL, so an exchange of the two is one of the names.
  assert.match((await apply(two(2, 1))).out, /name: "b" → "a"[^]*name: "a" → "b"/)
  const moved = JSON.stringify({ integrations: [integration('a', 3), integration('c', 1)] })
  assert.equal((await apply(moved)).code, 0)
})

test('secrets that end alike are written by --with-secrets, and no command prints one', async () => {
  const { apply, diff, dump } = await emptyOrganization()
  await apply(config())
  const alike = { ...SECRETS, SECRET_A: SECRETS.SECRET_A.replace('a-', 'b-') }
  assert.equal((await diff(config(), {}, alike)).out, '')
  const written = await apply(config(), { withSecrets: true, output: 'json' }, alike)
  assert.deepEqual(
    written.out
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { members: unknown }).members),
    [[{ member: 'auth.token', secret: true }], [{ member: 'secret', secret: true }]],
  )
  const all = written.out + written.err + (await dump())
  for (const secret of Object.values(alike)) assert.equal(all.includes(secret), false)
})

test('the URL of a webhook may be a reference, and is one in a dump by a role that does not see it', async () => {
  const { apply, diff, dump, operator } = await emptyOrganization()
  const url = 'https://hooks.slack.com/services/T0/B0/not-for-git'
  const text = (written: string): string =>
    JSON.stringify({ webhooks: [{ name: 'slack', url: written, events: ['agent_killed'] }] })
  const env = { ...SECRETS, SLACK_WEBHOOK_URL: url }
  const { code, err } = await apply(text('${SLACK_WEBHOOK_URL}'), {}, SECRETS)
  assert.equal(code, 1)
  assert.match(err, /requires SLACK_WEBHOOK_URL/)
  assert.equal((await apply(text('${SLACK_WEBHOOK_URL}'), {}, env)).code, 0)
  assert.match(await dump(), new RegExp(`url: ${url}\n`))
  const { token } = await operator.send('POST', '/admin/tokens', {
    email: 'viewer@example.com',
    role: 'viewer',
    name: 'viewer',
  })
  const seen = await dump(token)
  assert.match(seen, /url: \$\{SLACK_WEBHOOK_URL\}\n/)
  assert.equal((await apply(seen, {}, env)).out, '')
  for (const by of [{}, { token }]) assert.equal((await diff(seen, by, env)).out, '')
  // A plan does not show the secret part of either.
  for (const written of [`${url}-2`, 'https://hooks.example.com/services/another-secret']) {
    const { out } = await diff(text(written), {}, env)
    assert.match(out, /url: /)
    assert.doesNotMatch(out, /not-for-git|another-secret/)
  }
  assert.match((await apply(text('https://hooks.slack.com/***'))).err, /provide the complete URL/)
})

interface Passing {
  readonly n: number
  readonly method: string
  readonly path: string
}

/**
 * Stands between the commands and the gateway: `rule` says of each request whether the gateway gets it, and whether its
 * answer comes back.
 */
async function startBetween(t: TestContext) {
  let n = 0
  const passAll = async (): Promise<Fate> => 'answer'
  let rule: (call: Passing) => Promise<Fate> = passAll
  const server = createServer((incoming, outgoing) => {
    void answer(incoming, outgoing).catch(() => outgoing.destroy())
  })
  const answer = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const body = Buffer.concat(await incoming.toArray())
    const { method = '', url: path = '', headers } = incoming
    const fate = await rule({ n: n++, method, path })
    if (fate === 'nothing') return void outgoing.destroy()
    const onward = request({ port: admin.port, method, path, headers, agent: false })
    onward.end(body)
    const [answered] = (await once(onward, 'response')) as [IncomingMessage]
    const text = Buffer.concat(await answered.toArray())
    if (fate === 'no answer') return void outgoing.destroy()
    outgoing.writeHead(answered.statusCode ?? 0, answered.headers).end(text)
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    setRule: (next: typeof rule | null): void => {
      n = 0
      rule = next ?? passAll
    },
  }
}
type Fate = 'answer' | 'no answer' | 'nothing'

test('an apply that is cut off at any request, before or after it, is completed by the next, and no key is lost', async (t) => {
  const between = await startBetween(t)
  let cuts = 0
  for (const last of ['nothing', 'no answer'] as const) {
    for (let cutAt = 0, wasCut = true; wasCut; cutAt++) {
      const { apply, diff, keys, keysOut, operator } = await emptyOrganization()
      wasCut = false
      between.setRule(async ({ n }) => {
        wasCut ||= n >= cutAt
        return n < cutAt ? 'answer' : n === cutAt ? last : 'nothing'
      })
      const first = await apply(config(), { url: between.url }).then(
        ({ code }) => code,
        () => 1,
      )
      assert.equal(first === 0, !wasCut)
      cuts += wasCut ? 1 : 0
      between.setRule(null)
      const second = await apply(config(), { url: between.url })
      assert.equal(second.code, 0, second.err)
      const same = await diff(config(), { prune: true, exitCode: true })
      assert.equal(same.code, 0, `cut at ${cutAt}, ${last}: ${same.out}`)
      await everyAgentHasAKey(operator, keys())
      assert.equal(existsSync(`${keysOut}.pending`), false)
      assert.equal(statSync(keysOut).mode & 0o777, 0o600)
    }
  }
  // Five lists are read, and two agents in one request and three other resources made.
  assert.ok(cuts >= 2 * 8, String(cuts))
})

async function everyAgentHasAKey(operator: Operator, keys: readonly AgentWithKey[]): Promise<void> {
  const { data } = await operator.send('GET', '/admin/agents')
  assert.equal(data.length, 2)
  for (const { agent_id } of data) {
    const there = await operator.send('GET', `/admin/agents/${agent_id}/keys`)
    const kept = keys.filter((key) => key.agent_id === agent_id)
    const usable = there.data.filter(({ key_id, last4 }: { key_id: string; last4: string }) =>
      kept.some(({ api_key_id, api_key }) => api_key_id === key_id && api_key.endsWith(last4)),
    )
    assert.ok(usable.length > 0, `no key of ${agent_id} is kept`)
  }
}

test('a key whose response was lost, and that the gateway has discarded as well, is created again', async (t) => {
  const between = await startBetween(t)
  const { apply, keys, operator } = await emptyOrganization()
  let isLost = false
  between.setRule(async ({ method, path }) => {
    if (isLost) return 'nothing'
    isLost = method === 'POST' && path === '/admin/bulk/agents'
    return isLost ? 'no answer' : 'answer'
  })
  const { err } = await apply(config(), { url: between.url })
  assert.match(err, /Not made:\n\+ agent .*\n.* is unreachable/)
  assert.ok(isLost)
  const redis = connectRedis(valkey.url, { name: 'test', role: 'queue' })
  const kept = await redis.keys('*idempotency*')
  assert.ok(kept.length > 0)
  await redis.del(...kept)
  redis.disconnect()
  between.setRule(null)
  assert.equal((await apply(config(), { url: between.url })).code, 0)
  await everyAgentHasAKey(operator, keys())
})

test('what others change while an apply runs is not overwritten', async (t) => {
  const between = await startBetween(t)
  const wanted = config({
    scopes: [{ name: 'chat', agent: 'bot', integration: 'openai', priority: 5, rules: [] }],
  })
  // Between the list and the reading of the one, and between that and its write.
  for (const moment of ['GET', 'PUT']) {
    const { apply, operator } = await emptyOrganization()
    await apply(config())
    between.setRule(async ({ method, path }) => {
      if (method === moment && path.startsWith('/admin/scopes/')) {
        between.setRule(null)
        await operator.send('PUT', path, { priority: 77 })
      }
      return 'answer'
    })
    const { code, err } = await apply(wanted, { url: between.url })
    assert.equal(code, 1)
    assert.match(err, /Not made:\n~ scope chat[^]*(?:changed|modified)/)
    assert.equal((await operator.send('GET', '/admin/scopes')).data[0].priority, 77)
    assert.equal((await apply(wanted, { url: between.url })).code, 0)
    assert.equal((await operator.send('GET', '/admin/scopes')).data[0].priority, 5)
  }
})
