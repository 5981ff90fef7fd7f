import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { PassThrough, Readable } from 'node:stream'
import { loginFile } from '../../cli/deployment/login-file.ts'
import { adminAccess } from '../../cli/deployment/admin-access.ts'
import { type AddOptions, runAdd } from '../../cli/commands/add.ts'
import { type AllowOptions, runAllow } from '../../cli/commands/allow.ts'
import { runActivity } from '../../cli/commands/activity.ts'
import { readCurrentConfig } from '../../cli/config/read-current-config.ts'
import { runExplain } from '../../cli/commands/explain.ts'
import { runLogin, runLogout } from '../../cli/commands/login.ts'
import { type QuickstartOptions, runQuickstart } from '../../cli/commands/quickstart.ts'
import { deleteConnection } from '../../cli/resources/delete-connection.ts'
import { createResource } from '../../cli/create/create-resource.ts'
import type { CreateOptions } from '../../cli/create/creations.ts'
import { type ListOptions, listResources } from '../../cli/resources/list-resources.ts'
import { FILTERS, RESOURCE_KINDS, RESOURCE_NAMES } from '../../cli/resources/resource-kinds.ts'
import { showResource } from '../../cli/resources/show-resource.ts'
import { ALERT_SEVERITIES } from '../../core/alerts/alert.ts'
import { raiseAlert } from '../../core/alerts/raise-alert.ts'
import { fromRoot } from '../../core/system/root.ts'
import { parse } from 'yaml'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { STORE_FORMAT } from '../../core/store/stored-record.ts'
import { recordEntries } from '../../core/change/record-entries.ts'
import { activityEntry } from '../kit/activity-entry.ts'
import { adminOnStore } from '../kit/admin-on-store.ts'
import { makeAccessRequest } from '../kit/make-access-request.ts'
import { tempFolder } from '../kit/temp-folder.ts'
import { until } from '../kit/until.ts'

const HOSTILE = 'red \u001b[31m \u202e'
const { admin, redis, stop } = await adminOnStore()
after(stop)
const url = `http://127.0.0.1:${admin.port}`
const access = { url, token: admin.token }
/** What was made, by the name of its id. */
const made: Record<string, any> = {}

before(async () => {
  const make = async (path: string, body: object): Promise<any> => {
    const answer = await admin.call('POST', path, { body })
    assert.equal(answer.status, 201, answer.text)
    return answer.body
  }
  made['agents'] = await make('/admin/agents', {
    agent_name: 'billing bot',
    metadata: { note: HOSTILE, [HOSTILE]: 'x\ny' },
  })
  await make('/admin/agents', { agent_name: 'other bot' })
  await make('/admin/agents', { agent_name: 'twin' })
  await make('/admin/agents', { agent_name: 'twin' })
  const { agent_id } = made['agents']
  made['integrations'] = await make('/admin/integrations', {
    name: 'shop',
    base_url: 'https://shop.example.com/v1',
    auth: { type: 'basic', username: 'sk_live_canary_of_the_user', password: 'none of yours' },
  })
  const { integration_id } = made['integrations']
  made['scopes'] = await make('/admin/scopes', {
    name: 'orders only',
    agent_id,
    integration_id,
    rules: [{ methods: ['GET'], paths: ['/orders/*'] }],
  })
  made['connections'] = await make(`/admin/integrations/${integration_id}/connections`, {
    name: 'billing',
    auth: { type: 'none' },
  })
  made['keys'] = await make('/admin/keys', { name: 'shared key' })
  made['tokens'] = await make('/admin/tokens', {
    email: 'ops@example.com',
    role: 'viewer',
    name: 'laptop',
  })
  const killed = await make('/admin/agents', { agent_name: 'runaway' })
  const kill = await admin.call('POST', `/admin/agents/${killed.agent_id}/kill`, { body: {} })
  made['kills'] = kill.body
  made['webhooks'] = await make('/webhooks', {
    name: 'pager',
    url: 'https://8.8.8.8/hook',
    events: ['agent_killed'],
  })
})

async function printed(run: (out: PassThrough, err: PassThrough) => Promise<number>) {
  const [out, err] = [new PassThrough(), new PassThrough()]
  const code = await run(out, err)
  return { code, out: String(out.read() ?? ''), err: String(err.read() ?? '') }
}
const list = (name: (typeof RESOURCE_NAMES)[number], more: Partial<ListOptions> = {}) =>
  printed((out, err) => listResources(name, { ...access, limit: 200, ...more }, out, err))
const show = (name: (typeof RESOURCE_NAMES)[number], id: string, output = 'table') =>
  printed((out) => showResource(name, id, { ...access, output }, out))

