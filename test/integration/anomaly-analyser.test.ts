import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, beforeEach, afterEach, test } from 'node:test'
import { PassThrough, Readable } from 'node:stream'
import { promisify } from 'node:util'
import { readStored, STATE_FORM, type StoredScope } from '../../admin/anomaly/stored-scope.ts'
import { runAnomalyReplay } from '../../cli/commands/anomaly.ts'
import { ACTIVITY_FIELD, type ActivityEntry } from '../../core/activity/activity-entry.ts'
import { LEARNING_MS, scopeKey } from '../../core/anomaly/anomaly-model.ts'
import { ScopeModel } from '../../core/anomaly/scope-model.ts'
import { connectRedis } from '../../core/redis/connect-redis.ts'
import { recordEntries } from '../../core/change/record-entries.ts'
import type { Agent } from '../../core/catalogue/model.ts'
import { fromRoot } from '../../core/system/root.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { activityEntry } from '../kit/activity-entry.ts'
import { type AdminInProcess, adminInProcess } from '../kit/admin-in-process.ts'
import { type KitValkey, startValkey } from '../kit/start-valkey.ts'
import { tempFolder } from '../kit/temp-folder.ts'
import { until as untilWithin } from '../kit/until.ts'
import { callTimes, DAY_MS, MINUTE_MS } from '../kit/usual-traffic.ts'

const run = promisify(execFile)

