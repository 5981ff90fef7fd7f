import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFileSync,
  cpSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { runBackup } from '../../cli/commands/backup.ts'
import { type RestoreOptions, runRestore } from '../../cli/commands/restore.ts'
import { runGapAccept, runGapShow } from '../../cli/commands/restore-gap.ts'
import { connectRedis } from '../../core/redis/connect-redis.ts'
import { fromRoot } from '../../core/system/root.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import type { Environment } from '../../core/settings/settings.ts'
import { lockOf } from '../kit/restrictions.ts'
import { type SharedStack, startAll, stopAll } from '../kit/shared-stack.ts'
import { startRelay } from '../kit/start-relay.ts'
import { startValkey } from '../kit/start-valkey.ts'
import { tempFolder } from '../kit/temp-folder.ts'
import { until } from '../kit/until.ts'
import { runCommand } from '../kit/run-command.ts'

const ORG = 'org_default'
/** An edge reads a kill from the store 100 ms after its message. */
const CONFIRMED_MS = 1_000
const PASSPHRASE = 'a passphrase of some length'
const folder = tempFolder('backup')
let stack: SharedStack
let redis: RedisClient
let here: Environment

before(async () => {
  stack = await startAll({})
  redis = connectRedis(stack.redisUrl, { name: 'test', role: 'queue' })
  here = {
    AGW_DATA_DIR: stack.dataDir,
    AGW_PROXY_PORT: new URL(stack.proxyUrl).port,
    AGW_API_PORT: new URL(stack.apiUrl).port,
    AGW_BACKUP_PASSPHRASE: PASSPHRASE,
  }
})
after(async () => {
  redis.disconnect()
  await stopAll(stack)
})

const backup = (name: string, keys = true, env = here) =>
  runCommand((out) => runBackup(join(folder, name), { keys }, env, out))
const restore = (
  name: string,
  replace = true,
  env = here,
  more: Pick<RestoreOptions, 'accept_gap' | 'archive'> = {},
) => runCommand((out) => runRestore(join(folder, name), { replace, ...more }, env, out))

test('a backup that cannot be written says why', async () => {
  await assert.rejects(
    backup('nowhere/b'),
    /nowhere\/b cannot be written: its directory does not exist\.$/,
  )
  symlinkSync('/dev/full', join(folder, 'full.part'))
  await assert.rejects(backup('full'), /full cannot be written: its disk is full\.$/)
})

/** Everything in the store but what belongs to the running processes. */
const configuration = async (): Promise<string> => {
  const { operator } = stack
  const agents = await operator.send('GET', '/admin/agents?limit=200')
  const integrations = await operator.send('GET', '/admin/integrations?limit=200')
  const scopes = await operator.send('GET', '/admin/scopes?limit=200')
  return JSON.stringify([agents, integrations, scopes], (name, value) =>
    name === 'last_seen_at' ? undefined : value,
  )
}

type Access = Awaited<ReturnType<SharedStack['operator']['makeAccess']>>
const call = async ({ headers, base_url }: Access) => {
  const answer = await fetch(`${stack.proxyUrl}/${base_url}/x`, { headers })
  await answer.arrayBuffer()
  return { status: answer.status, reason: answer.headers.get('x-agw-reason') }
}

/** After a restore, each edge serves again at its own time. */
const decided = (access: Access): ReturnType<typeof call> =>
  until('a call is decided', async () => {
    const answer = await call(access)
    return answer.status !== 503 && answer
  })

