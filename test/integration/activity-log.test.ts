import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { PassThrough } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'
import { runActivity } from '../../cli/commands/activity.ts'
import type { ActivityEntry } from '../../core/activity/activity-entry.ts'
import { recordEntries } from '../../core/change/record-entries.ts'
import { alertView, readAlerts } from '../../admin/alerts/alert-view.ts'
import type { AlertKind } from '../../core/alerts/alert.ts'
import { raiseAlert } from '../../core/alerts/raise-alert.ts'
import { connectRedis } from '../../core/redis/connect-redis.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { runScript } from '../../core/redis/run-script.ts'
import { keepWithinBudget } from '../../admin/activity/log-budget.ts'
import { adminOnStore } from '../kit/admin-on-store.ts'
import { activityEntry } from '../kit/activity-entry.ts'
import { adminInProcess } from '../kit/admin-in-process.ts'
import { readEvents } from '../kit/read-events.ts'
import { startValkey } from '../kit/start-valkey.ts'
import { until } from '../kit/until.ts'

const ORG = 'org_default'
const WRITE_PAUSE_MS = 20
const { admin, redis, valkey, stop } = await adminOnStore()
after(stop)

async function record(...entries: readonly ActivityEntry[]): Promise<void> {
  await recordEntries(redis, ORG, entries)
}

const get = async (path: string, token = admin.token): Promise<any> => {
  // A store that is slow, as on a busy machine, is a 503 that says to try again.
  const answer = await until('the store answers', async () => {
    const found = await admin.call('GET', path, { token })
    return found.status !== 503 && found
  })
  assert.equal(answer.status, 200, answer.text)
  return answer.body
}

/** Follows the cursor to the end; every page is within its limit. */
async function pages(query: string): Promise<ActivityEntry[]> {
  const all: ActivityEntry[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: any = await get(`/admin/activity?${query}${cursor ? `&cursor=${cursor}` : ''}`)
    all.push(...page.data)
    cursor = page.next_cursor
  }
  return all
}

const idsOf = (entries: readonly ActivityEntry[]): string[] => entries.map(({ id }) => id)

const digested = (): Promise<unknown> =>
  until('the log is digested', async () => {
    const [newest] = await redis.xrevrange(REDIS_KEYS.activity(ORG), '+', '-', 'COUNT', 1)
    const position = await redis.hget(REDIS_KEYS.activityDigest(ORG), 'position')
    return newest?.[0] === position
  })

test('each filter, and several at once, find what they name, before and after the log is digested', async () => {
  const entries = Array.from({ length: 300 }, (_, i) =>
    activityEntry(i % 2 === 0 ? 'request_allowed' : 'permission_denied', {
      agent_id: `agt_${i % 5}`,
      integration_id: i % 3 === 0 ? 'int_a' : 'int_b',
      // One entry of a call decides it; another one of the same call does not.
      decision: i % 10 === 1 ? null : i % 2 === 0 ? 'allowed' : 'blocked',
      endpoint: `/v1/item/${i}`,
      request_id: `req-${i - (i % 10 === 1 ? 1 : 0)}`,
      timestamp: new Date(Date.now() - 1000 * (300 - i)).toISOString(),
    }),
  )
  const from = entries[100]?.timestamp ?? ''
  const to = entries[200]?.timestamp ?? ''
  const ours = (matches: (entry: ActivityEntry) => boolean): string[] =>
    idsOf(entries.filter(matches)).reverse()
  const check = async (): Promise<void> => {
    const rows: [string, (entry: ActivityEntry) => boolean][] = [
      ['event=permission_denied', ({ event }) => event === 'permission_denied'],
      ['agent_id=agt_3', ({ agent_id }) => agent_id === 'agt_3'],
      ['integration_id=int_a', ({ integration_id }) => integration_id === 'int_a'],
      ['decision=allowed', ({ decision }) => decision === 'allowed'],
      ['request_id=req-20', ({ request_id }) => request_id === 'req-20'],
      ['request_id=req-27', ({ request_id }) => request_id === 'req-27'],
      ['request_id=REQ-27', () => false],
      ['request_id=req-2%25', () => false],
      ['request_id=req-20&decision=allowed', (e) => e.endpoint === '/v1/item/20'],
      [`request_id=req-150&q=item&from=${from}&to=${to}`, (e) => e.request_id === 'req-150'],
      ['q=ITEM/27', ({ endpoint }) => endpoint?.includes('item/27') === true],
      [`from=${from}&to=${to}`, (e) => e.timestamp >= from && e.timestamp < to],
      [
        `agent_id=agt_3&integration_id=int_a&decision=blocked&q=item&from=${from}`,
        (e) =>
          e.agent_id === 'agt_3' &&
          e.integration_id === 'int_a' &&
          e.decision === 'blocked' &&
          e.timestamp >= from,
      ],
    ]
    for (const [query, matches] of rows)
      for (const limit of [7, 200]) {
        const found = (await pages(`${query}&limit=${limit}`)).filter((e) =>
          e.endpoint?.startsWith('/v1/item/'),
        )
        assert.deepEqual(idsOf(found), ours(matches), query)
      }
  }
  await record(...entries)
  await check()
  await digested()
  await check()
})

