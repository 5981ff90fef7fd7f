import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { STORE_FORMAT } from '../../core/store/stored-record.ts'
import { startSmtpServer } from '../kit/smtp-server.ts'
import { until } from '../kit/until.ts'
import { startWebhookStack } from '../kit/webhook-stack.ts'

const smtp = await startSmtpServer()
const mail = {
  AGW_SMTP_URL: smtp.url,
  AGW_ALERT_EMAIL_FROM: 'agw@example.com',
  AGW_ALERT_EMAIL_TO: 'ops@example.com,second@example.com',
}
const scaled = await startWebhookStack({
  AGW_WEBHOOK_DELAYS: '0s,60ms,300ms,600ms,1200ms',
  ...mail,
})
const unscaled = await startWebhookStack()
after(async () => {
  await Promise.all([scaled.stop(), unscaled.stop()])
  await smtp.stop()
})

test('a webhook that a newer version has stored waits for such a version, and holds up no other', async () => {
  const { subscribe, record, redis, settled, send } = unscaled
  const newer = await subscribe('/newer')
  const other = await subscribe('/other')
  const webhooks = REDIS_KEYS.webhooks('org_default')
  const stored = (await redis.hget(webhooks, newer.webhook_id)) ?? ''
  await redis.hset(
    webhooks,
    newer.webhook_id,
    JSON.stringify({ ...(JSON.parse(stored) as object), store_format: STORE_FORMAT + 1 }),
  )
  await record('permission_denied')
  assert.equal((await settled(other.webhook_id)).success_count, 1)
  // No lease keeps it from a process of that version, which looks for due deliveries at the same time.
  assert.equal(await redis.zcard(REDIS_KEYS.webhookInFlight(newer.webhook_id)), 0)
  // As a process of that version would read it.
  await redis.hset(webhooks, newer.webhook_id, stored)
  const { pending_count, failure_count } = await send('GET', `/webhooks/${newer.webhook_id}`)
  assert.ok(pending_count <= 1)
  assert.equal(failure_count, 0)
  assert.equal((await settled(newer.webhook_id)).success_count, 1)
  await send('DELETE', `/webhooks/${newer.webhook_id}`)
})

test('a newer webhook without events and a damaged one do not stop the outbox, and get only what they subscribe to', async () => {
  const { receiver, subscribe, record, redis, settled, send, admin } = unscaled
  const newer = await subscribe('/eventless')
  const damaged = await subscribe('/damaged')
  const other = await subscribe('/beside', { events: ['permission_denied', 'agent_killed'] })
  const ids = [newer.webhook_id, damaged.webhook_id]
  const webhooks = REDIS_KEYS.webhooks('org_default')
  const stored = await redis.hmget(webhooks, ...ids)
  const eventless = {
    ...(JSON.parse(stored[0] ?? '') as object),
    events: undefined,
    store_format: STORE_FORMAT + 1,
  }
  const store = (texts: readonly (string | null)[]) =>
    redis.hset(webhooks, Object.fromEntries(ids.map((id, i) => [id, texts[i] ?? ''])))
  await store([JSON.stringify(eventless), '{"webhook_id":'])
  await record('agent_killed')
  await record('permission_denied')
  await until('both events arrive', () => receiver.received('/beside').length === 2)
  const told = (text: string, webhook_id: string): number =>
    admin
      .log()
      .split('\n')
      .filter((line) => line.includes(text) && line.includes(webhook_id)).length
  await until('the newer one waits', () => told('a newer version has stored', ids[0] ?? '') === 1)
  assert.equal(await redis.zcard(REDIS_KEYS.webhookInFlight(newer.webhook_id)), 0)
  assert.ok(told('a webhook is damaged', ids[1] ?? '') > 0)
  // Its notice is dropped after a day, which the log tells.
  const day_ago_ms = Date.now() - 25 * 3600 * 1000
  await redis.zadd(REDIS_KEYS.webhookNotices, 1, `org_default ${ids[0]} ${day_ago_ms}`)
  await until('the log says so', () => told('its notice is dropped', ids[0] ?? '') === 1)
  // As a process of that version would read it.
  await store(stored)
  assert.equal((await settled(newer.webhook_id)).success_count, 1)
  assert.deepEqual(
    receiver.received('/eventless').map(({ body }) => JSON.parse(body.toString()).event),
    ['permission_denied'],
  )
  const { pending_count, failure_count } = await send('GET', `/webhooks/${damaged.webhook_id}`)
  assert.deepEqual([pending_count, failure_count], [0, 0])
  for (const id of [...ids, other.webhook_id]) await send('DELETE', `/webhooks/${id}`)
})

