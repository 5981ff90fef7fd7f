import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, before, beforeEach, describe, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { resolveAlerts } from '../../admin/alerts/resolve-alerts.ts'
import { RequestLoad } from '../../admin/context/request-load.ts'
import { startLogExport } from '../../admin/log-export/log-exporter.ts'
import type { ActivityEntry } from '../../core/activity/activity-entry.ts'
import { packBlock } from '../../core/activity/pack-block.ts'
import { EVENT_NAMES, type EventName } from '../../core/catalogue/events.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { readSettings } from '../../core/settings/settings.ts'
import { activityEntry } from '../kit/activity-entry.ts'
import { unitStore } from '../kit/unit-store.ts'
import { until } from '../kit/until.ts'

const ORG = 'org_default'
const OTHER = 'org_other'

interface Record {
  readonly eventName: string
  readonly severityText: string
  readonly timeUnixNano: string
  readonly body: { readonly stringValue: string }
  readonly attributes: readonly { key: string; value: { [type: string]: string } }[]
}
interface Received {
  readonly headers: IncomingMessage['headers']
  readonly url: string | undefined
  readonly organization_id: string | undefined
  readonly records: readonly Record[]
}
interface Answer {
  readonly status: number
  readonly body?: string
  readonly headers?: { readonly [name: string]: string }
}

let redis: RedisClient
let server: Server
let received: Received[] = []
let answerTo: (request: Received) => Answer
let stops: (() => Promise<void>)[] = []
let counted: { [outcome: string]: number } = {}
let lag: number | null = null
let warnings: object[] = []