test('an entry is found by its id, and one that is not there is not', async () => {
  const one = activityEntry('request_rejected', { data: { note: 'one "quoted"' } })
  await record(activityEntry('request_allowed'), one, activityEntry('request_allowed'))
  assert.deepEqual(await get(`/admin/activity/${one.id}`), one)
  for (const id of ['act_unknown', `${one.id}0`, 'act_ffffffffffff-0', '%22', 'act_'])
    assert.equal((await admin.call('GET', `/admin/activity/${id}`)).status, 404)
})

test('paging under load loses and doubles nothing that was there at the beginning', async () => {
  const mine = 'agt_paged'
  const first = Array.from({ length: 600 }, () =>
    activityEntry('request_allowed', { agent_id: mine }),
  )
  await record(...first)
  let writing = true
  const later = (async () => {
    while (writing) {
      await record(
        ...Array.from({ length: 20 }, () => activityEntry('request_allowed', { agent_id: mine })),
      )
      // Without a pause nearly all of the log would be newer than what is paged through.
      await wait(WRITE_PAUSE_MS)
    }
  })()
  for (const query of [`agent_id=${mine}`, `q=${mine}`, `agent_id=${mine}&event=request_allowed`]) {
    const found = idsOf(await pages(`${query}&limit=50`))
    assert.equal(new Set(found).size, found.length, 'none is doubled')
    const seen = new Set(found)
    assert.equal(idsOf(first).filter((id) => !seen.has(id)).length, 0, 'none is lost')
  }
  writing = false
  await later
})

test('two admin processes index a log once', async () => {
  const second = await adminInProcess(valkey.url, {
    AGW_ADMIN_TOKEN: admin.token,
    AGW_ENCRYPTION_KEY: admin.encryption_key,
  })
  const mine = 'agt_twice'
  for (let i = 0; i < 40; i++)
    await record(
      ...Array.from({ length: 50 }, () => activityEntry('request_allowed', { agent_id: mine })),
    )
  await digested()
  assert.equal(await redis.xlen(REDIS_KEYS.activityIndex(ORG, `a:${mine}`)), 2000)
  await second.stop()
})

