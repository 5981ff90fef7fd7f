import assert from 'node:assert/strict'
import { Agent, request } from 'node:http'
import { after, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { newAdminIdentity, startAdmin } from '../kit/start-admin.ts'
import { startValkey } from '../kit/start-valkey.ts'
import { until } from '../kit/until.ts'

const valkey = await startValkey()
after(() => valkey.stop())

/** Longer than an admin process that stops waits for requests that are on their way. */
const PAUSE_MS = 600
/** Shorter than one that has been replaced waits. */
const IDLE_MS = 1_000

const identity = newAdminIdentity()

/** Each is a process of its own; on a busy machine one may have stopped listening before it is held up. */
const ATTEMPTS = 5

interface Answered {
  /** The status, or the message of the error. */
  readonly status: number | string
  /** Whether the connection ends with this answer. */
  readonly isLast: boolean
}

const isTooLate = ({ status }: Answered): boolean => String(status).includes('ECONNREFUSED')

/** Requests to an admin process, one after the other on one connection. */
const askOn =
  (admin: { readonly url: string; readonly token: string }, agent: Agent) =>
  (): Promise<Answered> =>
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

async function askWhileHeldUp(): Promise<Answered> {
  const admin = await startAdmin(valkey.url, identity)
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const ask = askOn(admin, agent)
  assert.deepEqual(await ask(), { status: 200, isLast: false })
  const stopped = admin.stop()
  const last = await until('it is stopping', async () => {
    const answer = await ask()
    return (answer.isLast || isTooLate(answer)) && answer
  })
  if (isTooLate(last)) {
    await stopped
    return last
  }
  process.kill(admin.pid, 'SIGSTOP')
  const answered = ask()
  await wait(PAUSE_MS)
  process.kill(admin.pid, 'SIGCONT')
  const answer = await answered
  await stopped
  agent.destroy()
  return answer
}

test('an admin process that is held up as it stops answers what has come meanwhile', async () => {
  let answer = await askWhileHeldUp()
  for (let attempt = 1; attempt < ATTEMPTS && isTooLate(answer); attempt++)
    answer = await askWhileHeldUp()
  assert.deepEqual(answer, { status: 200, isLast: true })
})

test('an admin process that has been replaced answers on a connection that was idle for a second', async () => {
  const admin = await startAdmin(valkey.url, identity)
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const ask = askOn(admin, agent)
  assert.deepEqual(await ask(), { status: 200, isLast: false })
  process.kill(admin.pid, 'SIGHUP')
  await wait(IDLE_MS)
  assert.deepEqual(await ask(), { status: 200, isLast: true })
  await admin.stop()
  agent.destroy()
})