describe('a backup', () => {
  let killedBefore: Access
  let killedAfter: Access
  let alive: Access
  let text: Buffer
  let entries = 0

  test('is written during traffic and changes, consistent, and readable by its owner alone', async () => {
    const { operator } = stack
    const make = () => operator.makeAccess(stack.ownBaseUrl())
    killedBefore = await make()
    killedAfter = await make()
    alive = await make()
    const kill = `/admin/agents/${killedBefore.agent.agent_id}/kill`
    await operator.send('POST', kill, { reason: 'before the backup' })
    let isOver = false
    const statuses = new Set<number>()
    const traffic = (async () => {
      while (!isOver) statuses.add((await call(alive)).status)
    })()
    let changes = 0
    const changing = (async () => {
      while (!isOver) {
        await operator.makeAgent()
        changes++
        await new Promise((resolve) => setTimeout(resolve, 150))
      }
    })()
    await until('there is traffic', () => statuses.size > 0 && changes > 0)
    const { code, text: said } = await backup('one')
    isOver = true
    await Promise.all([traffic, changing])
    assert.equal(code, 0, said)
    assert.deepEqual([...statuses], [200])
    const file = join(folder, 'one')
    assert.equal(statSync(file).mode & 0o777, 0o600)
    text = readFileSync(file)
    entries = text.toString().split('"log"').length
    assert.ok(entries > 1)
    const key = readFileSync(join(stack.dataDir, 'encryption-key'), 'utf8').trim()
    assert.ok(!text.includes(key))
    assert.ok(!text.includes(stack.adminToken))
  })

  test('does not replace a file, and needs a passphrase for keys', async () => {
    await assert.rejects(backup('one'), /exists already/)
    await assert.rejects(
      backup('two', true, { ...here, AGW_BACKUP_PASSPHRASE: '' }),
      /--keys needs/,
    )
    await assert.rejects(
      backup('two', true, { ...here, AGW_BACKUP_PASSPHRASE: 'short' }),
      /at least 12/,
    )
  })

  for (const [what, alter, error] of [
    [
      'truncated',
      (file: string) => truncateSync(file, Math.floor(text.length / 2)),
      /truncated|JSON|altered/,
    ],
    [
      'without its last line',
      (file: string) => writeFileSync(file, text.subarray(0, text.lastIndexOf('{"end"'))),
      /truncated/,
    ],
    ['with one byte changed', (file: string) => writeFileSync(file, flipped(text)), /altered/],
    ['with a line removed', (file: string) => writeFileSync(file, withoutLine(text)), /altered/],
    [
      'that continues after its end',
      (file: string) => appendFileSync(file, '{"key":"x"}\n'),
      /goes on after its end/,
    ],
    ['that is something else', (file: string) => writeFileSync(file, 'hello\n'), /not a backup/],
    ['that is empty', (file: string) => writeFileSync(file, ''), /empty/],
  ] as const)
    test(`a file ${what} is refused before anything is changed`, async () => {
      const file = join(folder, 'altered')
      writeFileSync(file, text)
      alter(file)
      const epoch = await redis.get(REDIS_KEYS.epoch)
      await assert.rejects(restore('altered'), error)
      assert.equal(await redis.get(REDIS_KEYS.epoch), epoch)
      assert.equal(await redis.exists(REDIS_KEYS.restoring), 0)
      assert.equal((await call(alive)).status, 200)
    })

  test('is refused for a store that is not empty, and with a wrong passphrase on a machine without the key', async () => {
    await assert.rejects(restore('one', false), /The store is not empty.*--replace/)
    const other = { ...here, AGW_DATA_DIR: tempFolder('other'), REDIS_URL: stack.redisUrl }
    const wrong = { ...other, AGW_BACKUP_PASSPHRASE: 'another passphrase' }
    await assert.rejects(restore('one', true, wrong), /passphrase does not open/)
    const none = { ...other, AGW_BACKUP_PASSPHRASE: '' }
    await assert.rejects(
      restore('one', true, none),
      /It is in the backup: set AGW_BACKUP_PASSPHRASE/,
    )
    assert.equal((await call(alive)).status, 200)
  })

  test('brings back the state of its moment, and keeps the kills made since', async () => {
    const { operator } = stack
    await backup('again', false)
    const before_ = await configuration()
    const made = await operator.makeAgent()
    const kill = `/admin/agents/${killedAfter.agent.agent_id}/kill`
    await operator.send('POST', kill, { reason: 'after the backup' })
    const { code, text: said } = await restore('again')
    assert.equal(code, 0, said)
    assert.match(said, new RegExp(`agent ${killedAfter.agent.agent_id} killed at `))
    assert.doesNotMatch(said, /unknown/)
    assert.doesNotMatch(said, /Restart/)
    assert.equal((await decided(alive)).status, 200)
    for (const access of [killedBefore, killedAfter])
      assert.deepEqual(await decided(access), { status: 403, reason: 'agent_killed' })
    await operator.send('GET', `/admin/agents/${made.agent_id}`, undefined, 404)
    const { agent_id } = killedAfter.agent
    const restored = await operator.send('GET', `/admin/agents/${agent_id}`)
    assert.deepEqual([restored.status, restored.kill_reason], ['killed', 'after the backup'])
    // All else is as it was.
    await operator.send('POST', `/admin/agents/${agent_id}/reactivate`, { reason: 'compared' })
    const state = (text_: string) => text_.replaceAll(/"(updated_at|etag)":"[^"]*",?/g, '')
    assert.equal(state(await configuration()), state(before_))
    const { data } = await operator.send('GET', '/admin/activity?limit=200')
    assert.ok(data.length > 0)
    await stack.ready()
  })

  test('that is killed with -9 and run again keeps the kills made since, also without any edge that knows them', async () => {
    const { operator } = stack
    const { agent_id } = killedAfter.agent
    await backup('interrupted', false)
    await operator.send('POST', `/admin/agents/${agent_id}/kill`, { reason: 'after the backup' })
    // So slow that it is certainly seen in the middle.
    const relay = await startRelay(stack.redisUrl, () => 20)
    const child = spawn(
      process.execPath,
      [fromRoot('dist', 'cli', 'bin.js'), 'restore', join(folder, 'interrupted'), '--replace'],
      { env: { PATH: process.env['PATH'], ...here, REDIS_URL: relay.url }, stdio: 'ignore' },
    )
    const exited = once(child, 'exit')
    // It has removed what was there, and not yet written all of it.
    while (child.exitCode === null && (await redis.exists(REDIS_KEYS.agents(ORG))) === 1);
    child.kill('SIGKILL')
    const [, signal] = (await exited) as [number | null, string | null]
    assert.equal(signal, 'SIGKILL')
    await relay.stop()
    assert.equal(await redis.exists(REDIS_KEYS.installation), 0)
    await until('edges refuse calls', async () => (await call(alive)).status === 503)
    // Edges know the kill; without them, only the store does.
    for (const pid of await stack.pids('ext-proc')) process.kill(pid, 'SIGKILL')
    const { code, text: said } = await restore('interrupted', false)
    assert.equal(code, 0, said)
    assert.equal((await decided(alive)).status, 200)
    assert.deepEqual(await decided(killedAfter), { status: 403, reason: 'agent_killed' })
    assert.equal(await redis.exists(REDIS_KEYS.restoringKills), 0)
    await operator.send('POST', `/admin/agents/${agent_id}/reactivate`, { reason: 'compared' })
    await stack.ready()
  })

  test('into a store that was emptied: kills that only the edges know are kept', async () => {
    const { operator } = stack
    const { agent_id } = killedAfter.agent
    await backup('third', false)
    await operator.send('POST', `/admin/agents/${agent_id}/kill`, {
      reason: 'known to edges alone',
    })
    // The edge has seen it in the store, and does not only know of it from a message.
    await new Promise((resolve) => setTimeout(resolve, CONFIRMED_MS))
    await redis.flushall()
    await until('the store is set up again', async () => {
      return (await redis.exists(REDIS_KEYS.adminTokens(ORG))) === 1
    })
    const { code, text: said } = await restore('third')
    assert.equal(code, 0, said)
    assert.match(said, /The store is not the one that the backup was made of/)
    // Even where the edges know all kills, no one knows all revocations.
    assert.deepEqual(await answered(alive), { status: 503, reason: 'gateway_unavailable' })
    await acknowledge({ agent_ids: null })
    assert.equal((await decided(alive)).status, 200)
    assert.deepEqual(await decided(killedAfter), { status: 403, reason: 'agent_killed' })
    await until('an edge has written it back', async () => {
      const agent = await operator.send('GET', `/admin/agents/${agent_id}`)
      return agent.status === 'killed'
    })
    assert.deepEqual(await decided(killedBefore), { status: 403, reason: 'agent_killed' })
    await stack.ready()
  })
})

