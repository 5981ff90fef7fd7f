import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { after, before, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { WebSocket } from 'ws'
import { runCaRotate, runCaShow } from '../../cli/commands/ca.ts'
import { runDoctor } from '../../cli/commands/doctor.ts'
import { hexFingerprint } from '../../core/certificate/open-authority.ts'
import { fromRoot } from '../../core/system/root.ts'
import { call } from '../kit/call.ts'
import { ForwardClient } from '../kit/forward-client.ts'
import { loadDuring } from '../kit/load-during.ts'
import { openCall } from '../kit/open-call.ts'
import { operatorAt } from '../kit/operator.ts'
import { type SharedStack, startAll, stopAll } from '../kit/shared-stack.ts'
import { runCommand } from '../kit/run-command.ts'
import { INJECTION } from '../kit/sent/random-body.ts'
import { startSocketApi } from '../kit/start-socket-api.ts'
import type { ChildRole } from '../kit/start-stack.ts'
import { until } from '../kit/until.ts'

// `agw restart` as an operator uses it, under calls, streams, kills and requests to the admin API.

const RESTARTED: readonly ChildRole[] = ['ext-proc', 'access-log', 'admin']
const KEPT: readonly ChildRole[] = ['envoy', 'valkey', 'echo']

/** Longer than the streams that must end by themselves. */
const DRAIN_MS = 3_000
/** Each call makes a tunnel of its own, which costs both ends more than the call. */
const CALL_PAUSE_MS = 50

let stack: SharedStack
before(async () => {
  stack = await startAll({
    AGW_EXT_PROC_WORKERS: '2',
    AGW_DRAIN_TIMEOUT: `${DRAIN_MS}ms`,
    AGW_FORWARD_CONNECTS_PER_MINUTE: '100000',
  })
})
after(() => stopAll(stack))

async function agwRestart(dataDir = stack.dataDir): Promise<{ code: number | null; said: string }> {
  const child = spawn(process.execPath, [fromRoot('dist', 'cli', 'bin.js'), 'restart'], {
    env: { PATH: process.env['PATH'], AGW_DATA_DIR: dataDir },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve))
  const said = await Promise.all([text(child.stdout), text(child.stderr)])
  return { code: await exited, said: said.join('') }
}

const pidsOf = async (roles: readonly ChildRole[]): Promise<number[]> =>
  (await Promise.all(roles.map((role) => stack.pids(role)))).flat()

test('a rolling restart fails no call, no kill and no admin request, and cuts no stream before the time-out', async (t) => {
  const [restarted, kept] = await Promise.all([pidsOf(RESTARTED), pidsOf(KEPT)])
  const access = await stack.operator.makeAccess(stack.ownBaseUrl())
  const endless = Array.from({ length: 6 }, () =>
    openCall(stack.proxyUrl, `${access.base_url}/sse?ticks=6000&interval_ms=100`, access.headers),
  )
  for (const stream of endless) assert.equal(await stream.answered, 200)
  const socket = await openSocket()
  let echoes = 0
  socket.on('message', () => void echoes++)
  const sending = setInterval(() => socket.send('hello', () => undefined), 100)
  const closed = once(socket, 'close').then(() => performance.now())

  const before_ms = performance.now()
  const restart = agwRestart()
  // The other processes, which are still to come, take seconds.
  const second = until('a processor was replaced', async () =>
    (await pidsOf(['ext-proc'])).some((pid) => !restarted.includes(pid)),
  ).then(() => agwRestart())
  const result = await loadDuring(stack, restart, { rate: 30, streams: 4, stream_ms: 1_500 })
  t.diagnostic(JSON.stringify(result))
  assert.deepEqual(result.failures, {})
  const refused = await second
  assert.equal(refused.code, 1)
  assert.match(refused.said, /A restart is already running\./)
  const { code, said } = await restart
  assert.equal(code, 0, said)
  assert.match(
    said,
    /^ext-proc-1 was restarted in .*\next-proc-2 .*\naccess-log .*\nadmin .*\nRestarted 4 processes in /,
  )
  const now = new Set(await pidsOf(RESTARTED))
  assert.equal(now.size, restarted.length)
  assert.deepEqual(
    restarted.filter((pid) => now.has(pid)),
    [],
  )
  assert.deepEqual(await pidsOf(KEPT), kept)

  for (const { is_whole, at_ms } of await Promise.all(endless.map((stream) => stream.ended))) {
    assert.equal(is_whole, false)
    assert.ok(at_ms - before_ms >= DRAIN_MS, `cut after ${at_ms - before_ms} ms`)
  }
  assert.ok((await closed) - before_ms >= DRAIN_MS)
  clearInterval(sending)
  assert.ok(echoes > 0)
})

/** A WebSocket whose messages are scanned. */
async function openSocket(): Promise<WebSocket> {
  const api = await startSocketApi()
  after(() => api.stop())
  const { base_url, headers } = await stack.operator.makeAccess(`http://127.0.0.1:${api.port}`, {
    rules: [{ methods: ['GET'], paths: ['/**'], upgrade: ['websocket'] }],
    scope: { injection_detection: { enabled: true, mode: 'block', sensitivity: 'high' } },
  })
  const url = `${stack.proxyUrl.replace('http', 'ws')}/${base_url}/x`
  const socket = new WebSocket(url, { headers: { ...headers } })
  socket.on('error', () => undefined)
  await once(socket, 'open')
  return socket
}

test('one processor decides calls; the other stands by and takes them when it dies', async () => {
  const direct = operatorAt(stack.apiUrl, stack.adminToken)
  const access = await stack.operator.makeAccess(stack.ownBaseUrl(), {
    scope: { injection_detection: { enabled: true } },
  })
  const target = `${access.base_url}/sse?ticks=600&interval_ms=100`
  const open = async (): Promise<void> => {
    const stream = openCall(stack.proxyUrl, target, access.headers)
    assert.equal(await stream.answered, 200)
  }
  /** How many calls each of them holds, the active one first. */
  const held = async (): Promise<number[]> => {
    const { data } = await direct.send('GET', '/admin/edges')
    return (data as { edge_id: string; role: string; in_flight: number }[])
      .sort((a, b) => a.role.localeCompare(b.role))
      .map(({ in_flight }) => in_flight)
  }
  const isHeld = (...counts: number[]): Promise<true> =>
    until(
      `they hold ${counts.join(' and ')} calls`,
      async () => (await held()).join() === counts.join(),
    )
  await isHeld(0, 0)
  for (let n = 0; n < 4; n++) await open()
  await isHeld(4, 0)
  const isActive = (pid: number): boolean =>
    /AGW_EDGE_STANDBY=false\0/.test(readFileSync(`/proc/${pid}/environ`, 'latin1'))
  const pids = await stack.pids('ext-proc')
  const active = pids.find(isActive)
  const standby = pids.find((pid) => !isActive(pid))
  assert.ok(active !== undefined && standby !== undefined)
  const children = readFileSync(`/proc/${standby}/task/${standby}/children`, 'latin1')
  assert.equal(children, '', 'its scan processes start when it needs them')
  process.kill(active, 'SIGKILL')
  await open()
  const large = await fetch(`${stack.proxyUrl}/${access.base_url}/echo`, {
    method: 'POST',
    headers: { ...access.headers, 'content-type': 'application/json' },
    body: JSON.stringify([INJECTION, 'hello '.repeat(10_000)]),
  })
  assert.equal(large.status, 403, 'a body for a scan process is scanned')
  await until('the active one serves again', async () => {
    await open()
    return ((await held())[0] ?? 0) > 0
  })
})

test('without a gateway, the command says what to set', async () => {
  const { code, said } = await agwRestart('/nowhere')
  assert.equal(code, 1)
  assert.match(said, /No gateway is running with the data directory \/nowhere\. Set AGW_DATA_DIR/)
})

// Here, since each of two processes issues certificates of its own.
test('the CA is replaced step by step, without a failed call, and in force when a step is answered', async () => {
  const direct = operatorAt(stack.apiUrl, stack.adminToken)
  const { agent, base_url } = await stack.operator.makeAccess(stack.ownBaseUrl())
  const { host, hostname, origin: to, pathname } = new URL(base_url)
  const pem = async (): Promise<string> => await (await fetch(`${stack.apiUrl}/ca.pem`)).text()
  const clients: ForwardClient[] = []
  const trusting = (ca: string): ForwardClient => {
    const client = new ForwardClient(stack.forwardPort ?? 0, ca)
    clients.push(client)
    return client
  }
  /** Whether a client that trusts no other CA completes handshakes at either process. */
  const isTrusted = async (ca: string): Promise<boolean> => {
    const client = trusting(ca)
    const tried = Array.from({ length: 8 }, async () => {
      const { socket } = await client.tunnel(host, { key: agent.api_key })
      const secure = await client.tls(socket, { servername: hostname }).catch(() => null)
      socket.destroy()
      return secure !== null
    })
    const [first = false, ...others] = await Promise.all(tried)
    for (const one of others) assert.equal(one, first, 'both processes issue with the same CA')
    return first
  }
  const step = (name: string) => direct.send('POST', '/admin/ca/rotate', { step: name })
  const refused = async (name: string, reason: string): Promise<void> => {
    const answer = await post(name, stack.adminToken)
    assert.equal(answer.status, 409)
    const { details } = (await answer.json()) as { details: { reason: string } }
    assert.equal(details.reason, reason)
  }
  const post = (name: string, token: string) =>
    fetch(`${stack.apiUrl}/admin/ca/rotate`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ step: name }),
    })

  const { token } = await direct.send('POST', '/admin/tokens', {
    email: 'o@example.com',
    role: 'operator',
  })
  assert.equal((await post('replace', token)).status, 403)
  const first = await pem()
  assert.equal(await isTrusted(first), true)
  await refused('activate', 'no_next_ca')
  const options = { url: stack.apiUrl, token: stack.adminToken, output: 'table' } as const
  const prepared = await runCommand((out) => runCaRotate('prepare', options, out, out))
  assert.equal(prepared.code, 0, prepared.text)
  assert.match(prepared.text, /^ROLE .*\ncurrent  .*\nnext  /)
  await refused('prepare', 'rotation_in_progress')
  const doctorSays = async (): Promise<string> => {
    const { text } = await runCommand((out) => runDoctor(options, {}, out))
    return text.split('\n').find((line) => line.includes('forward CA')) ?? text
  }
  assert.match(
    await doctorSays(),
    /warning +forward CA +.*next CA is prepared and not in use, since 20/,
  )
  const both = await pem()
  assert.ok(both.startsWith(first) && both.length > first.length)
  assert.ok((await (await fetch(`${stack.apiUrl}/ca-bundle.pem`)).text()).endsWith(both))
  const second = both.slice(first.length)
  assert.deepEqual([await isTrusted(first), await isTrusted(second)], [true, false])

  // Calls of a client that has both, in a kept tunnel and in new ones.
  const kept = trusting(both).agent({ key: agent.api_key })
  let isOver = false
  const statuses: number[] = []
  const calls = (async () => {
    while (!isOver) {
      const fresh = trusting(both).agent({ key: agent.api_key })
      for (const connections of [kept, fresh])
        statuses.push((await call({ to, path: `${pathname}/x`, connections })).status)
      fresh.destroy()
      await wait(CALL_PAUSE_MS)
    }
  })()
  await until('calls are made', () => statuses.length > 4)
  await step('activate')
  const print = (ca: string): string => hexFingerprint(new X509Certificate(ca))
  // Each name is held by one process; the other may have issued none.
  await until('no process reports another CA than the one in use', async () => {
    const { data } = await direct.send('GET', '/admin/edges')
    const all = data.map((edge: { forward_ca: string }) => edge.forward_ca)
    const known = all.filter((one: string | null) => one !== null)
    return known.length > 0 && known.every((one: string) => one === print(second))
  })
  assert.match(await doctorSays(), /warning +forward CA +.*still get the previous CA, since 20/)
  assert.deepEqual([await isTrusted(first), await isTrusted(second)], [false, true])
  assert.equal(await pem(), second + first)
  await step('finish')
  assert.match(await doctorSays(), /ok +forward CA +valid until/)
  assert.equal(await pem(), second)
  assert.equal(await isTrusted(second), true)
  isOver = true
  await calls
  assert.deepEqual([...new Set(statuses)], [200])
  await step('replace')
  const third = await pem()
  assert.deepEqual([await isTrusted(second), await isTrusted(third)], [false, true])

  const shown = await runCommand((out) => runCaShow(options, out, out))
  assert.match(shown.text, /^ROLE .*\ncurrent  Agent Access Gateway CA [^\n]*\n$/)
  const { data } = await direct.send('GET', '/admin/activity?event=admin_action&limit=200')
  const actions = data.map((one: { data: { action: string } }) => one.data.action)
  assert.deepEqual(
    actions.filter((action: string) => action.startsWith('ca.')),
    ['ca.replace', 'ca.finish', 'ca.activate', 'ca.prepare'],
  )
  assert.ok(!JSON.stringify(data).includes('sealed_key'))
  kept.destroy()
  for (const client of clients) client.close()
})

// The last one: the restart that it begins ends with the stack.
test('SIGHUP begins a restart too', async () => {
  const before_pids = new Set(await pidsOf(['ext-proc']))
  process.kill(stack.pid, 'SIGHUP')
  await until('a processor was replaced', async () =>
    (await pidsOf(['ext-proc'])).some((pid) => !before_pids.has(pid)),
  )
})
