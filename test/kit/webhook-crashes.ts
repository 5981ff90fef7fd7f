import assert from 'node:assert/strict'
import { type ChildProcess, fork } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Attempt } from '../../admin/webhooks/attempt-outcome.ts'
import { recordEntries } from '../../core/change/record-entries.ts'
import { connectRedis } from '../../core/redis/connect-redis.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { fromRoot } from '../../core/system/root.ts'
import { activityEntry } from './activity-entry.ts'
import { freePort } from './free-port.ts'
import { makeCertificates } from './make-certificates.ts'
import { operatorAt } from './operator.ts'
import { type KitAdmin, newAdminIdentity, startAdmin } from './start-admin.ts'
import { startValkey } from './start-valkey.ts'
import { tempFolder } from './temp-folder.ts'
import { until } from './until.ts'

export interface CrashRound {
  readonly events: number
  readonly delivered: number
  readonly failed: number
  readonly attempts: number
  /** Answers of the receiver that no attempt has noted: those whose process died before it could, or that did not come through. */
  readonly unnoted: number
  readonly took_ms: number
}

export interface CrashStack {
  /** Records events while each of the three processes is killed with -9 at a moment of its own, and checks all of them. */
  readonly round: (events: number) => Promise<CrashRound>
  readonly stop: () => Promise<void>
}

/** Longer than a restart takes, so that a receiver that is down for a moment does not use up the attempts. */
const DELAYS = '0s,500ms,1s,2s,4s'
const ROUND_LIMIT_MS = 180_000