/** What an agent gets when an edge has read the store again. */
const answered = (access: Access): ReturnType<typeof call> =>
  until('an edge serves', async () => {
    const { data } = await stack.operator.send('GET', '/admin/edges').catch(() => ({ data: [] }))
    const answer = data.length > 0 && (await call(access))
    return answer && (answer.status !== 503 || (await causeOf(access)) === 'restored') && answer
  })
const causeOf = async ({ headers, base_url }: Access): Promise<string | undefined> => {
  const answer = await fetch(`${stack.proxyUrl}/${base_url}/x`, { headers })
  return ((await answer.json()) as { details?: { cause?: string } }).details?.cause
}
const restoreGap = (what: 'show' | 'accept', ...words: string[]) => {
  const options = { url: stack.apiUrl, token: stack.adminToken }
  const all = words.includes('--all')
  return runCommand((out) =>
    what === 'show'
      ? runGapShow(options, out)
      : runGapAccept(all ? [] : words, { ...options, all }, out),
  )
}
const acknowledge = (body: object): Promise<unknown> =>
  stack.operator.send('POST', '/admin/restore-gap/acknowledge', body)
const storePart = async (): Promise<{ status: number; store: string }> => {
  const answer = await fetch(`${stack.apiUrl}/readyz`)
  const { parts } = (await answer.json()) as { parts: { store: string } }
  return { status: answer.status, store: parts.store }
}
const encryptionKey = (): string =>
  readFileSync(join(stack.dataDir, 'encryption-key'), 'utf8').trim()