const ORG = 'org_default'
const RPM = 2
/** Whatever day it is, one of its kind lies in the four days before. */
const LEARNED_MS = 4 * DAY_MS + 60 * MINUTE_MS
const BURST_MS = 40_000
const SETTINGS = { AGW_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64') }

/** Days of calls are read, digested and scored in this process, which gives way to each of our questions. */
const until = <T>(what: string, check: Parameters<typeof untilWithin<T>>[1]): Promise<T> =>
  untilWithin(what, check, 60_000)

let valkey: KitValkey
let redis: RedisClient
const running: AdminInProcess[] = []

before(async () => {
  valkey = await startValkey()
  redis = connectRedis(valkey.url, { name: 'test', role: 'queue' })
})
after(async () => {
  redis.disconnect()
  await valkey.stop()
})
beforeEach(async () => {
  await redis.flushall()
})
afterEach(async () => {
  for (const admin of running.splice(0)) await admin.stop()
})

const startOne = async (): Promise<AdminInProcess> => {
  const admin = await adminInProcess(valkey.url, SETTINGS)
  running.push(admin)
  return admin
}

const stopAll = async (): Promise<void> => {
  for (const admin of running.splice(0)) await admin.stop()
}

interface Made {
  readonly agent_id: string
  readonly scope_id: string
  readonly integration_id: string
}

/** An agent with a scope, and a log that holds nothing of how they were made. */
async function makeScope(anomaly_detection: object): Promise<Made> {
  const admin = await startOne()
  const post = async (path: string, body: object): Promise<any> => {
    const answer = await admin.call('POST', path, { body })
    assert.equal(answer.status, 201, answer.text)
    return answer.body
  }
  const { agent_id } = await post('/admin/agents', { agent_name: 'unusual' })
  const { integration_id } = await post('/admin/integrations', {
    name: 'api',
    base_url: 'https://api.example.com/v1',
    auth: { type: 'none' },
  })
  const { scope_id } = await post('/admin/scopes', {
    name: 'all',
    agent_id,
    integration_id,
    rules: [{ methods: ['*'], paths: ['/**'] }],
    anomaly_detection,
  })
  await stopAll()
  await clearLog()
  await redis.del(REDIS_KEYS.anomalyState(ORG), REDIS_KEYS.anomalyLeader)
  return { agent_id, scope_id, integration_id }
}

/** With its indexes, which take no older entry than the newest that they have. */
async function clearLog(): Promise<void> {
  const names = await redis.smembers(REDIS_KEYS.activityIndexes(ORG))
  await redis.del(
    ...names.map((name) => REDIS_KEYS.activityIndex(ORG, name)),
    REDIS_KEYS.activityIndexes(ORG),
    REDIS_KEYS.activityDigest(ORG),
    REDIS_KEYS.activity(ORG),
  )
}

const callEntry = (made: Made, at_ms: number): ActivityEntry =>
  activityEntry('request_allowed', {
    ...made,
    agent_name: 'unusual',
    timestamp: new Date(at_ms).toISOString(),
    decision: 'allowed',
    status: 200,
    bytes_in: 500,
    bytes_out: 900,
  })

/** Days of usual calls, and a burst at their end. */
function history(made: Made, burst_rpm: number): ActivityEntry[] {
  const now_ms = Date.now()
  return [
    ...callTimes(now_ms - LEARNED_MS, now_ms - BURST_MS, RPM),
    ...callTimes(now_ms - BURST_MS, now_ms, burst_rpm),
  ].map((at_ms) => callEntry(made, at_ms))
}

/** Writes entries at the times that they tell of. */
async function write(entries: readonly ActivityEntry[]): Promise<void> {
  let last_ms = 0
  let number = 0
  for (let at = 0; at < entries.length; at += 2000) {
    const pipeline = redis.pipeline()
    for (const entry of entries.slice(at, at + 2000)) {
      const at_ms = Date.parse(entry.timestamp)
      number = at_ms === last_ms ? number + 1 : 0
      last_ms = at_ms
      pipeline.xadd(
        REDIS_KEYS.activity(ORG),
        `${at_ms}-${number}`,
        ACTIVITY_FIELD,
        JSON.stringify(entry),
      )
    }
    await pipeline.exec()
  }
}

/** Events follow the calls; reading the whole log would delay the analyser, which runs in this process. */
const told = async (): Promise<ActivityEntry[]> =>
  (await redis.xrevrange(REDIS_KEYS.activity(ORG), '+', '-', 'COUNT', 50))
    .map(([, fields]) => JSON.parse(fields[1] ?? '{}') as ActivityEntry)
    .filter(({ event }) => event === 'anomaly_detected')

const stored = async ({ agent_id, scope_id }: Made): Promise<StoredScope | null> =>
  readStored(await redis.hget(REDIS_KEYS.anomalyState(ORG), scopeKey(agent_id, scope_id)))

const readAgent = async ({ agent_id }: Made): Promise<Agent> =>
  JSON.parse((await redis.hget(REDIS_KEYS.agents(ORG), agent_id)) ?? '{}') as Agent

/** What was read is stored when a leader stops; so it is stopped until it has read all. */
const stopWhenScored = async (made: Made, calls: number): Promise<void> => {
  await until('the calls are scored', async () => {
    await until('a leader is at work', () => redis.get(REDIS_KEYS.anomalyLeader))
    await stopAll()
    if ((await stored(made))?.model.calls === calls) return true
    await startOne()
    return false
  })
}

const learned = (made: Made, calls: number): Promise<unknown> =>
  until('all calls are learned and stored', async () => (await stored(made))?.model.calls === calls)

test('a burst is reported once, raises an alert, and kills no agent by default', async () => {
  const made = await makeScope({ enabled: true })
  const entries = history(made, 60 * RPM)
  await write(entries)
  const admin = await startOne()
  const [entry] = await until('the anomaly is reported', async () => {
    const found = await told()
    return found.length > 0 ? found : null
  })
  assert.ok(entry !== undefined)
  const { anomaly_score, anomaly_types, baseline_deviation, action_taken } = entry.data as any
  assert.equal(entry.agent_id, made.agent_id)
  assert.equal(entry.scope_id, made.scope_id)
  assert.ok(anomaly_score >= 0.7 && anomaly_score <= 1)
  assert.equal(anomaly_types[0], 'frequency')
  assert.ok(baseline_deviation.current_rpm > 3 * baseline_deviation.normal_rpm)
  assert.ok(baseline_deviation.normal_rpm > RPM / 2 && baseline_deviation.normal_rpm < RPM * 2)
  assert.equal(action_taken, 'alert')
  const alert = await until('the alert is open', async () => {
    const { body } = await admin.call('GET', '/admin/alerts?status=open')
    return body.data.find(({ kind }: { kind: string }) => kind === 'anomaly')
  })
  assert.equal(alert.last.activity_id, entry.id)
  await stopAll()
  // The next process knows of the incident.
  await recordEntries(redis, ORG, [callEntry(made, Date.now())])
  await startOne()
  await stopWhenScored(made, entries.length + 1)
  assert.equal((await told()).length, 1)
  assert.equal((await readAgent(made)).status, 'active')
})

test('where the scope says so the agent is killed, by the system and for the anomaly', async () => {
  const made = await makeScope({ enabled: true, alert_threshold: 0.7, auto_kill_threshold: 0.8 })
  await write(history(made, 100 * RPM))
  const admin = await startOne()
  const agent = await until('the agent is killed', async () => {
    const { body } = await admin.call('GET', `/admin/agents/${made.agent_id}`)
    return body.status === 'killed' ? body : null
  })
  assert.match(agent.kill_reason, /^Anomaly score 0\.\d+: frequency/)
  const killed = await until('the kill is in the log', async () => {
    const { body } = await admin.call('GET', '/admin/activity?event=agent_killed')
    return body.data[0]
  })
  assert.equal(killed.data.kill_method, 'auto_anomaly')
  assert.equal(killed.data.triggered_by, 'system')
  const anomalies = await until('the anomaly is reported', async () => {
    const found = await told()
    return found.some(({ data }) => data['action_taken'] === 'killed') ? found : null
  })
  assert.equal(anomalies.filter(({ data }) => data['action_taken'] === 'killed').length, 1)

  const answer = await admin.call('POST', `/admin/agents/${made.agent_id}/reactivate`, {
    body: { reason: 'a load test' },
  })
  assert.equal(answer.status, 200, answer.text)
  await stopAll()
  const calls = (await stored(made))?.model.calls ?? 0
  await recordEntries(redis, ORG, [callEntry(made, Date.now())])
  await startOne()
  await stopWhenScored(made, calls + 1)
  const { status } = await readAgent(made)
  assert.equal(status, 'active')
  const kept = await stored(made)
  assert.equal(kept?.incident, null)
  assert.equal(kept?.model.suspicion[0], 0)
  assert.notEqual(kept?.model.ready_ms, null)
})

test('an anomaly whose process ended between the kill and the event is reported by the next process', async () => {
  const made = await makeScope({ enabled: true, auto_kill_threshold: 0.8 })
  await redis.set(REDIS_KEYS.anomalyLeader, 'another')
  const admin = await startOne()
  const answer = await admin.call('POST', `/admin/agents/${made.agent_id}/kill`, {
    body: { reason: 'Anomaly score 0.95: frequency' },
  })
  assert.equal(answer.status, 200, answer.text)
  await stopAll()
  await clearLog()
  await write(history(made, 100 * RPM))
  await redis.del(REDIS_KEYS.anomalyLeader)
  await startOne()
  const taken = await until('the kill is reported', async () => {
    const found = (await told()).map(({ data }) => data['action_taken'])
    return found.includes('killed') ? found : null
  })
  assert.equal(taken.filter((action) => action === 'killed').length, 1)
})

test('a scope without detection is learned, and nothing is reported', async () => {
  const made = await makeScope({ enabled: false, alert_threshold: 0.1, auto_kill_threshold: 0.2 })
  const entries = history(made, 60 * RPM)
  await write(entries)
  const admin = await startOne()
  await learned(made, entries.length)
  assert.deepEqual(await told(), [])
  const { body } = await admin.call('GET', `/admin/agents/${made.agent_id}/baseline`)
  const [scope] = body.scopes
  assert.equal(body.learning, false)
  assert.equal(scope.enabled, false)
  assert.equal(scope.learning, false)
  assert.equal(scope.learned_calls, entries.length)
  assert.deepEqual(scope.endpoints, ['POST /v1/chat/completions'])
  assert.deepEqual(scope.source_ips, ['203.0.113.9'])
  assert.equal(scope.normal_rpm_by_hour.length, 24)
})

test('a scope without traffic is still learning, and an unknown agent has no baseline', async () => {
  const made = await makeScope({ enabled: true })
  const admin = await startOne()
  const { body } = await admin.call('GET', `/admin/agents/${made.agent_id}/baseline`)
  assert.equal(body.learning, true)
  assert.equal(body.scopes[0].learned_calls, 0)
  assert.equal((await admin.call('GET', '/admin/agents/agt_nobody/baseline')).status, 404)
})

test('the baseline of a scope is there from its first seconds on', async () => {
  const made = await makeScope({ enabled: true })
  await redis.set(REDIS_KEYS.anomalyLeader, 'another')
  const at_ms = Date.UTC(2026, 0, 1) + 1
  const stored: StoredScope = {
    form: STATE_FORM,
    position: `${at_ms}-0`,
    model: new ScopeModel(at_ms, LEARNING_MS).state,
    incident: null,
  }
  const field = scopeKey(made.agent_id, made.scope_id)
  await redis.hset(REDIS_KEYS.anomalyState(ORG), field, JSON.stringify(stored))
  const admin = await startOne()
  const { status, text, body } = await admin.call('GET', `/admin/agents/${made.agent_id}/baseline`)
  assert.equal(status, 200, text)
  assert.equal(body.scopes[0].learned_hours, 0)
  assert.equal(body.scopes[0].as_of, '2026-01-01T00:00:00.000Z')
})

test('leaders that come and go in the midst of the log lose no call, count none twice and tell of the burst once', async () => {
  const made = await makeScope({ enabled: true })
  const entries = history(made, 60 * RPM)
  await write(entries)
  for (let round = 0; round < 4; round++) {
    await startOne()
    await until('a leader is at work', () => redis.get(REDIS_KEYS.anomalyLeader))
    await stopAll()
  }
  // A process that is cut off stores nothing more; another has taken over in the meantime.
  await startOne()
  await until('a leader is at work', () => redis.get(REDIS_KEYS.anomalyLeader))
  await redis.set(REDIS_KEYS.anomalyLeader, 'another', 'PX', 300)
  await startOne()
  await learned(made, entries.length)
  await until('the anomaly is reported', async () => (await told()).length > 0)
  await stopAll()
  assert.equal((await told()).length, 1)
  assert.equal((await stored(made))?.model.calls, entries.length)
})

test('what was learned goes with the organization, and does not come back', async () => {
  const admin = await startOne()
  const created = await admin.call('POST', '/admin/organizations', { body: { name: 'guests' } })
  const org = created.body.organization_id as string
  const key = REDIS_KEYS.anomalyState(org)
  await until('its place in the log is stored', async () => {
    await stopAll()
    if ((await redis.exists(key)) === 1) return true
    await startOne()
    await until('a leader is at work', () => redis.get(REDIS_KEYS.anomalyLeader))
    return false
  })
  const next = await startOne()
  await until('a leader is at work', () => redis.get(REDIS_KEYS.anomalyLeader))
  const { status } = await next.call('DELETE', `/admin/organizations/${org}?cascade=true`)
  assert.equal(status, 204)
  await stopAll()
  assert.equal(await redis.exists(key), 0)
})

const replay = async (
  options: object,
  input = '',
): Promise<{ code: number; out: string; err: string }> => {
  const out = new PassThrough()
  const err = new PassThrough()
  const code = await runAnomalyReplay(options, Readable.from([input]), out, err)
  return { code, out: String(out.read() ?? ''), err: String(err.read() ?? '') }
}

test('a replay prints what would have been reported and killed, from the API, a file or standard input, in any order', async () => {
  const made = await makeScope({ enabled: false })
  const entries = history(made, 60 * RPM)
  const lines = entries
    .toReversed()
    .map((entry) => `${JSON.stringify(entry)}\n`)
    .join('')
  const file = join(tempFolder('replay'), 'activity.ndjson')
  writeFileSync(file, lines)
  const fromFile = await replay({ file, killThreshold: 0.8, output: 'json' })
  assert.equal(fromFile.code, 0, fromFile.err)
  const [scope] = JSON.parse(fromFile.out).data
  assert.equal(scope.calls, entries.length)
  assert.equal(scope.learning, false)
  assert.equal(scope.incident_count, 1)
  assert.equal(scope.kill_count, 1)
  assert.equal((await replay({ killThreshold: 0.8, output: 'json' }, lines)).out, fromFile.out)

  await write(entries)
  const admin = await startOne()
  const api = { url: `http://127.0.0.1:${admin.port}`, token: admin.token, agent: made.agent_id }
  await until('the log is digested', async () => {
    const { body } = await admin.call('GET', `/admin/activity?agent_id=${made.agent_id}&limit=1`)
    return body.data.length === 1
  })
  const fromApi = await until('the whole log is there', async () => {
    const answer = await replay({ ...api, killThreshold: 0.8, output: 'json' })
    return JSON.parse(answer.out).data[0]?.calls === entries.length ? answer : null
  })
  assert.deepEqual(JSON.parse(fromApi.out), JSON.parse(fromFile.out))

  const text = await replay({ file, killThreshold: 0.8 })
  assert.match(text.out, /kill {3}0\.\d{3} {2}frequency/)
  assert.match(text.out, /incidents by alert threshold: \d at 0\.5/)
  assert.match(text.out, /incidents: 1, kills: 1\n$/)
})

test('a replay names the line that is no entry', async () => {
  const { code, err } = await replay({}, '{"event":"request_allowed"\n')
  assert.equal(code, 1)
  assert.match(err, /line 1/)
})

test('a replay that is asked for wrongly ends with 2 and says why, one that cannot be done with 1', async () => {
  const rows = [
    [['--alert-threshold', '2'], 2, /number from 0 to 1/],
    [['--from', 'yesterday'], 2, /ISO 8601/],
    [['--from', '2026-02-02', '--to', '2026-02-01'], 2, /not before/],
    [['--file', '-', '--token', 'secret'], 2, /cannot be used with/],
    [['--output', 'xml'], 2, /table, json/],
    [['--file', '/nowhere/activity.ndjson'], 1, /cannot be read/],
  ] as const
  for (const [args, code, message] of rows) {
    const bin = fromRoot('dist', 'cli', 'bin.js')
    const failed = (await run(process.execPath, [bin, 'anomaly', 'replay', ...args]).catch(
      (error: unknown) => error,
    )) as { code: number; stderr: string }
    assert.equal(failed.code, code, args.join(' '))
    assert.match(failed.stderr, message)
  }
})