describe('list and show', () => {
  for (const name of RESOURCE_NAMES) {
    const kind = RESOURCE_KINDS[name]

    test(`agw ${name} lists as a table and as JSON`, async () => {
      const json = await list(name, { output: 'json' })
      const resources = JSON.parse(json.out) as Record<string, unknown>[]
      const table = await list(name)
      assert.equal(table.code, 0)
      if (made[name] === undefined) {
        assert.deepEqual(resources, [])
        assert.equal(table.err, `No ${kind.name}s found.\n`)
        return
      }
      const lines = table.out.trimEnd().split('\n')
      assert.equal(lines.length, resources.length + 1)
      for (const [heading] of kind.columns) assert.ok(lines[0]?.includes(heading), lines[0])
      const id = String(made[name][kind.id])
      assert.ok(
        lines.some((line) => line.startsWith(id)),
        table.out,
      )
      assert.doesNotMatch(table.out + json.out, /(?!\n)[\p{Cc}\p{Cf}]/u)
      assert.doesNotMatch(table.out + json.out, /sk_live_canary|none of yours/)
      // Columns of members that do not exist would be dashes for ever.
      for (const [, member] of kind.columns)
        assert.ok(member.split('.')[0] ?? '' in (resources[0] ?? {}), member)
    })

    test(`agw ${name} show prints one by its id, and by its names where it has any`, async () => {
      if (made[name] === undefined) {
        await assert.rejects(show(name, 'none'), new RegExp(`No ${kind.name} has the id "none"`))
        return
      }
      const id = String(made[name][kind.id])
      const byId = await show(name, id, 'json')
      const resource = JSON.parse(byId.out) as Record<string, unknown>
      assert.equal(resource[kind.id], id)
      const yaml = (await show(name, id)).out
      assert.deepEqual(parse(yaml), resource)
      assert.doesNotMatch(yaml + byId.out, /(?!\n)[\p{Cc}\p{Cf}]/u)
      for (const member of kind.named_by)
        assert.deepEqual(
          JSON.parse((await show(name, String(resource[member]), 'json')).out),
          resource,
        )
      await assert.rejects(show(name, 'none'), /has the id(?: or name|, name or e-mail)? "none"/)
    })
  }

  test('agw scopes --expiring lists the scopes that end within that time', async () => {
    const { scope_id } = made['scopes']
    const endsIn = async (ms: number | null): Promise<void> => {
      const expires_at = ms === null ? null : new Date(Date.now() + ms).toISOString()
      const { status } = await admin.call('PATCH', `/admin/scopes/${scope_id}`, {
        body: { expires_at },
      })
      assert.equal(status, 200)
    }
    const found = async (expiring: number): Promise<string[]> => {
      const { out } = await list('scopes', { expiring, output: 'json' })
      return (JSON.parse(out) as { scope_id: string }[]).map((scope) => scope.scope_id)
    }
    await endsIn(3_600_000)
    assert.deepEqual([await found(7_200_000), await found(60_000)], [[scope_id], []])
    await endsIn(-1_000)
    assert.deepEqual(await found(7_200_000), [], 'it has ended')
    await endsIn(null)
    assert.deepEqual(await found(7_200_000), [])
  })

  test('an agent that a newer version has stored is named, and no dump is made without it', async () => {
    const hash = REDIS_KEYS.agents('org_default')
    const { agent_id, agent_name } = made['agents'] as { agent_id: string; agent_name: string }
    const stored = (await redis.hget(hash, agent_id)) ?? ''
    const newer = { ...(JSON.parse(stored) as object), store_format: STORE_FORMAT + 1 }
    await redis.hset(hash, agent_id, JSON.stringify(newer))
    const listed = await list('agents')
    assert.equal(listed.code, 0)
    assert.ok(!listed.out.includes(agent_id))
    const note = `1 agent that a newer version has stored is not shown: ${agent_id}. Upgrade this admin service to see it.`
    assert.equal(listed.err, `${note}\n`)
    const none = await list('agents', { query: 'billing', output: 'json' })
    assert.deepEqual([none.out, none.err], ['[]\n', `${note}\n`])
    // Its name cannot be found, so the answer must not be that there is none.
    const message = `No agent has the id or name "${agent_name}". A newer version has stored these, whose names cannot be read; use an id: ${agent_id}`
    await assert.rejects(show('agents', agent_name), { message })
    await assert.rejects(list('scopes', { agent: agent_name }), { message })
    await assert.rejects(show('agents', agent_id), /newer/)
    const { out } = await list('scopes', { agent: agent_id })
    assert.match(out, new RegExp(` {2}${agent_id} {2}`), 'the id where the name cannot be read')
    assert.equal((await list('scopes', { agent: 'agt_deleted' })).code, 0)
    await assert.rejects(readCurrentConfig(access), (error: Error) =>
      error.message.includes(agent_id),
    )
    await redis.hset(hash, agent_id, stored)
  })

  test('a table shows the names of agents and integrations, and the ids where two have one name', async () => {
    const { integration_id } = made['integrations']
    const idsOf = async (query: string): Promise<string[]> =>
      JSON.parse((await list('agents', { query, output: 'json' })).out).map(
        (one: any) => one.agent_id,
      )
    const twins = await idsOf('twin')
    assert.equal(twins.length, 2)
    for (const agent_id of twins) {
      const body = { name: 'of a twin', agent_id, integration_id, rules: [] }
      assert.equal((await admin.call('POST', '/admin/scopes', { body })).status, 201)
    }
    const lines = (await list('scopes')).out.split('\n')
    assert.match(lines.find((line) => line.includes('orders only')) ?? '', /  billing bot +shop +/)
    for (const id of twins)
      assert.ok(lines.some((line) => line.includes(`  ${id}  `) && line.includes('  shop  ')))
    const keys = (await list('keys', { agent: 'billing bot' })).out
    assert.match(keys, new RegExp(`^${made['agents'].api_key_id} .*  billing bot  `, 'm'))
    const agents = (await list('agents')).out
    assert.ok(agents.includes(made['agents'].agent_id))
  })

  test('a name that two have names both ids', async () => {
    await assert.rejects(show('agents', 'twin'), /2 agents are named "twin"; use an id: agt_/)
  })

  test('filters take names, and a limit says that there are more', async () => {
    const scopes = await list('scopes', {
      agent: 'billing bot',
      integration: 'shop',
      output: 'json',
    })
    assert.equal(JSON.parse(scopes.out).length, 1)
    const others = await list('scopes', { agent: 'other bot', output: 'json' })
    assert.deepEqual(JSON.parse(others.out), [])
    const keys = await list('keys', { agent: 'billing bot', output: 'json' })
    assert.equal(JSON.parse(keys.out)[0].key_id, made['agents'].api_key_id)
    assert.equal(
      JSON.parse((await list('agents', { query: 'bill', output: 'json' })).out).length,
      1,
    )
    const few = await list('agents', { limit: 2, output: 'json' })
    assert.equal(JSON.parse(few.out).length, 2)
    assert.equal(few.err, 'Only the first 2 are shown. Use --limit for more.\n')
    await assert.rejects(list('agents', { status: 'asleep' }), /status/)
  })
})