test('five attempts are made in the order of the schedule; then the webhook is failing and one e-mail is sent, until a success', async () => {
  const { receiver, subscribe, record, settled, send } = scaled
  receiver.on('/down', (response, number) => response.writeHead(number <= 10 ? 503 : 200).end())
  const { webhook_id } = await subscribe('/down')
  const entries = [await record('permission_denied')]
  const failing = await settled(webhook_id)
  assert.deepEqual(
    [failing.status, failing.success_count, failing.failure_count],
    ['failing', 0, 5],
  )
  assert.equal(failing.missed_since, entries[0]?.timestamp)
  const times = receiver.received('/down').map(({ at_ms }) => at_ms)
  assert.equal(times.length, 5)
  for (const [i, wait_ms] of [60, 300, 600, 1200].entries()) {
    const waited_ms = Number(times[i + 1]) - Number(times[i])
    assert.ok(waited_ms >= wait_ms, `attempt ${i + 2} came after ${waited_ms} ms`)
  }
  const ids = receiver.received('/down').map(({ headers }) => headers['webhook-id'])
  assert.deepEqual(
    [...new Set(ids)],
    entries.map(({ id }) => id),
  )

  const [delivery] = await scaled.deliveriesOf(webhook_id)
  assert.ok(delivery)
  assert.equal(delivery.status, 'failed')
  assert.deepEqual(
    delivery.attempts.map((attempt) => [attempt.number, attempt.status, attempt.error]),
    [1, 2, 3, 4, 5].map((number) => [number, 503, 'http_status']),
  )
  // Others tell that this stack has no proxy.
  const letters = () => smtp.mails.filter(({ text }) => text.includes(webhook_id))
  await until('the e-mail arrives', () => letters().length === 1)
  const [letter] = letters()
  assert.deepEqual(letter?.to, ['ops@example.com', 'second@example.com'])
  assert.match(letter?.text ?? '', new RegExp(webhook_id))
  assert.match(letter?.text ?? '', /^Subject: Webhook failing: \/down/m)

  // It keeps receiving; a second delivery that fails brings no second e-mail.
  await record('permission_denied')
  await until('ten attempts failed', async () => {
    const webhook = await send('GET', `/webhooks/${webhook_id}`)
    return webhook.failure_count === 10 && webhook.pending_count === 0
  })
  await send(
    'POST',
    `/webhooks/${webhook_id}/deliveries/${delivery.delivery_id}/retry`,
    undefined,
    202,
  )
  const active = await until('the webhook is active again', async () => {
    const webhook = await send('GET', `/webhooks/${webhook_id}`)
    return webhook.status === 'active' ? webhook : null
  })
  assert.deepEqual(
    [active.success_count, active.failure_count, active.failing_since],
    [1, 10, null],
  )
  const retried = await send('GET', `/webhooks/${webhook_id}/deliveries/${delivery.delivery_id}`)
  assert.deepEqual([retried.status, retried.attempt_count], ['delivered', 6])
  assert.equal(letters().length, 1)
  // What it missed is remembered until a replay has covered all of it.
  const missedAfter = async (from: number, to: number): Promise<string | null> => {
    const range = { from: new Date(from).toISOString(), to: new Date(to).toISOString() }
    await send('POST', `/webhooks/${webhook_id}/replay`, range, 202)
    return (await send('GET', `/webhooks/${webhook_id}`)).missed_since
  }
  const first_ms = Date.parse(entries[0]?.timestamp ?? '')
  assert.equal(await missedAfter(first_ms, first_ms), entries[0]?.timestamp, 'not the second event')
  assert.equal(await missedAfter(first_ms + 1, Date.now()), entries[0]?.timestamp, 'not the first')
  assert.equal(await missedAfter(first_ms, Date.now()), null)
  assert.equal(await missedAfter(0, 1), null, 'nothing stored in the range, nothing missed')
  assert.deepEqual(await scaled.redis.zrange(REDIS_KEYS.webhookNotices, '0', '-1'), [])
})