export async function startCrashStack(): Promise<CrashStack> {
  const [valkey, certificates, port] = await Promise.all([
    startValkey(),
    makeCertificates(['localhost']),
    freePort(),
  ])
  const log_file = join(tempFolder('receiver'), 'log')
  const identity = newAdminIdentity()
  const env = {
    AGW_WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8',
    AGW_WEBHOOK_DELAYS: DELAYS,
    NODE_EXTRA_CA_CERTS: certificates.ca_file,
    LOG_LEVEL: 'warn',
  }
  const openReceiver = async (): Promise<ChildProcess> => {
    const { key_file, cert_file } = certificates
    const program = fromRoot('dist', 'test', 'kit', 'receiver-process.js')
    const child = fork(program, [String(port), key_file, cert_file, log_file])
    await once(child, 'message')
    return child
  }
  const endReceiver = async (child: ChildProcess): Promise<void> => {
    const exited = once(child, 'exit')
    child.kill('SIGKILL')
    await exited
  }
  const redis = connectRedis(valkey.url, { name: 'crash-test', role: 'queue' })
  let admin: KitAdmin = await startAdmin(valkey.url, identity, env)
  let receiver = await openReceiver()

  const crashes = (span_ms: number): Promise<unknown> => {
    const atSomeMoment = async (crash: () => Promise<void>): Promise<void> => {
      await wait(randomInt(span_ms))
      await crash()
    }
    return Promise.all([
      atSomeMoment(async () => {
        await endReceiver(receiver)
        await wait(randomInt(300))
        receiver = await openReceiver()
      }),
      atSomeMoment(async () => {
        await valkey.kill()
        await wait(randomInt(300))
        await valkey.start()
      }),
      atSomeMoment(async () => {
        await admin.kill()
        // It may find the store down or loading, and is started again then, as a launcher does.
        admin = await until('the admin service is back', () =>
          startAdmin(valkey.url, identity, env).catch(() => null),
        )
      }),
    ])
  }

  const round = async (events: number): Promise<CrashRound> => {
    rmSync(log_file, { force: true })
    const started_ms = Date.now()
    const { webhook_id } = await operatorAt(admin.url, admin.token).send('POST', '/webhooks', {
      name: 'crashes',
      url: `https://localhost:${port}/`,
      events: ['permission_denied'],
    })
    const entries = Array.from({ length: events }, () => activityEntry('permission_denied'))
    const recording = async (): Promise<void> => {
      for (let i = 0; i < entries.length; i += 20) {
        const batch = entries.slice(i, i + 20)
        await Promise.all(
          batch.map((entry) => recordEntries(redis, entry.organization_id, [entry])),
        )
      }
    }
    await Promise.all([recording(), crashes(Math.max(1500, events / 2))])
    const state = (): Promise<[number, number, number, number]> =>
      Promise.all([
        redis.xlen(REDIS_KEYS.outbox),
        redis.zcard(REDIS_KEYS.webhookQueue(webhook_id)),
        redis.zcard(REDIS_KEYS.webhookInFlight(webhook_id)),
        redis.zcard(REDIS_KEYS.webhookDeliveries(webhook_id)),
      ])
    await until(
      'every event is delivered or has failed',
      async () => {
        const [outbox, waiting, running] = await state()
        return outbox + waiting + running === 0
      },
      ROUND_LIMIT_MS,
    )
    const took_ms = Date.now() - started_ms
    const result = await checkRound(webhook_id, new Set(entries.map(({ id }) => id)))
    await operatorAt(admin.url, admin.token).send('DELETE', `/webhooks/${webhook_id}`)
    await until('the deliveries are removed', async () => (await state())[3] === 0, ROUND_LIMIT_MS)
    return { events, ...result, took_ms }
  }

  const checkRound = async (
    webhook_id: string,
    ids: ReadonlySet<string>,
  ): Promise<Omit<CrashRound, 'events' | 'took_ms'>> => {
    const delivery_ids = await redis.zrange(REDIS_KEYS.webhookDeliveries(webhook_id), '0', '-1')
    const deliveries = await Promise.all(
      delivery_ids.map((id) => redis.hgetall(REDIS_KEYS.webhookDelivery(id))),
    )
    const event_ids = deliveries.map(({ event_id = '' }) => event_id)
    assert.equal(event_ids.length, ids.size, 'as many deliveries as events')
    assert.deepEqual(new Set(event_ids), ids)
    const accepted = new Set<string>()
    let answers = 0
    for (const line of existsSync(log_file)
      ? readFileSync(log_file, 'utf8').trim().split('\n')
      : []) {
      const [header, body, status] = line.split(' ')
      assert.equal(header, body, 'the id of the header is that of the body')
      assert.ok(ids.has(header ?? ''), 'only recorded events arrive')
      if (status === '200') accepted.add(header ?? '')
      answers++
    }
    let successes = 0
    let attempts = 0
    let answered = 0
    let failed = 0
    for (const { event_id = '', status, attempts: made, ...fields } of deliveries) {
      const noted = Object.entries(fields).filter(([name]) => name.startsWith('attempt '))
      const outcomes = noted.map(([, text]) => JSON.parse(text) as Attempt)
      assert.equal(outcomes.length, Number(made))
      if (status === 'delivered')
        assert.ok(accepted.has(event_id), 'what counts as delivered had a 2xx')
      else assert.deepEqual([status, Number(made)], ['failed', 5], 'what failed had five attempts')
      successes += outcomes.filter((attempt) => attempt.is_success).length
      answered += outcomes.filter((attempt) => attempt.status !== null).length
      attempts += outcomes.length
      if (status === 'failed') failed++
    }
    const view = await operatorAt(admin.url, admin.token).send('GET', `/webhooks/${webhook_id}`)
    assert.deepEqual([view.success_count, view.failure_count], [successes, attempts - successes])
    assert.equal(await redis.hget(REDIS_KEYS.webhookUsage('org_default'), 'pending'), '0')
    assert.equal(await redis.hget(REDIS_KEYS.outboxUsage, 'org_default bytes'), '0')
    const delivered = deliveries.length - failed
    return { delivered, failed, attempts, unnoted: answers - answered }
  }

  return {
    round,
    stop: async () => {
      redis.disconnect()
      await admin.stop()
      await endReceiver(receiver)
      await valkey.stop()
    },
  }
}