test('every filter of a list takes what its column prints', async () => {
  const { agent_id } = made['agents']
  await makeAccessRequest(redis, 'org_default', agent_id, 'shop')
  const long = 'a name of more characters than other cells of a table may have, to its end'
  const created = await admin.call('POST', '/admin/agents', { body: { agent_name: long } })
  const { integration_id } = made['integrations']
  await admin.call('POST', '/admin/scopes', {
    body: {
      name: long,
      agent_id: created.body.agent_id,
      integration_id,
      rules: [],
      expires_at: new Date(Date.now() + 3_600_000).toISOString(),
    },
  })
  const gone = await admin.call('POST', '/admin/agents', { body: { agent_name: 'gone' } })
  await admin.call('POST', `/admin/agents/${gone.body.agent_id}/kill`, { body: {} })
  await admin.call('DELETE', `/admin/agents/${gone.body.agent_id}?cascade=true`)
  for (const severity of ALERT_SEVERITIES) {
    const occurrence = { ref: severity, expires_at: '' }
    const cause = {
      about: severity,
      kind: 'secret_unavailable',
      severity,
      title: severity,
    } as const
    await raiseAlert(redis, 'org_default', { ...cause, occurrence }, new Date())
  }
  const taken = new Set<string>()
  for (const name of RESOURCE_NAMES) {
    const { columns, filters, named_by } = RESOURCE_KINDS[name]
    // Without an agent, the keys of the organization are listed.
    const table = await list(name, name === 'keys' ? { agent: agent_id } : {})
    const [head = '', ...lines] = table.out.trimEnd().split('\n')
    const starts = columns.map(([heading]) => head.indexOf(heading))
    for (const filter of filters) {
      const { parameter } = FILTERS[filter]
      const members = filter === 'query' ? named_by : [parameter.replace('_before', '_at')]
      for (const at of columns.flatMap(([, member], i) => (members.includes(member) ? [i] : [])))
        for (const line of lines) {
          const value = line.slice(starts[at], starts[at + 1]).trim()
          if (value === '-') continue
          const found = (await list(name, { [filter]: value })).out
          const [id = ''] = line.split(' ')
          assert.ok(found.includes(id), `agw ${name} --${filter} '${value}'\n${found}`)
          taken.add(`${name} ${filter}`)
        }
    }
  }
  // A filter of which no value was printed is not tested.
  const all = RESOURCE_NAMES.flatMap((name) =>
    RESOURCE_KINDS[name].filters.map((filter) => `${name} ${filter}`),
  )
  assert.deepEqual([...taken].sort(), all.sort())
})