const isArchived = (text: string): Promise<unknown> =>
  until(`the archive has ${text}`, () => archiveText().includes(text))
function archiveText(): string {
  const root = join(stack.dataDir, 'archive')
  return readdirSync(root, { recursive: true })
    .map(String)
    .filter((name) => name.includes(ORG) && name.endsWith('.ndjson'))
    .map((name) => readFileSync(join(root, name), 'utf8'))
    .join('')
}

describe('what was done after a backup', () => {
  let killed: Access
  let deleted: Access
  let revoked: Access
  let narrowed: Access
  let back: Access
  let alive: Access
  let locked: Access
  let unlocked: Access
  /** The scope of one got an end; that of the other, which selects it by its labels, an earlier one. Both are over. */
  let over: Access
  let overEarlier: Access
  const REFUSED = { status: 403, reason: 'permission_denied' }
  const noScopeIsOpen = async (): Promise<void> => {
    for (const access of [narrowed, over, overEarlier])
      assert.deepEqual(await answered(access), REFUSED)
  }
  /** Each asks for approvals: its request was pending, or made a grant, before the backup or after it. */
  let asking: Record<'waits' | 'granted' | 'granted later', Access>
  const requests: string[] = []
  let other_key = ''
  let token = ''

  const isInForce = async (): Promise<void> => {
    assert.deepEqual(await answered(killed), { status: 403, reason: 'agent_killed' })
    assert.deepEqual(await answered(locked), { status: 403, reason: 'locked' })
    assert.deepEqual(await answered(deleted), { status: 401, reason: 'invalid_api_key' })
    assert.deepEqual(await answered({ ...revoked, headers: bearer(other_key) }), {
      status: 401,
      reason: 'invalid_api_key',
    })
    const answer = await fetch(`${stack.apiUrl}/admin/agents`, { headers: bearer(token) })
    assert.equal(answer.status, 401)
    for (const name of ['ended', 'off', 'replaced'])
      assert.equal((await stack.operator.send('GET', connections[name] ?? '')).status, 'revoked')
    await stack.operator.send('GET', connections['dropped'] ?? '', undefined, 404)
  }
  /** Paths, by name. */
  const connections: Record<string, string> = {}
  const bearer = (key: string) => ({ authorization: `Bearer ${key}` })

  const REQUIRED = { status: 403, reason: 'approval_required' }
  /** The one request that a call of the agent has made, or is attached to. */
  const pendingOf = async (access: Access): Promise<string> => {
    assert.deepEqual(await answered(access), REQUIRED)
    const { agent_id } = access.agent
    const list = `/admin/access-requests?status=pending&agent_id=${agent_id}`
    const { data } = await stack.operator.send('GET', list)
    assert.equal(data.length, 1)
    requests.push(data[0].request_id)
    return data[0].request_id
  }
  const grant = async (access: Access): Promise<void> => {
    const expires_at = new Date(Date.now() + 3_600_000).toISOString()
    const path = `/admin/access-requests/${await pendingOf(access)}/approve`
    await stack.operator.send('POST', path, { expires_at })
    assert.equal((await call(access)).status, 200)
  }
  const revivesNothing = async (): Promise<void> => {
    const known = requests.splice(0)
    for (const id of known) {
      await stack.operator.send('GET', `/admin/access-requests/${id}`, undefined, 404)
      await stack.operator.send('POST', `/admin/access-requests/${id}/approve`, undefined, 404)
    }
    for (const access of Object.values(asking))
      assert.ok(!known.includes(await pendingOf(access)), 'a call asks again')
  }

  /** Its scope selects it, and ends in an hour. */
  const makeSelected = async (): Promise<Access> => {
    const { operator } = stack
    const access = await operator.makeAccess(stack.ownBaseUrl())
    const labels = { team: 'ended-earlier' }
    await operator.send('PATCH', `/admin/agents/${access.agent.agent_id}`, { labels })
    await operator.send('DELETE', `/admin/scopes/${access.scope_id}`)
    const { scope_id } = await operator.makeScope('', access.integration.integration_id, {
      agent_id: undefined,
      agent_selector: { match_labels: labels },
      expires_at: new Date(Date.now() + 3_600_000).toISOString(),
    })
    assert.equal((await call(access)).status, 200)
    return { ...access, scope_id }
  }

  before(async () => {
    const { operator } = stack
    const make = () => operator.makeAccess(stack.ownBaseUrl())
    ;[killed, deleted, revoked, narrowed, back, alive, locked, unlocked] = (await Promise.all([
      make(),
      make(),
      make(),
      make(),
      make(),
      make(),
      make(),
      make(),
    ])) as [Access, Access, Access, Access, Access, Access, Access, Access]
    const key = await operator.send('POST', `/admin/agents/${revoked.agent.agent_id}/keys`, {
      name: 'other',
    })
    other_key = key.key
    const made = await operator.send('POST', '/admin/tokens', {
      name: 'other',
      email: 'other@example.com',
      role: 'admin',
    })
    token = made.token
    await operator.send('POST', `/admin/agents/${back.agent.agent_id}/kill`, {})
    const lock = lockOf('agent', 'deny')
    await lock.impose(operator, unlocked)
    over = await make()
    overEarlier = await makeSelected()
    const approval = { approval: { reuse: 'rule', valid_seconds: 86_400 } }
    const rules = [{ methods: ['*'], paths: ['/**'], ...approval }]
    const makeAsking = () => operator.makeAccess(stack.ownBaseUrl(), { rules })
    asking = {
      waits: await makeAsking(),
      granted: await makeAsking(),
      'granted later': await makeAsking(),
    }
    const list = `/admin/integrations/${narrowed.integration.integration_id}/connections`
    for (const name of ['ended', 'off', 'replaced', 'dropped']) {
      const auth = { type: 'bearer', token: `the credential ${name}` }
      const { connection_id } = await operator.send('POST', list, { name, auth })
      connections[name] = `${list}/${connection_id}`
    }
    const { ended, off, replaced, dropped } = connections as Record<string, string>
    await operator.send('PATCH', String(replaced), { status: 'revoked' })
    await pendingOf(asking.waits)
    await grant(asking.granted)
    await backup('changes', false)
    await grant(asking['granted later'])
    await operator.send('POST', `${ended}/revoke`)
    await operator.send('PATCH', String(off), { status: 'revoked' })
    await operator.send('PATCH', String(replaced), {
      auth: { type: 'bearer', token: 'the next credential' },
    })
    await operator.send('DELETE', String(dropped))
    await lock.lift(operator, unlocked)
    await lock.impose(operator, locked)
    await operator.send('POST', `/admin/agents/${killed.agent.agent_id}/kill`, { reason: 'after' })
    await operator.send('DELETE', `/admin/agents/${deleted.agent.agent_id}?cascade=true`)
    await operator.send('DELETE', `/admin/agents/${revoked.agent.agent_id}/keys/${key.key_id}`)
    await operator.send('PUT', `/admin/scopes/${narrowed.scope_id}`, {
      rules: [{ methods: ['POST'], paths: ['/**'] }],
    })
    for (const [{ scope_id }, end_streams] of [
      [over, true],
      [overEarlier, false],
    ] as const)
      await operator.send('PATCH', `/admin/scopes/${scope_id}`, {
        expires_at: new Date(Date.now() + 500).toISOString(),
        end_streams,
      })
    await operator.send('POST', `/admin/agents/${back.agent.agent_id}/reactivate`, { reason: 'ok' })
    await operator.send('PUT', `/admin/integrations/${alive.integration.integration_id}`, {
      allow_empty_segments: true,
      auth: { type: 'bearer', token: 'another credential' },
    })
    await operator.send('DELETE', `/admin/tokens/${made.token_id}`)
    // The last change: its creation has no state before.
    await isArchived(`"target":"${made.token_id}","before":{`)
  })

  test('is in force again after a restore over the running gateway, and nothing is unknown', async () => {
    const { code, text: said } = await restore('changes')
    assert.equal(code, 0, said)
    assert.doesNotMatch(said, /unknown/)
    assert.match(
      said,
      /Make these changes again:\n- connection\.update of con_\S+: the log does not have auth/,
    )
    assert.match(said, /\n- integration\.update of int_\S+: the log does not have auth/)
    for (const words of [
      `agent ${killed.agent.agent_id} killed at `,
      `agent ${back.agent.agent_id} reactivated`,
      `deleted the agent ${deleted.agent.agent_id}`,
      'revoked the key key_',
      `changed the scope ${narrowed.scope_id}`,
      'revoked the tokens of the connection con_',
      'deleted the connection con_',
      'deleted the admin token tok_',
    ])
      assert.ok(said.includes(words), `${words} in\n${said}`)
    assert.equal((await answered(alive)).status, 200)
    await isInForce()
    for (const { scope_id } of [over, overEarlier])
      assert.ok(said.includes(`changed the scope ${scope_id}`), said)
    await noScopeIsOpen()
    // Edges read it one after the other.
    await until('the reactivated agent is served', async () => (await call(back)).status === 200)
    await until('the unlocked agent is served', async () => {
      return (await call(unlocked)).status === 200
    })
    const { integration_id } = alive.integration
    const integration = await stack.operator.send('GET', `/admin/integrations/${integration_id}`)
    assert.equal(integration.allow_empty_segments, true)
    await acknowledgeLost()
    await revivesNothing()
    await stack.ready()
  })

  test('is in force again after the loss of the store, from the archive; what may be missing holds all agents until it is acknowledged', async () => {
    const { operator } = stack
    await redis.flushall()
    await until('the store is set up again', async () => {
      return (await redis.exists(REDIS_KEYS.adminTokens(ORG))) === 1
    })
    // The archive alone knows the kill.
    for (const pid of await stack.pids('ext-proc')) process.kill(pid, 'SIGKILL')
    const { code, text: said } = await restore('changes')
    assert.equal(code, 0, said)
    assert.match(said, /Changes made after \S+ are unknown/)
    await isInForce()
    // Edges read one after the other that an agent was reactivated; none serves it.
    for (const held of [alive, back, narrowed, over, overEarlier])
      await until('it is held', async () => {
        const { status, reason } = await answered(held)
        assert.notEqual(status, 200)
        return reason === 'gateway_unavailable'
      })
    assert.equal(await causeOf(alive), 'restored')
    const part = await until('it is not ready', async () => {
      const now = await storePart()
      return now.store.includes('unknown') && now
    })
    assert.equal(part.status, 503)
    const { data } = await operator.send('GET', '/admin/alerts?status=open&severity=critical')
    assert.ok(data.some(({ kind }: { kind: string }) => kind === 'restore_gap'))
    const agent = await operator.send('GET', `/admin/agents/${alive.agent.agent_id}`)
    assert.ok(agent.restore_gap)
    // One that is made now is not held.
    const fresh = await operator.makeAccess(stack.ownBaseUrl())
    assert.equal((await answered(fresh)).status, 200)
    await operator.send('POST', '/admin/restore-gap/acknowledge', {}, 400)
    const shown = await restoreGap('show')
    assert.equal(shown.code, 1)
    assert.match(shown.text, /^Changes after \S+ are unknown\.[^]*\n- /)
    await assert.rejects(restoreGap('accept'), /Name the agents that may call, or --all/)
    await assert.rejects(restoreGap('accept', 'agt_missing'), /agt_missing/)
    const accepted = await restoreGap('accept', agent.agent_name)
    assert.equal(accepted.text, '1 agent may call again. Others are still refused.\n')
    await until('it is served', async () => (await call(alive)).status === 200)
    assert.deepEqual(await answered(back), { status: 503, reason: 'gateway_unavailable' })
    assert.equal((await restoreGap('accept', '--all')).code, 0)
    await until('all are served', async () => (await call(back)).status === 200)
    assert.deepEqual(await restoreGap('show'), { code: 0, text: 'No change is unknown.\n' })
    await noScopeIsOpen()
    await isInForce()
    await acknowledgeLost()
    await stack.ready()
  })

  test('an archive that was changed kills and narrows, and lifts nothing', async () => {
    const copy = join(tempFolder('changed-archive'), 'archive')
    cpSync(join(stack.dataDir, 'archive'), copy, { recursive: true })
    for (const name of readdirSync(copy, { recursive: true }).map(String))
      if (name.includes(ORG) && name.endsWith('.ndjson')) {
        const text = readFileSync(join(copy, name), 'utf8')
        writeFileSync(join(copy, name), text.replace('"reason":"after"', '"reason":"other"'))
      }
    await redis.flushall()
    await until('the store is set up again', async () => {
      return (await redis.exists(REDIS_KEYS.adminTokens(ORG))) === 1
    })
    for (const pid of await stack.pids('ext-proc')) process.kill(pid, 'SIGKILL')
    const { text: said } = await restore('changes', true, here, { archive: copy })
    assert.match(said, /was changed, or entries before it are missing/)
    await isInForce()
    assert.deepEqual(await answered(back), { status: 403, reason: 'agent_killed' })
    assert.deepEqual(await answered(unlocked), { status: 403, reason: 'locked' })
    const limited = [narrowed, over, overEarlier]
    await acknowledge({ agent_ids: limited.map(({ agent }) => agent.agent_id) })
    for (const access of limited)
      await until('it is not held', async () => (await call(access)).status === 403)
    await noScopeIsOpen()
  })

  test('without the archive every agent is held; --accept-gap serves them', async () => {
    const nowhere = { archive: tempFolder('no-archive') }
    const { text: said } = await restore('changes', true, here, nowhere)
    assert.match(said, /there is no archive/)
    // Until an edge has read the store, it knows no key (401). No answer is that of the API.
    for (const held of [deleted, alive])
      await until('it is held', async () => {
        const { status } = await answered(held)
        assert.ok(status === 401 || status === 503, String(status))
        return status === 503
      })
    const { text: again } = await restore('changes', true, here, { ...nowhere, accept_gap: true })
    assert.match(again, /accepted/)
    await until('it is served', async () => (await call(alive)).status === 200)
    await acknowledgeLost()
    await stack.ready()
  })

  test('an older one after a newer one: a kill made since is in force', async () => {
    const { operator } = stack
    await backup('newer', false)
    const { agent_id } = alive.agent
    await operator.send('POST', `/admin/agents/${agent_id}/kill`, { reason: 'after the newer one' })
    for (const name of ['newer', 'changes']) {
      const { code, text: said } = await restore(name, true)
      assert.equal(code, 0, said)
      for (const access of [killed, alive])
        assert.deepEqual(await answered(access), { status: 403, reason: 'agent_killed' }, said)
    }
    await acknowledge({ agent_ids: null })
    for (const access of [killed, alive])
      assert.deepEqual(await answered(access), { status: 403, reason: 'agent_killed' })
    await operator.send('POST', `/admin/agents/${agent_id}/reactivate`, { reason: 'ok' })
    await acknowledgeLost()
    await stack.ready()
  })

  test('into the empty store of another deployment: every agent is held there', async () => {
    const valkey = await startValkey()
    const other = { ...here, AGW_DATA_DIR: tempFolder('other-machine'), REDIS_URL: valkey.url }
    const env = { ...other, AGW_ENCRYPTION_KEY: encryptionKey() }
    const { text: said } = await restore('changes', false, env)
    assert.match(said, /there is no archive/)
    const there = connectRedis(valkey.url, { name: 'test', role: 'queue' })
    const texts = await there.hvals(REDIS_KEYS.agents(ORG))
    assert.ok(texts.length > 5)
    for (const text of texts) assert.ok(JSON.parse(text).restore_gap, text)
    there.disconnect()
    await valkey.stop()
  })

  /** Of the store that was emptied. */
  const acknowledgeLost = async (): Promise<void> => {
    const { data } = await stack.operator.send('GET', '/admin/alerts?status=open')
    const alert_ids = data
      .filter(({ kind }: { kind: string }) => kind === 'store_lost')
      .map(({ alert_id }: { alert_id: string }) => alert_id)
    if (alert_ids.length > 0)
      await stack.operator.send('POST', '/admin/alerts/acknowledge', { alert_ids })
  }
})

function flipped(text: Buffer): Buffer {
  const changed = Buffer.from(text)
  const at = changed.indexOf('"dump":"') + 20
  changed[at] = changed[at] === 0x41 ? 0x42 : 0x41
  return changed
}

const withoutLine = (text: Buffer): string =>
  text
    .toString()
    .split('\n')
    .filter((_, i) => i !== 2)
    .join('\n')