test('agw activity prints the newest entries, the oldest first, and nothing that steers a terminal', async () => {
  const agent_id = 'agt_printed'
  await record(
    activityEntry('request_allowed', { agent_id, agent_name: 'one' }),
    activityEntry('permission_denied', { agent_id, agent_name: 'two\u001b[2J' }),
    activityEntry('agent_killed', {
      agent_id,
      method: null,
      endpoint: null,
      data: { triggered_by: 'ops@example.com', reason: 'leaked key' },
    }),
  )
  const options = { url: `http://127.0.0.1:${admin.port}`, token: admin.token, agent: agent_id }
  const print = async (more: object): Promise<string> => {
    const stdout = new PassThrough()
    assert.equal(await runActivity({ ...options, ...more }, stdout, new PassThrough()), 0)
    return String(stdout.read())
  }
  const [headings, ...lines] = (await print({})).trimEnd().split('\n')
  assert.match(headings ?? '', /^TIME +EVENT +AGENT +STATUS +DECISION +CALL OR CHANGE$/)
  assert.equal(lines.length, 3)
  assert.match(lines[0] ?? '', /request_allowed +one/)
  assert.match(lines[1] ?? '', /permission_denied +two\?\[2J/)
  assert.match(lines[2] ?? '', /by ops@example\.com: leaked key$/)
  const json = (await print({ output: 'json', event: 'permission_denied' })).trimEnd()
  assert.equal(JSON.parse(json).agent_id, agent_id)
  await admin.call('POST', '/admin/agents', { body: { agent_name: 'printed by name' } })
  assert.match(
    await print({ agent: 'printed by name' }),
    /admin@localhost created the agent printed by name$/m,
  )
  const stderr = new PassThrough()
  assert.equal(await runActivity({ ...options, event: 'none' }, new PassThrough(), stderr), 1)
  assert.match(String(stderr.read()), /query\/event must be one of request_allowed, /)
})

test('the export holds what the list has, as NDJSON and as CSV, and is in the log itself', async () => {
  const agent_id = 'agt_exported'
  const entries = Array.from({ length: 450 }, (_, i) =>
    activityEntry('request_rejected', {
      agent_id,
      agent_name: '=HYPERLINK("http://x")',
      data: { number: i },
    }),
  )
  await record(...entries)
  const path = `/admin/activity/export?agent_id=${agent_id}`
  const ndjson = await admin.call('GET', `${path}&format=ndjson`)
  assert.match(String(ndjson.headers['content-type']), /ndjson/)
  const lines = ndjson.text.trimEnd().split('\n')
  assert.deepEqual(
    lines.map((line) => JSON.parse(line)),
    [...entries].reverse(),
  )
  const csv = await admin.call('GET', `${path}&format=csv`)
  const rows = csv.text.split('\r\n')
  assert.match(rows[0] ?? '', /^id,timestamp,event,/)
  assert.equal(rows.length, entries.length + 2)
  assert.ok(rows[1]?.includes(`"'=HYPERLINK(""http://x"")"`), rows[1])
  const audited = await get('/admin/activity?event=admin_action&q=activity.export')
  assert.equal(audited.data.length, 2)
  assert.equal(audited.data[0].data.actor, 'admin@localhost')
})

test('an export does not hold what is written after it was asked for, its own entry included', async () => {
  const from = new Date().toISOString()
  const path = `/admin/activity/export?format=ndjson&event=admin_action&from=${from}`
  assert.equal((await admin.call('GET', path)).text, '')
  const second = (await admin.call('GET', path)).text.trimEnd().split('\n')
  assert.deepEqual(
    second.map((line) => JSON.parse(line).data.action),
    ['activity.export'],
  )
})

test('another organization finds, follows, exports and acknowledges nothing of this one', async () => {
  const made = await admin.call('POST', '/admin/organizations', { body: { name: 'other' } })
  const token = made.body.admin_token as string
  const entry = activityEntry('injection_blocked', {
    agent_id: 'agt_mine',
    data: { pattern_name: 'p', severity: 'high', mode: 'block' },
  })
  const url = `http://127.0.0.1:${admin.port}/admin/activity/stream`
  const theirs = await readEvents(url, { authorization: `Bearer ${token}` })
  const ours = await readEvents(url, { authorization: `Bearer ${admin.token}` })
  await record(entry)
  await ours.until(1)
  const alerts = await until('the alert is there', async () => {
    const { data } = await get('/admin/alerts')
    return data.some((alert: any) => alert.last.agent_id === 'agt_mine') && data
  })
  const own = { ...entry, organization_id: made.body.organization_id, agent_id: 'agt_theirs' }
  await recordEntries(redis, made.body.organization_id, [own])
  await theirs.until(1)
  assert.deepEqual(
    theirs.events.map(({ data }) => data.agent_id),
    ['agt_theirs'],
  )
  // From the beginning, too.
  const all = await readEvents(url, { authorization: `Bearer ${token}`, 'last-event-id': '0-1' })
  await until('their own is there', () => all.events.some((e) => e.data.agent_id === 'agt_theirs'))
  for (const client of [theirs, ours, all]) client.close()
  const answers = [
    ...all.events.map(({ data }) => JSON.stringify(data)),
    (await admin.call('GET', '/admin/activity?agent_id=agt_mine', { token })).text,
    (await admin.call('GET', '/admin/activity?q=agt_mine', { token })).text,
    (await admin.call('GET', '/admin/activity/export', { token })).text,
    (await admin.call('GET', '/admin/activity/export?format=csv', { token })).text,
    (await admin.call('GET', '/admin/alerts', { token })).text,
    (await admin.call('GET', '/admin/activity/counts', { token })).text,
  ]
  for (const text of answers)
    for (const hidden of ['agt_mine', entry.id, `"${ORG}"`, `,${ORG},`])
      if (hidden !== entry.id || !text.includes('agt_theirs'))
        assert.ok(!text.includes(hidden), text)
  const path = `/admin/alerts/${alerts[0].alert_id}/acknowledge`
  assert.equal((await admin.call('POST', path, { token })).status, 404)
  assert.equal((await admin.call('GET', '/admin/activity/unknown-calls', { token })).status, 403)
})

test('refusals that a flood made into counts are shown by minute, agent and reason', async () => {
  const minute = Math.floor(Date.now() / 60_000) - 3
  await redis.hset(REDIS_KEYS.refusalCounts(ORG, minute), 'agt_f permission_denied', 812)
  await redis.hset(REDIS_KEYS.unknownCalls(minute), 'invalid_api_key', 41)
  const { data } = await get('/admin/activity/counts')
  assert.deepEqual(data, [
    {
      minute: new Date(minute * 60_000).toISOString(),
      agent_id: 'agt_f',
      reason: 'permission_denied',
      count: 812,
    },
  ])
  const unknown = await get('/admin/activity/unknown-calls')
  assert.equal(unknown.data.find((row: any) => row.reason === 'invalid_api_key').count, 41)
})

test('a finding opens one alert, repeats are counted in it, and after it is acknowledged the next opens another', async () => {
  const finding = {
    agent_id: 'agt_alert',
    data: {
      pattern_name: 'ignore_previous',
      severity: 'critical',
      mode: 'block',
      location: 'body',
    },
  }
  const mine = async (query = ''): Promise<any[]> =>
    (await get(`/admin/alerts${query}`)).data.filter((a: any) => a.last.agent_id === 'agt_alert')
  await record(...[1, 2, 3].map(() => activityEntry('injection_blocked', finding)))
  const [alert] = await until('the alert is there', async () => {
    const alerts = await mine()
    return alerts[0]?.count === 3 ? alerts : null
  })
  assert.equal(alert.status, 'open')
  assert.equal(alert.severity, 'critical')
  const path = `/admin/alerts/${alert.alert_id}/acknowledge`
  for (let i = 0; i < 2; i++) {
    const answer = await admin.call('POST', path)
    assert.equal(answer.status, 200)
    assert.equal(answer.body.status, 'acknowledged')
    assert.equal(answer.body.acknowledged_by, 'admin@localhost')
  }
  assert.equal((await get(`/admin/activity?q=${alert.alert_id}`)).data.length, 1, 'logged once')
  await record(activityEntry('injection_blocked', finding))
  await until('another is open', async () => (await mine('?status=open'))[0]?.count === 1)
  assert.equal((await mine()).length, 2)
  assert.equal((await mine('?status=acknowledged')).length, 1)
  assert.equal((await admin.call('POST', '/admin/alerts/alt_x/acknowledge')).status, 404)
})

test('however many alerts agents cause, those about the gateway itself stay open and say when they occurred', async () => {
  const org = 'org_flood'
  const at = new Date()
  const raise = (about: string, kind: AlertKind, more = {}): Promise<string> =>
    raiseAlert(
      redis,
      org,
      { about, kind, severity: 'critical', title: about, occurrence: {}, is_mailed: true, ...more },
      at,
    )
  const own = await raise('disk', 'store_disk')
  assert.equal(await raise('disk', 'store_disk'), own)
  const passed = await raise('passed', 'injection')
  for (let n = 0; n < 2_050; n += 50)
    await Promise.all(
      Array.from({ length: 50 }, (_, i) =>
        raise(`blocked ${n + i}`, 'injection', { is_handled: true }),
      ),
    )
  const open = new Set(await redis.hvals(REDIS_KEYS.alertsOpen(org)))
  assert.ok(open.has(own) && open.has(passed))
  assert.equal(open.size, 2_000)
  assert.equal(await redis.zcard(REDIS_KEYS.alertIndex(org)), 2_000)
  assert.ok(
    (await redis.zcard(REDIS_KEYS.alertNotices)) < 10,
    'the process that raised these sends mail',
  )
  const [stored] = await readAlerts(redis, org, [own])
  const view = alertView(stored ?? {}, at)
  assert.deepEqual([view.concern, view.count, view.hours.at(-1)], ['gateway', 2, 2])
  const later = alertView(stored ?? {}, new Date(at.getTime() + 23 * 3_600_000))
  assert.equal(later.hours[0], 2)
  const gone = alertView(stored ?? {}, new Date(at.getTime() + 24 * 3_600_000))
  assert.deepEqual(new Set(gone.hours), new Set([0]))
})

test('alerts come in the order of severity, a page at a time, and are acknowledged together with a comment', async () => {
  const of = (at: number, severity: 'critical' | 'high' | 'medium'): Promise<string> =>
    raiseAlert(
      redis,
      ORG,
      {
        about: `order ${at}`,
        kind: 'anomaly',
        severity,
        title: `Number ${at}.`,
        occurrence: { agent_id: 'agt_order' },
      },
      new Date(),
    )
  const severities = ['high', 'critical', 'medium', 'critical', 'high', 'medium'] as const
  const ids: string[] = []
  for (const [at, severity] of severities.entries()) ids.push(await of(at, severity))
  const all: any[] = []
  for (let cursor = ''; ; ) {
    const page = await get(`/admin/alerts?status=open&sort=severity&limit=2${cursor}`)
    all.push(...page.data)
    if (page.next_cursor === null) break
    cursor = `&cursor=${page.next_cursor}`
  }
  const mine = all.filter(({ group }) => group === 'agt_order')
  assert.deepEqual(
    mine.map(({ title }) => title),
    [3, 1, 4, 0, 5, 2].map((at) => `Number ${at}.`),
  )
  const ranks = all.map(({ severity }) => ['critical', 'high', 'medium'].indexOf(severity))
  assert.deepEqual(
    ranks,
    ranks.toSorted((a, b) => a - b),
    'of all alerts',
  )
  assert.equal(new Set(all.map(({ alert_id }) => alert_id)).size, all.length)
  const path = '/admin/alerts/acknowledge'
  const bulk = (body: object) => admin.call('POST', path, { body })
  const answer = await bulk({ alert_ids: [...ids.slice(0, 3), 'alt_x'], comment: 'A drill.' })
  assert.deepEqual(answer.body, { acknowledged: 3, missing: ['alt_x'] })
  assert.deepEqual((await bulk({ alert_ids: ids })).body, { acknowledged: 3, missing: [] })
  const closed = (await get('/admin/alerts?status=acknowledged')).data.filter(
    ({ group }: any) => group === 'agt_order',
  )
  assert.deepEqual(
    closed.map(({ comment }: any) => comment),
    [null, null, null, 'A drill.', 'A drill.', 'A drill.'],
  )
  const [entry] = (await get(`/admin/activity?q=${ids[0]}`)).data
  assert.equal(entry.data.after.comment, 'A drill.')
  for (const body of [
    {},
    { alert_ids: [] },
    { alert_ids: [ids[0], ids[0]] },
    { alert_ids: Array.from({ length: 201 }, (_, at) => `alt_${at}`) },
    { alert_ids: ids, comment: 'x'.repeat(1001) },
    { alert_ids: ids, note: '' },
  ])
    assert.equal((await bulk(body)).status, 400)
})

test('an alert is resolved when its condition is over, not before, and not over a new occurrence', async () => {
  const week_ms = 7 * 24 * 3_600_000
  const made = await admin.call('POST', '/admin/agents', { body: { agent_name: 'resolved' } })
  const { agent_id } = made.body
  const now = new Date()
  const raise = (kind: AlertKind, occurrence: object, at = now): Promise<string> =>
    raiseAlert(
      redis,
      ORG,
      {
        about: `resolve ${kind} ${JSON.stringify(occurrence)}`,
        kind,
        severity: 'high',
        title: kind,
        occurrence: { ...occurrence },
      },
      at,
    )
  const old = new Date(now.getTime() - week_ms - 1000)
  const rows: readonly [string, string | null][] = [
    [await raise('agent_killed', { agent_id }), 'The agent was reactivated.'],
    [await raise('agent_killed', { agent_id: 'agt_none' }), 'The agent was deleted.'],
    [await raise('webhook_failing', { webhook_id: 'whk_none' }), 'The webhook was deleted.'],
    [await raise('injection', { n: 1 }, old), 'It was not repeated for 7 days.'],
    [await raise('anomaly', { n: 2 }, old), 'It was not repeated for 7 days.'],
    [await raise('injection', { n: 3 }), null],
    [await raise('store_lost', { n: 4 }, old), null],
    [await raise('activity_lost', { n: 5 }, old), null],
    [await raise('encryption_key', { n: 6 }, old), null],
  ]
  const shown = async (id: string): Promise<any> =>
    (await get('/admin/alerts?limit=200')).data.find(({ alert_id }: any) => alert_id === id)
  for (const [id, resolution] of rows) {
    const alert = await until(`${id} is judged`, async () => {
      const found = await shown(id)
      return resolution === null || found.status !== 'open' ? found : null
    })
    assert.equal(alert.status, resolution === null ? 'open' : 'resolved', alert.kind)
    assert.equal(alert.resolution, resolution)
  }
  // After them all were judged, those that an operator has to close are open, and readiness still depends on them.
  for (const [id] of rows.slice(5)) assert.equal((await shown(id)).status, 'open')
  const again = await raise('injection', { n: 1 })
  assert.notEqual(again, rows[3]?.[0], 'the next occurrence opens another')
  const open = REDIS_KEYS.alertsOpen(ORG)
  const keys = [REDIS_KEYS.alert(ORG, again), open] as const
  await raise('injection', { n: 1 })
  assert.equal(await runScript(redis, 'resolve-alert', keys, ['', '', '1']), 0, 'it was repeated')
  assert.equal(await runScript(redis, 'resolve-alert', keys, ['', '', '2']), 1)
  for (const [id] of rows.slice(5)) await admin.call('POST', `/admin/alerts/${id}/acknowledge`)
})

test('threat 21: a log keeps to its budget of bytes, the writers alone as well', async () => {
  const own = await startValkey()
  const store = connectRedis(own.url, { name: 'budget', role: 'queue' })
  const key = REDIS_KEYS.activity(ORG)
  const bytes = async (): Promise<number> => Number(await store.call('MEMORY', 'USAGE', key))
  const fill = async (count: number): Promise<void> => {
    for (let i = 0; i < count; i += 100)
      await recordEntries(
        store,
        ORG,
        Array.from({ length: 100 }, () =>
          activityEntry('request_rejected', { data: { text: 'x'.repeat(1000) } }),
        ),
      )
  }
  await store.set(REDIS_KEYS.activityBudget, 4_000_000)
  await fill(10_000)
  assert.ok((await bytes()) < 5_000_000, `${await bytes()}`)
  const retention = { max_bytes: 1_000_000, retention_ms: 3_600_000 }
  await keepWithinBudget(store, [ORG], retention, Date.now(), new Map())
  assert.ok((await bytes()) < 1_100_000, `${await bytes()}`)
  await keepWithinBudget(store, [ORG], retention, Date.now() + 7_200_000, new Map())
  assert.ok((await store.xlen(key)) < 200, 'what is older than the retention is gone')
  store.disconnect()
  await own.stop()
})