describe('agw explain', () => {
  const explain = (target: string, more: object = {}) =>
    printed((out, err) =>
      runExplain('billing bot', 'GET', target, { ...access, ...more }, out, err),
    )

  test('says which scope and rule allow a call', async () => {
    const { code, out } = await explain('https://shop.example.com/v1/orders/7')
    assert.equal(code, 0)
    assert.match(out, /^allowed\n/)
    assert.match(out, /integration: shop \(int_\w+\), https:\/\/shop\.example\.com\/v1\n/)
    assert.match(out, /scope: orders only \(scp_\w+\), rules\[0\]\n/)
    assert.match(out, /: rate limits, tools, the scan, the address of shop\.example\.com\n$/)
  })

  test('says why a call is refused, and exits with 1 where that is asked for', async () => {
    const refused = await explain('https://shop.example.com/v1/customers', { exitCode: true })
    assert.equal(refused.code, 1)
    assert.match(refused.out, /^refused: permission_denied\n/)
    assert.match(refused.out, /reason: path_not_allowed\n/)
    const { out } = await printed((stdout, stderr) =>
      runExplain(
        'billing bot',
        'PURGE',
        'https://shop.example.com/v1/orders/7',
        access,
        stdout,
        stderr,
      ),
    )
    assert.match(out, /nearest rule: orders only \(scp_\w+\), rules\[0\] allows the path with GET/)
    const unknown = await explain('https://elsewhere.example.com/v1/x')
    assert.equal(unknown.code, 0)
    assert.match(unknown.out, /^refused: integration_not_found\n {2}base_url: /)
  })
})

test('agw activity filters by names, decision, request and time', async () => {
  const activity = (more: object) =>
    printed((out, err) => runActivity({ ...access, ...more }, out, err))
  const all = await activity({ integration: 'shop' })
  assert.match(all.out, /^TIME +EVENT +AGENT/)
  assert.match(all.out, / created the integration int_/)
  assert.equal((await activity({ decision: 'blocked', headers: false })).out, '')
  assert.equal((await activity({ requestId: 'none', headers: false })).out, '')
  const reason = 'permission_denied' as const
  const data = { reason: 'method_not_allowed', attempted_action: 'DELETE /orders' }
  const refused = { reason, request_id: 'refused-1', method: 'DELETE', endpoint: '/v1/orders' }
  await recordEntries(redis, 'org_default', [activityEntry(reason, { ...refused, data })])
  const told = await activity({ requestId: 'refused-1', headers: false })
  assert.match(told.out, /permission_denied +DELETE \/v1\/orders \(method not allowed\)\n$/)
  // Each value of a column is one of its filter, whatever became of the agent.
  for (const agent_name of ['deleted bot', 'twin'])
    await recordEntries(redis, 'org_default', [
      activityEntry('permission_denied', { agent_name, reason: 'agent_killed', status: 503 }),
    ])
  const lines = (await activity({ headers: false })).out.trimEnd().split('\n')
  for (const line of lines) {
    const cells = line.split(/ {2,}/)
    const [since = '', event, agent, status, decision] = cells
    const optional = { agent, status, decision: cells.length > 5 ? decision : '-' }
    for (const [name, value = '-'] of Object.entries({ since, event, ...optional }))
      if (value !== '-') {
        const { code, out } = await activity({ [name]: value, limit: 200, headers: false })
        assert.ok(code === 0 && out.includes(line), `--${name} ${value}`)
      }
  }
  const since = new Date(Date.now() + 60_000).toISOString()
  assert.equal((await activity({ since, headers: false })).out, '')
  assert.notEqual((await activity({ until: since, headers: false })).out, '')
})

describe('agw login', () => {
  const home = tempFolder('login')
  const env = { XDG_CONFIG_HOME: home }
  const login = (options: object, typed = '') =>
    printed((out, err) => runLogin(options, env, Readable.from([typed]), out, err))

  test('keeps a token that is accepted, with mode 0600, and nothing of one that is not', async () => {
    const wrong = await login({ url }, 'agw_admin_wrong\n')
    assert.equal(wrong.code, 1)
    assert.throws(() => statSync(loginFile(env)), /ENOENT/)
    const { code, out } = await login({ url: `${url}/` }, `${admin.token}\n`)
    assert.equal(code, 0, out)
    assert.match(out, /^Logged in to http:\S+ as admin@localhost, role admin, org_default\./)
    assert.equal(statSync(loginFile(env)).mode & 0o777, 0o600)
    assert.deepEqual(adminAccess({}, env), { url, token: admin.token })
  })

  test('the token is sent to no other address', () => {
    const elsewhere = 'https://elsewhere.example.com'
    assert.equal(adminAccess({ url: elsewhere }, env).token, null)
    assert.equal(adminAccess({}, { ...env, AGW_URL: elsewhere }).token, null)
    assert.equal(adminAccess({ url: `${url}.example.com` }, env).token, null)
    assert.equal(adminAccess({ token: 'mine' }, env).token, 'mine')
  })

  test('a file that others can read is refused, and logout removes it', async () => {
    chmodSync(loginFile(env), 0o640)
    assert.throws(() => adminAccess({}, env), /accessible to other users. Run chmod 600/)
    assert.equal(runLogout(env, new PassThrough()), 0)
    const none = { ...env, AGW_DATA_DIR: home }
    assert.deepEqual(adminAccess({}, none), { url: 'http://127.0.0.1:8081', token: null })
  })

  test('without a login, the token of the data directory is used, for this machine alone', () => {
    const here = { XDG_CONFIG_HOME: home, AGW_DATA_DIR: tempFolder('data') }
    writeFileSync(join(here.AGW_DATA_DIR, 'admin-token'), 'agw_admin_here\n')
    assert.equal(adminAccess({}, here).token, 'agw_admin_here')
    assert.equal(adminAccess({ url: 'http://localhost:9000' }, here).token, 'agw_admin_here')
    assert.equal(adminAccess({ token: 'mine' }, here).token, 'mine')
    for (const other of ['https://127.0.0.1.example.com', 'http://10.0.0.1:8081', 'http://[::2]'])
      assert.equal(adminAccess({ url: other }, here).token, null)
  })
})

