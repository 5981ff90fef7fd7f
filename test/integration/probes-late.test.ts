import assert from 'node:assert/strict'
import { test } from 'node:test'
import { issueProbePass, PROBE_HEADER } from '../../core/control/probe-pass.ts'
import { connectRedis } from '../../core/redis/connect-redis.ts'
import { call } from '../kit/call.ts'
import { operatorAt } from '../kit/operator.ts'
import { startStack } from '../kit/start-stack.ts'
import { until } from '../kit/until.ts'

const PROBES = 20

test('probes that Envoy refuses while ext-proc stands still are not counted, and calls with a made-up pass are', async () => {
  const stack = await startStack()
  const redis = connectRedis(stack.redisUrl, { name: 'test', role: 'queue' })
  try {
    const { send } = operatorAt(stack.apiUrl, stack.adminToken)
    const counted = async (): Promise<Record<string, number>> => {
      const { data } = await send('GET', '/admin/activity/unknown-calls')
      const counts = data as { reason: string; count: number }[]
      return Object.fromEntries(counts.map(({ reason, count }) => [reason, count]))
    }
    const before = await counted()
    const processors = await stack.pids('ext-proc')
    const answers = new Map<number, number>()
    const count = (status: number): void => void answers.set(status, (answers.get(status) ?? 0) + 1)
    const ask = async (pass: string): Promise<number> =>
      (await call({ to: stack.proxyUrl, path: '/', headers: { [PROBE_HEADER]: pass } })).status
    for (const pid of processors) process.kill(pid, 'SIGSTOP')
    try {
      await until('Envoy answers itself', async () => {
        const status = await ask((await issueProbePass(redis)) ?? '')
        count(status)
        return status === 503
      })
      for (let i = 0; i < PROBES; i++) count(await ask((await issueProbePass(redis)) ?? ''))
      // Sent once more by somebody who saw it, and made up.
      const seen = (await issueProbePass(redis)) ?? ''
      for (const pass of [seen, seen, 'f'.repeat(72), 'f'.repeat(71), `${seen}, ${seen}`])
        count(await ask(pass))
    } finally {
      for (const pid of processors) process.kill(pid, 'SIGCONT')
    }
    assert.ok((answers.get(503) ?? 0) > PROBES, JSON.stringify([...answers]))
    await stack.ready()
    // What was counted is published a second later, and in the order in which it came.
    assert.equal(await ask('of a caller'), 400)
    const last = await until('the last is counted', async () => {
      const now = await counted()
      return now['invalid_target_url'] === (before['invalid_target_url'] ?? 0) + 1 &&
        (now['gateway_unavailable'] ?? 0) >= (before['gateway_unavailable'] ?? 0) + 4
        ? now
        : null
    })
    assert.equal(last['gateway_unavailable'], (before['gateway_unavailable'] ?? 0) + 4)
  } finally {
    redis.disconnect()
    await stack.stop()
  }
})