describe('export of the activity log', () => {
  before(async () => {
    redis = (await unitStore()).redis
  })
  beforeEach(async () => {
    await redis.flushall()
    for (const org of [ORG, OTHER]) await redis.hset(REDIS_KEYS.organizations, org, '{}')
    received = []
    counted = {}
    lag = null
    warnings = []
    answerTo = () => ({ status: 200, body: '{}' })
    server = createServer((request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        const one = readRequest(request, Buffer.concat(chunks))
        const { status, body = '', headers = {} } = answerTo(one)
        if (status === 200 && one.records.length > 0) received.push(one)
        response.writeHead(status, headers).end(body)
      })
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
  })
  afterEach(async () => {
    for (const stop of stops.splice(0)) await stop()
    server.closeAllConnections()
    server.close()
  })

  function readRequest({ headers, url }: IncomingMessage, body: Buffer): Received {
    const { resourceLogs } = JSON.parse(gunzipSync(body).toString()) as {
      resourceLogs: {
        resource: { attributes: { key: string; value: { stringValue: string } }[] }
        scopeLogs: [{ logRecords: Record[] }]
      }[]
    }
    const [first] = resourceLogs
    if (first === undefined) return { headers, url, organization_id: undefined, records: [] }
    const { resource, scopeLogs } = first
    const named = resource.attributes.find(({ key }) => key === 'agw.organization.id')
    const organization_id = named?.value.stringValue
    return { headers, url, organization_id, records: scopeLogs[0].logRecords }
  }

  const origin = (): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  function start(given: { name?: string; events?: readonly EventName[]; url?: string } = {}): void {
    const log = { info: () => undefined, warn: (what: object) => warnings.push(what) }
    const { name = 'unit', events = EVENT_NAMES, url = `${origin()}/v1/logs` } = given
    const stop = startLogExport({
      url,
      headers: { authorization: 'Bearer secret-of-receiver' },
      proxy: null,
      events,
      organization_id: ORG,
      installation_id: 'unit',
      redis,
      name,
      load: new RequestLoad(),
      metrics: {
        exported: (outcome, entries) => {
          counted[outcome] = (counted[outcome] ?? 0) + entries
        },
        exportLag: (seconds) => {
          lag = seconds
        },
      },
      log: log as never,
      nowMs: () => performance.now(),
      now: () => new Date(),
      alert_after_ms: 0,
      pause_ms: 10,
    })
    stops.push(stop)
  }

  /** Writes refusals, one entry a row, or a block of them. */
  async function write(org: string, first: number, count: number, form: 'rows' | 'block' = 'rows') {
    const entries = Array.from({ length: count }, (_, i) =>
      activityEntry('permission_denied', {
        organization_id: org,
        request_id: `${org}-${first + i}`,
      }),
    )
    const key = REDIS_KEYS.activity(org)
    const texts = entries.map((one) => JSON.stringify(one))
    if (form === 'block') {
      const { block, head, names, requests } = packBlock(texts)
      const place = `${Date.now() + 50}-${count}`
      await redis.xadd(key, place, 'b', block, 'h', `${head} 0 0`, 'i', names, 'r', requests)
      return entries
    }
    const pipeline = redis.pipeline()
    for (const text of texts) pipeline.xadd(key, '*', 'e', text)
    await pipeline.exec()
    return entries
  }

  const exportedIds = (org: string): string[] =>
    received
      .filter(({ organization_id }) => organization_id === org)
      .flatMap(({ records }) => records.map(({ body }) => idIn(body.stringValue)))

  function idIn(text: string): string {
    try {
      return String((JSON.parse(text) as ActivityEntry).request_id)
    } catch {
      return text
    }
  }

  const numbered = (org: string, from: number, to: number): string[] =>
    Array.from({ length: to - from }, (_, i) => `${org}-${from + i}`)

  const isExported = (org: string, count: number): Promise<boolean> =>
    until(`${count} entries of ${org}`, () => exportedIds(org).length >= count)

  /** The exporter is stopped then without sending anything again. */
  const isNoted = (org: string, count: number): Promise<boolean> =>
    until(`the position after ${count} entries`, async () =>
      Boolean((await redis.hget(REDIS_KEYS.logExports, org))?.endsWith(` ${count}`)),
    )

  test('each entry is exported once and in order, of each organization, and also after a restart', async () => {
    await write(ORG, 0, 600)
    await write(ORG, 600, 3, 'block')
    await write(OTHER, 0, 3)
    start()
    await isExported(ORG, 603)
    await isNoted(ORG, 603)
    await isNoted(OTHER, 3)
    await stops.pop()?.()
    await write(ORG, 603, 2)
    start()
    await isExported(ORG, 605)
    assert.deepEqual(exportedIds(ORG), numbered(ORG, 0, 605))
    assert.deepEqual(exportedIds(OTHER), numbered(OTHER, 0, 3))
    await until('the count', () => counted['accepted'] === 608)
    assert.deepEqual(Object.keys(counted), ['accepted'])
    await until('nothing is waiting', () => lag !== null && lag < 1)
  })

  test('a record has the entry, its time, and the attributes of a call', async () => {
    const entry = activityEntry('injection_blocked', { request_id: 'r-1', bytes_in: 12 })
    await redis.xadd(REDIS_KEYS.activity(ORG), '*', 'e', JSON.stringify(entry))
    await redis.xadd(REDIS_KEYS.activity(ORG), '*', 'e', 'not JSON')
    start()
    await isExported(ORG, 2)
    const [request] = received
    assert.equal(request?.url, '/v1/logs')
    assert.equal(request?.headers.authorization, 'Bearer secret-of-receiver')
    assert.equal(request?.headers['content-type'], 'application/json')
    const [record, unreadable] = request?.records ?? []
    assert.deepEqual(JSON.parse(record?.body.stringValue ?? ''), entry)
    assert.equal(record?.timeUnixNano, `${Date.parse(entry.timestamp)}000000`)
    assert.equal(record?.eventName, 'agw.injection_blocked')
    assert.equal(record?.severityText, 'WARN')
    const values = Object.fromEntries((record?.attributes ?? []).map((one) => [one.key, one.value]))
    assert.deepEqual(values['agw.agent.id'], { stringValue: 'agt_test' })
    assert.deepEqual(values['http.response.status_code'], { intValue: '403' })
    assert.deepEqual(values['http.request.body.size'], { intValue: '12' })
    assert.deepEqual(values['client.address'], { stringValue: '203.0.113.9' })
    assert.equal(values['agw.scope.id'], undefined)
    assert.deepEqual(
      [unreadable?.eventName, unreadable?.body.stringValue],
      ['agw.unreadable', 'not JSON'],
    )
  })

  for (const [name, failures] of [
    ['answers 503', [{ status: 503 }]],
    [
      'answers 401, and then redirects',
      [{ status: 401 }, { status: 307, headers: { location: '/other' } }],
    ],
    ['answers 429 and says when to come again', [{ status: 429, headers: { 'retry-after': '1' } }]],
  ] as const)
    test(`nothing is lost or sent twice while the receiver ${name}`, async () => {
      const left: Answer[] = [...failures]
      answerTo = ({ headers, records }) => {
        const failure = records.length > 0 ? left.shift() : left[0]
        return failure ? { ...failure, body: String(headers.authorization) } : { status: 200 }
      }
      await write(ORG, 0, 5)
      start()
      await isExported(ORG, 5)
      assert.deepEqual(exportedIds(ORG), numbered(ORG, 0, 5))
      assert.equal(warnings.length, failures.length)
      assert.doesNotMatch(JSON.stringify(warnings), /secret-of-receiver/)
      assert.ok(received.every(({ url }) => url === '/v1/logs'))
    })

  test('of a request that is too large, and of an entry that is never taken, the others arrive', async () => {
    answerTo = ({ records }) => {
      if (records.length > 40) return { status: 413 }
      const isPoison = records.some(({ body }) => idIn(body.stringValue) === `${ORG}-77`)
      return isPoison ? { status: 400, body: 'cannot read \u001b[31mit' } : { status: 200 }
    }
    await write(ORG, 0, 120)
    start()
    await isExported(ORG, 119)
    assert.deepEqual(
      exportedIds(ORG),
      numbered(ORG, 0, 120).filter((id) => id !== `${ORG}-77`),
    )
    await until('the counts', () => counted['accepted'] === 119)
    assert.equal(counted['rejected'], 1)
    const [warning] = warnings as { problem: string }[]
    assert.equal(warning?.problem, 'the receiver responded with 400: cannot read  [31mit')
  })

  test('a receiver that refuses everything loses nothing, and raises an alert', async () => {
    let isRight = false
    answerTo = () => (isRight ? { status: 200 } : { status: 400, body: 'this port speaks TLS' })
    await write(ORG, 0, 5)
    start()
    await until('an alert', async () => (await redis.hlen(REDIS_KEYS.alertsOpen(ORG))) > 0)
    assert.equal(counted['rejected'], undefined)
    assert.equal(await redis.hget(REDIS_KEYS.logExports, ORG), null)
    assert.match(JSON.stringify(warnings[0]), /responded with 400: this port speaks TLS/)
    assert.ok(lag !== null && lag > 0)
    isRight = true
    await isExported(ORG, 5)
    assert.deepEqual(exportedIds(ORG), numbered(ORG, 0, 5))
  })

  test('a receiver that begins to accept while an entry is sent alone loses nothing', async () => {
    let isRight = false
    answerTo = ({ records }) => {
      if (isRight) return { status: 200 }
      isRight = records.length === 1
      return { status: 400 }
    }
    await write(ORG, 0, 5)
    start()
    await isExported(ORG, 5)
    assert.deepEqual(exportedIds(ORG), numbered(ORG, 0, 5))
    assert.equal(counted['rejected'], undefined)
  })

  test('entries of one organization that make the receiver fail, or that cannot be read, hold up no other', async () => {
    let isBroken = true
    answerTo = ({ organization_id }) =>
      organization_id === ORG && isBroken ? { status: 500 } : { status: 200 }
    await redis.hset(REDIS_KEYS.organizations, 'org_third', '{}')
    await redis.xadd(REDIS_KEYS.activity('org_third'), '*', 'b', 'no block', 'h', '3 0 0 0 0')
    await write(ORG, 0, 3)
    await write(OTHER, 0, 300)
    start()
    await isExported(OTHER, 300)
    await write(OTHER, 300, 1)
    await isExported(OTHER, 301)
    assert.deepEqual(exportedIds(ORG), [])
    const of = new Set((warnings as { of: string }[]).map((warning) => warning.of))
    assert.deepEqual([...of].sort(), [ORG, 'org_third'])
    isBroken = false
    await isExported(ORG, 3)
    assert.deepEqual(exportedIds(ORG), numbered(ORG, 0, 3))
    assert.deepEqual(exportedIds(OTHER), numbered(OTHER, 0, 301))
  })

  test('records that the receiver drops are counted', async () => {
    const partialSuccess = { rejectedLogRecords: '2', errorMessage: 'too old' }
    answerTo = () => ({ status: 200, body: JSON.stringify({ partialSuccess }) })
    await write(ORG, 0, 5)
    start()
    await until('the counts', () => counted['rejected'] === 2 && counted['accepted'] === 3)
    assert.match(JSON.stringify(warnings), /too old/)
  })

  test('a receiver is told how many entries are missing', async () => {
    await write(ORG, 0, 4)
    start()
    await isNoted(ORG, 4)
    await stops.pop()?.()
    await write(ORG, 4, 6)
    await redis.xtrim(REDIS_KEYS.activity(ORG), 'MAXLEN', 3)
    // The gap is taken, and the entries after it at the second attempt.
    let failures = 1
    answerTo = ({ records }) =>
      records.some(({ eventName }) => eventName !== 'agw.gap') && failures-- > 0
        ? { status: 503 }
        : { status: 200 }
    start()
    await isExported(ORG, 8)
    const missing = '3 entries were removed from the store before they could be exported.'
    assert.deepEqual(exportedIds(ORG), [...numbered(ORG, 0, 4), missing, ...numbered(ORG, 7, 10)])
    assert.equal(counted['missing'], 3)
  })

  test('what was removed before the first export is not missing', async () => {
    await write(ORG, 0, 6)
    await redis.xtrim(REDIS_KEYS.activity(ORG), 'MAXLEN', 2)
    start()
    await isExported(ORG, 2)
    await write(ORG, 6, 1)
    await isExported(ORG, 3)
    assert.deepEqual(exportedIds(ORG), numbered(ORG, 4, 7))
  })

  test('only the chosen events are exported', async () => {
    await write(ORG, 0, 300)
    const kill = activityEntry('agent_killed', { request_id: 'kill', decision: null })
    await redis.xadd(REDIS_KEYS.activity(ORG), '*', 'e', JSON.stringify(kill))
    start({ events: ['agent_killed'] })
    await isExported(ORG, 1)
    assert.deepEqual(exportedIds(ORG), ['kill'])
    await isNoted(ORG, 301)
  })

  test('one process exports at a time, and another goes on where it ends', async () => {
    start({ name: 'first' })
    await until(
      'the first exports',
      async () => (await redis.get(REDIS_KEYS.logExporter)) === 'first',
    )
    start({ name: 'second' })
    await write(ORG, 0, 3)
    await isNoted(ORG, 3)
    await stops.shift()?.()
    await write(ORG, 3, 3)
    await isExported(ORG, 6)
    assert.equal(await redis.get(REDIS_KEYS.logExporter), 'second')
    assert.deepEqual(exportedIds(ORG), numbered(ORG, 0, 6))
  })

  test('a receiver that fails raises one alert, which is resolved when it works again', async () => {
    const alerts = async (): Promise<string[]> => redis.hvals(REDIS_KEYS.alertsOpen(ORG))
    let isUp = false
    answerTo = () => (isUp ? { status: 200 } : { status: 500, body: 'no space' })
    await write(ORG, 0, 2)
    start()
    const [id = ''] = await until('an alert', async () => {
      const open = await alerts()
      return open.length > 0 ? open : null
    })
    const { kind, last } = await redis.hgetall(REDIS_KEYS.alert(ORG, id))
    assert.equal(kind, 'log_export_failing')
    assert.match(String(last), /the receiver responded with 500: no space/)
    await until('another attempt', () => warnings.length > 1)
    assert.deepEqual(await alerts(), [id])
    await resolveAlerts(redis, [ORG], new Date())
    assert.deepEqual(await alerts(), [id])
    isUp = true
    await isExported(ORG, 2)
    await until('it is resolved', async () => {
      await resolveAlerts(redis, [ORG], new Date())
      return (await alerts()).length === 0
    })
  })

  test('a receiver that cannot be reached is named with the cause', async () => {
    const { port } = server.address() as AddressInfo
    await write(ORG, 0, 1)
    start({ url: `https://127.0.0.1:${port}/v1/logs` })
    await until('a warning', () => warnings.length > 0)
    assert.match(JSON.stringify(warnings[0]), /"problem":"(tls_failed|connection_reset) \(/)
  })

  for (const [name, value, problem] of [
    ['AGW_LOG_EXPORT_URL', 'collector:4318', /is not http:\/\/… or https:\/\/…/],
    ['AGW_LOG_EXPORT_URL', 'http://me:secret@collector/v1/logs', /belong in a header/],
    ['AGW_LOG_EXPORT_HEADERS', 'Authorization: Bearer x', /name=value/],
    ['AGW_LOG_EXPORT_HEADERS', 'a=%0d%0ab', /name=value/],
    ['AGW_LOG_EXPORT_HEADERS', 'a=b', /^AGW_LOG_EXPORT_HEADERS requires AGW_LOG_EXPORT_URL\.$/],
    ['AGW_LOG_EXPORT_HEADERS', 'a=%zz', /name=value/],
    [
      'AGW_LOG_EXPORT_EVENTS',
      'agent_killed,everything',
      /"everything", which is none of request_allowed/,
    ],
  ] as const)
    test(`${name}=${value} is refused`, () => {
      const read = readSettings({ [name]: value })
      assert.match(read.ok ? '' : read.problems.join(' '), problem)
    })

  test('header values are decoded, and names are in lower case', () => {
    const text = 'Authorization=Bearer%20a%2Cb==, X-Scope=t'
    const read = readSettings({
      AGW_LOG_EXPORT_URL: 'https://logs.example/v1/logs',
      AGW_LOG_EXPORT_HEADERS: text,
    })
    assert.deepEqual(read.ok ? read.settings.logExportHeaders : read.problems, {
      authorization: 'Bearer a,b==',
      'x-scope': 't',
    })
  })
})