describe('create', () => {
  const terminal = (typed = '') => {
    const [stdout, stderr] = [new PassThrough(), new PassThrough()]
    return { stdin: Readable.from([typed]), stdout, stderr }
  }
  const env = { CREATE_TOKEN: 'created-secret-9876' }
  const create = async (
    name: (typeof RESOURCE_NAMES)[number],
    words: readonly string[],
    more: Partial<CreateOptions> = {},
    typed = '',
  ) => {
    const io = terminal(typed)
    const code = await createResource(name, words, { ...access, ...more }, env, io)
    return { code, out: String(io.stdout.read() ?? ''), err: String(io.stderr.read() ?? '') }
  }

  test('an agent: its key is shown once, with what to do next; a dry run creates nothing', async () => {
    const tried = await create('agents', ['made bot'], { dryRun: true })
    assert.match(tried.out, /^Agent made bot would be created\. Nothing was\.\n$/)
    await assert.rejects(show('agents', 'made bot'), /No agent has/)
    const { code, out } = await create('agents', ['made bot'], { label: 'team=billing,env=prod' })
    assert.equal(code, 0)
    assert.match(out, /^Agent made bot created: agt_\w+\nKey \(shown only once\): agw_live_\w+\n/)
    assert.match(out, /agw allow 'made bot' GET https:/)
    const { labels } = JSON.parse((await show('agents', 'made bot', 'json')).out)
    assert.deepEqual(labels, { team: 'billing', env: 'prod' })
  })

  test('an integration: secrets come from the environment or are asked for, never from the command line', async () => {
    const base_url = 'https://api.openai.com/v1'
    const auth = { auth: 'bearer', authMember: { token: 'literal' } }
    await assert.rejects(create('integrations', ['a', base_url], auth), /must not be written here/)
    await assert.rejects(
      create('integrations', ['a', base_url], { auth: 'bearer', authMember: { value: 'x' } }),
      /--auth-member value: bearer has token/,
    )
    const made = await create('integrations', ['created api', base_url], {
      ...auth,
      authMember: { token: '${CREATE_TOKEN}' },
    })
    assert.equal(made.code, 0, made.err)
    assert.match(made.err, /^Hint: with "error_format": "openai"/)
    assert.doesNotMatch(made.out + made.err, /created-secret/)
    const { auth: shown } = JSON.parse((await show('integrations', 'created api', 'json')).out)
    assert.equal(shown.token_last4, '9876')
    const asked = await create(
      'integrations',
      ['asked api', 'https://asked.example.com'],
      { auth: 'header', authMember: { name: 'x-api-key' } },
      'typed-secret-5432\n',
    )
    assert.equal(asked.code, 0, asked.err)
    const { auth: typed } = JSON.parse((await show('integrations', 'asked api', 'json')).out)
    assert.deepEqual([typed.name, typed.value_last4], ['x-api-key', '5432'])
    const refused = await create('integrations', ['none', 'ftp://x'], { auth: 'none' })
    assert.equal(refused.code, 1)
    assert.match(refused.err, /base_url must begin with http/)
  })

  test('a connection: for an agent, a user or shared; it is listed, shown and deleted', async () => {
    const integration = made['integrations'].integration_id
    const { agent_id, agent_name } = made['agents']
    const auth = { auth: 'bearer', authMember: { token: '${CREATE_TOKEN}' }, integration }
    await assert.rejects(create('connections', ['x'], { auth: 'bearer' }), /--integration/)
    await assert.rejects(
      create('connections', ['x'], { ...auth, agent: agent_id, user: 'u' }),
      /one of --agent and --user/,
    )
    const done = await create('connections', ['of a bot'], { ...auth, agent: agent_name })
    assert.equal(done.code, 0, done.err)
    assert.match(done.out, new RegExp(`It is used for agent:${agent_id}`))
    assert.doesNotMatch(done.out + done.err, /created-secret/)
    await create('connections', ['of a user'], { ...auth, user: 'u@example.com' })
    const shown = JSON.parse((await show('connections', 'of a user', 'json')).out)
    assert.equal(shown.subject, 'user:u@example.com')
    assert.equal(shown.auth.token_last4, '9876')
    const stdout = new PassThrough()
    for (const name of ['of a bot', 'of a user']) await deleteConnection(name, access, stdout)
    assert.match(String(stdout.read()), /Connection of a bot deleted/)
    await assert.rejects(show('connections', 'of a bot'), /No connection has/)
  })

  test('a scope names agent and integration, and takes the rest as JSON', async () => {
    const json = join(tempFolder('create'), 'scope.json')
    writeFileSync(json, JSON.stringify({ priority: 7, rules: [] }))
    const { code, err } = await create('scopes', ['created scope'], {
      agent: 'made bot',
      integration: 'shop',
      allow: [{ methods: ['GET'], paths: ['/a', '/b/**'] }],
      rate: 5,
      json,
    })
    assert.equal(code, 0, err)
    const scope = JSON.parse((await show('scopes', 'created scope', 'json')).out)
    assert.deepEqual(
      [scope.priority, scope.rules, scope.rate_limiting.requests_per_minute],
      [7, [{ methods: ['GET'], paths: ['/a', '/b/**'] }], 5],
    )
    const selects = await create('scopes', ['selecting'], {
      agentSelector: 'team=billing',
      integration: 'shop',
      allow: [{ methods: ['GET'], paths: ['/c'] }],
    })
    assert.match(selects.out, /\nIt selects 1 agent\.\n/)
    writeFileSync(json, '[]')
    await assert.rejects(create('scopes', ['x'], { json }), /has no JSON object/)
  })

  test('keys, webhooks and tokens: what is shown once is shown', async () => {
    const expires = new Date(Date.now() + 86_400_000).toISOString()
    const key = await create('keys', ['night'], { agent: 'made bot', expires })
    assert.match(
      key.out,
      /^API key night created: key_\w+\nKey \(shown only once\): agw_live_\w+\n$/,
    )
    const token = await create('tokens', ['x@example.com'], { role: 'viewer', name: 'phone' })
    assert.match(token.out, /\nToken \(shown only once\): agw_admin_\w+\n$/)
    const events = ['agent_killed']
    const hook = await create('webhooks', ['created hook', 'https://8.8.8.8/x'], { events })
    assert.match(hook.out, /^Webhook created hook created: /)
  })

  const allow = async (
    words: readonly [string, string, string],
    more: Partial<AllowOptions> = {},
  ) => {
    const io = terminal()
    const code = await runAllow(...words, { ...access, ...more }, io)
    return { code, out: String(io.stdout.read() ?? ''), err: String(io.stderr.read() ?? '') }
  }
  const answer = async (url: string, method = 'GET', agent = 'billing bot') =>
    (await printed((out, err) => runExplain(agent, method, url, access, out, err))).out

  test('agw allow adds one rule for exactly the call, once it is confirmed', async () => {
    const url = 'https://shop.example.com/v1/orders/7/items*'
    const words = ['billing bot', 'post', url] as const
    const asked = await allow(words)
    assert.equal(asked.code, 1)
    assert.match(
      asked.out,
      /^scope orders only of billing bot for shop:\n {2}\+ POST \/orders\/7\/items%2A\n {2}0 refused calls /,
    )
    assert.match(asked.err, /Nothing was changed\. Confirm with y, or use --yes/)
    assert.equal((await allow(words, { dryRun: true })).code, 0)
    assert.match(await answer(url, 'POST'), /^refused/)
    assert.equal((await allow(words, { yes: true })).code, 0)
    assert.match(await answer(url, 'POST'), /^allowed/)
    assert.match(await answer(url.replace('*', '1'), 'POST'), /^refused/)
    assert.match(await answer(url), /^refused/)
    const { rules, priority } = JSON.parse((await show('scopes', 'orders only', 'json')).out)
    assert.deepEqual([rules.length, priority], [2, 100])
    assert.match((await allow(words)).out, /^Already allowed by the scope orders only/)
  })

  test('agw allow makes a scope where the agent has none of its own, and widens none of many agents', async () => {
    const url = 'https://shop.example.com/v1/d'
    const { code, out, err } = await allow(['made bot', 'GET', url], { yes: true, output: 'json' })
    assert.equal(code, 0, err)
    assert.deepEqual(JSON.parse(out).rule, { methods: ['GET'], paths: ['/d'] })
    const { agent_selector } = JSON.parse((await show('scopes', 'selecting', 'json')).out)
    assert.deepEqual(agent_selector.match_labels, { team: 'billing' })
    const { agent_id } = JSON.parse((await show('agents', 'made bot', 'json')).out)
    const shown = JSON.parse((await show('scopes', JSON.parse(out).scope_id, 'json')).out)
    assert.equal(shown.agent_id, agent_id)
    const other = await allow(['other bot', 'GET', url], { yes: true })
    assert.match(other.out, /^new scope other bot on shop of other bot for shop:\n/)
    assert.match(await answer(url, 'GET', 'other bot'), /^allowed/)
    assert.match(await answer('https://shop.example.com/v1/e', 'GET', 'other bot'), /^refused/)
  })

  test('agw allow says what a rule cannot change', async () => {
    const rows: readonly (readonly [readonly [string, string, string], RegExp])[] = [
      [['billing bot', 'GET', 'https://elsewhere.example.com/x'], /agw integrations create NAME/],
      [['runaway', 'GET', 'https://shop.example.com/v1/a'], /agw reactivate agt_/],
      [['billing bot', 'GET', 'https://shop.example.com/v1/../x'], /No rule can allow it/],
      [['billing bot', 'GET', 'https://shop.example.com/v1/x%2Fy'], /refused_reading/],
    ]
    for (const [words, says] of rows) {
      const { code, err } = await allow(words, { yes: true })
      assert.equal(code, 1, words[2])
      assert.match(err, says)
    }
  })

  const add = async (name: string, more: Partial<AddOptions> = {}, typed = '') => {
    const io = terminal(typed)
    const code = await runAdd(name, { ...access, ...more }, env, io)
    return { code, out: String(io.stdout.read() ?? ''), err: String(io.stderr.read() ?? '') }
  }

  test('agw add makes a well-known API, an agent and a scope for the actions, and uses what exists', async () => {
    const github = await add('github', { agent: 'git bot' }, 'typed-token-2468\n')
    assert.match(
      github.out,
      /^Integration github created: int_\w+\nAgent git bot created: agt_\w+\nKey .* agw_live_\w+\nScope github read created: scp_\w+\n\nCall as git bot \(curl\):\n\n  export AGW_KEY='agw_live_\w+'\n  curl -ig 'http.*\/https:\/\/api\.github\.com\/\w+' -H "Authorization: Bearer \$AGW_KEY"\n$/,
    )
    assert.doesNotMatch(github.out + github.err, /typed-token/)
    const again = await add('github', { agent: 'git bot', actions: ['write'] }, 'not used\n')
    assert.match(again.out, /^Integration github exists: int_\w+\nScope github write created/)
    const repo = 'https://api.github.com/repos/acme/app'
    assert.match(await answer(`${repo}/contents/a/b.txt`, 'GET', 'git bot'), /^allowed/)
    assert.match(await answer(`${repo}/issues`, 'POST', 'git bot'), /^allowed/)
    assert.match(await answer(repo, 'DELETE', 'git bot'), /^refused/)
    const { auth, error_format } = JSON.parse((await show('integrations', 'github', 'json')).out)
    assert.deepEqual([auth.token_last4, error_format], ['2468', 'gateway'])
  })

  test('agw add asks for what a template leaves open, and sets no format of refusals silently', async () => {
    await assert.rejects(add('mcp', { agent: 'tool bot', actions: ['write'] }), /must have url: /)
    await assert.rejects(
      add('linear', { agent: 'x', actions: ['read'] }),
      /is no action of linear; it has write/,
    )
    const parameter = { url: 'https://mcp.example.com/mcp' }
    const mcp = await add(
      'mcp',
      { agent: 'tool bot', actions: ['write'], parameter },
      'tok-13579\n',
    )
    assert.equal(mcp.code, 0, mcp.err)
    assert.match(await answer(parameter.url, 'POST', 'tool bot'), /^allowed/)
    assert.match(await answer(`${parameter.url}/x`, 'POST', 'tool bot'), /^refused/)
    const anthropic = await add('anthropic', { agent: 'tool bot' }, 'sk-ant-13579\n')
    assert.match(anthropic.out, /Scope anthropic read, write created/)
    assert.match(anthropic.out, /ANTHROPIC_AUTH_TOKEN='the key of tool bot'\n  claude\n$/)
    const stripe = await add('stripe', { output: 'json' }, 'sk-13579\n')
    assert.match(stripe.err, /Refusals have the gateway's format; --error-format stripe lets/)
    const { integration_id } = JSON.parse(stripe.out)
    const shown = JSON.parse((await show('integrations', integration_id, 'json')).out)
    assert.deepEqual(
      [shown.error_format, shown.also_hosts[0].host],
      ['gateway', 'files.stripe.com'],
    )
  })

  test('agw quickstart makes an agent that may read, twice under two names, and waits for its first call', async () => {
    const quickstart = (more: Partial<QuickstartOptions> = {}) => {
      const io = terminal()
      const ran = runQuickstart(
        'http://127.0.0.1:8082/v1',
        { ...access, agent: 'demo', ...more },
        {},
        io,
      )
      return { io, ran }
    }
    const first = quickstart()
    assert.equal(await first.ran, 0)
    const text = String(first.io.stdout.read())
    assert.match(text, /export AGW_KEY=agw_live_\w+\n/)
    assert.match(text, /curl -i http:\/\/127\.0\.0\.1:\d+\/http:\/\/127\.0\.0\.1:8082\/v1\/hello /)
    assert.match(text, /agw kill --reason 'trying it' demo\n/)
    const second = quickstart({ wait: true, output: 'json' })
    await until('it waits', () => second.io.stderr.readableLength > 0)
    const made = JSON.parse(String(second.io.stdout.read()))
    assert.equal(made.agent_name, 'demo-2')
    const of = { agent_id: made.agent_id, method: 'GET', endpoint: '/v1/hello' }
    await recordEntries(redis, 'org_default', [
      activityEntry('permission_denied', { ...of, reason: 'permission_denied' }),
    ])
    await until('it says why', () => second.io.stderr.readableLength > 40)
    await recordEntries(redis, 'org_default', [
      activityEntry('request_allowed', { ...of, status: 200, decision: 'allowed' }),
    ])
    assert.equal(await second.ran, 0)
    assert.match(String(second.io.stderr.read()), /Refused: GET \/v1\/hello: .*permission_denied\n/)
    assert.equal(String(second.io.stdout.read()), 'Received: GET /v1/hello: 200\n')
    const shells = terminal()
    const hostile = 'http://127.0.0.1:8082/$(id);v1'
    await runQuickstart(hostile, { ...access, agent: "--url=it's" }, {}, shells)
    const pasted = String(shells.stdout.read())
    assert.match(pasted, /curl -i 'http:\/\/[^']*\$\(id\);v1\/hello' -H/)
    assert.match(pasted, /agw kill --reason 'trying it' -- '--url=it'"'"'s'\n/)
    const elsewhere = ['https://new.example.com', { ...access, agent: 'demo' }] as const
    await assert.rejects(runQuickstart(...elsewhere, {}, terminal()), /--auth bearer/)
  })
})

/** The command line as a user runs it. */
function agw(args: readonly string[], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [fromRoot('dist', 'cli', 'bin.js'), ...args], {
    env: { ...process.env, AGW_URL: url, AGW_TOKEN: admin.token, ...env },
  })
  let [out, err] = ['', '']
  child.stdout.on('data', (part) => (out += part))
  child.stderr.on('data', (part) => (err += part))
  return new Promise<{ code: number | null; out: string; err: string }>((resolve) => {
    child.once('close', (code) => resolve({ code, out, err }))
  })
}