test('unscaled, the stored times are 1 min, 5 min, 30 min and 2 h after each failure', async () => {
  const { receiver, subscribe, record, redis, deliveriesOf } = unscaled
  receiver.on('/closed', (response) => response.writeHead(410).end())
  const { webhook_id } = await subscribe('/closed')
  await record('permission_denied')
  const waits_min = [1, 5, 30, 120]
  for (const [i, wait_min] of waits_min.entries()) {
    const delivery = await until(`attempt ${i + 1} failed`, async () => {
      const [found] = await deliveriesOf(webhook_id)
      return found?.attempt_count === i + 1 ? found : null
    })
    const attempt = delivery.attempts.at(-1)
    assert.ok(attempt)
    const due_ms = Number(
      await redis.zscore(REDIS_KEYS.webhookQueue(webhook_id), delivery.delivery_id),
    )
    assert.equal(delivery.next_attempt_at, new Date(due_ms).toISOString())
    assert.equal(attempt.next_attempt_at, delivery.next_attempt_at)
    // Counted from the failure, which came some milliseconds after the start of the attempt.
    const failed_ms = Date.parse(attempt.started_at) + attempt.duration_ms
    assert.ok(Math.abs(due_ms - failed_ms - wait_min * 60_000) < 5_000)
    if (i === 0) await aFailureOf90Seconds(webhook_id)
    // Instead of waiting, the time is made to have come.
    await redis.zadd(REDIS_KEYS.webhookQueue(webhook_id), 1, delivery.delivery_id)
    await redis.zadd(REDIS_KEYS.webhooksDue, 1, `org_default ${webhook_id}`)
  }
  const webhook = await unscaled.settled(webhook_id)
  assert.deepEqual([webhook.status, webhook.failure_count], ['failing', 5])
  await until('the log warns, since e-mail is off', () =>
    unscaled.admin
      .log()
      .includes('a webhook is failing: the last attempt of a delivery has failed'),
  )
})

/** After one attempt of five: no e-mail and no status yet, but an alert when it has accepted nothing for 90 s. */
async function aFailureOf90Seconds(webhook_id: string): Promise<void> {
  const { redis, send } = unscaled
  const notice = `org_default ${webhook_id} refused`
  const due_ms = Number(await redis.zscore(REDIS_KEYS.webhookNotices, notice))
  const since_ms = await redis.hget(REDIS_KEYS.webhookState(webhook_id), 'refused_since_ms')
  assert.equal(due_ms - Number(since_ms), 90_000)
  await redis.zadd(REDIS_KEYS.webhookNotices, 1, notice)
  const about = `webhook_failing ${webhook_id}`
  await until('the alert is open', () => redis.hexists(REDIS_KEYS.alertsOpen('org_default'), about))
  assert.equal((await send('GET', `/webhooks/${webhook_id}`)).status, 'active')
}

test('an e-mail that the server does not take is tried again', async () => {
  const { receiver, subscribe, record, settled, redis } = scaled
  smtp.refuseNext(1)
  receiver.on('/gone', (response) => response.writeHead(500).end())
  const { webhook_id } = await subscribe('/gone')
  await record('permission_denied')
  await settled(webhook_id)
  await until('the e-mail was refused', () => scaled.admin.log().includes('could not be sent'))
  const [notice = ''] = await redis.zrange(REDIS_KEYS.webhookNotices, '0', '-1')
  assert.match(notice, new RegExp(webhook_id))
  await redis.zadd(REDIS_KEYS.webhookNotices, 1, notice)
  await until('the e-mail arrives', () => smtp.mails.some(({ text }) => text.includes(webhook_id)))
})
