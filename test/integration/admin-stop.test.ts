import assert from 'node:assert/strict'
import { Agent, request } from 'node:http'
import { after, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { startAdmin } from '../kit/start-admin.ts'
import { startValkey } from '../kit/start-valkey.ts'
import { until } from '../kit/until.ts'

const valkey = await startValkey()
after(() => valkey.stop())

/** Longer than an admin process that stops waits for requests that are on their way. */
const PAUSE_MS = 600

test('an admin process that is held up as it stops answers what has come meanwhile', async () => {
  const admin = await startAdmin(valkey.url)
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const ask = (): Promise<{ readonly status: number | string; readonly isLast: boolean }> =>
    new Promise((resolve) => {
      const headers = { authorization: `Bearer ${admin.token}` }
      const sent = request(`${admin.url}/admin/agents?limit=1`, { agent, headers }, (answer) => {
        answer.resume()
        const isLast = answer.headers.connection === 'close'
        answer.once('end', () => resolve({ status: answer.statusCode ?? 0, isLast }))
      })
      sent.once('error', ({ message }) => resolve({ status: message, isLast: false }))
      sent.end()
    })
  assert.deepEqual(await ask(), { status: 200, isLast: false })
  const stopped = admin.stop()
  await until('it is stopping', async () => (await ask()).isLast)
  process.kill(admin.pid, 'SIGSTOP')
  const answered = ask()
  await wait(PAUSE_MS)
  process.kill(admin.pid, 'SIGCONT')
  assert.deepEqual(await answered, { status: 200, isLast: true })
  await stopped
  agent.destroy()
})