test('list is what a resource without a subcommand means, with its options', async () => {
  const { code, out, err } = await agw(['agents', '--query', 'bill', '-o', 'json'])
  assert.equal(code, 0, err)
  assert.equal(JSON.parse(out)[0].agent_name, 'billing bot')
  const version = await agw(['--version'])
  const { version: ours } = JSON.parse(readFileSync(fromRoot('package.json'), 'utf8'))
  assert.equal(version.out, `${ours}\n`)
})

for (const program of ['ext-proc', 'access-log', 'admin'])
  test(`agw ${program} runs the program: without its settings it exits with 1 and says which`, async () => {
    const { code, err } = await agw([program], { AGW_DATA_DIR: tempFolder('none') })
    assert.equal(code, 1, err)
    assert.match(err, /cannot start:/)
    assert.match(err, /REDIS_URL/)
  })

/** What a shell offers for a line, by the functions that its completion system would call. */
const SHELLS = {
  bash: {
    program: ['bash', '--norc', '-c'],
    offer: `source "$1"; COMP_WORDS=("\${@:2}"); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _agw
printf '%s\\n' "\${COMPREPLY[@]}"`,
  },
  zsh: {
    program: ['zsh', '-f', '-c'],
    // Without its line editor, zsh has no compadd of its own.
    offer: `compdef() { : }; _files() { : }; compadd() { shift; print -l -- \${(M)@:#\${words[CURRENT]}*} }
source "$1"; words=("\${@:2}"); CURRENT=\${#words}; _agw`,
  },
  fish: {
    program: ['fish', '-c'],
    offer: 'source $argv[1]; complete -C "$argv[2..]" | string replace -r "\\t.*" ""',
  },
} as const

for (const [shell, { program, offer }] of Object.entries(SHELLS)) {
  const isThere = spawnSync(shell, ['--version']).status === 0
  test(`the completion of ${shell} is loaded by it, and knows commands, options and choices`, {
    skip: isThere ? false : `${shell} is not installed`,
  }, async () => {
    const { out: script } = await agw(['completion', shell])
    const file = join(tempFolder('completion'), `agw.${shell}`)
    writeFileSync(file, script)
    const [command, ...args] = program
    const complete = (...words: readonly string[]): string[] => {
      const before = shell === 'fish' ? [...args, offer] : [...args, offer, shell]
      const { stdout, stderr } = spawnSync(command, [...before, file, ...words])
      assert.equal(String(stderr), '')
      return String(stdout).trim().split('\n').sort()
    }
    assert.deepEqual(complete('agw', 'kil'), ['kill', 'kills'])
    assert.deepEqual(complete('agw', 'keys', 'r'), ['rotate'])
    assert.deepEqual(complete('agw', 'activity', '--event', 'injection_b'), ['injection_blocked'])
    assert.deepEqual(complete('agw', 'kill', 'some-agent', '--rea'), ['--reason'])
    assert.deepEqual(complete('agw', 'completion', 'f'), ['fish'])
  })
}
