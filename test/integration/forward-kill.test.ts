import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { after, test } from 'node:test'
import { call } from '../kit/call.ts'
import { freePort } from '../kit/free-port.ts'
import { ForwardClient, type TunnelOptions } from '../kit/forward-client.ts'
import { rawHttp } from '../kit/raw-http.ts'
import { sharedStack } from '../kit/shared-stack.ts'
import { until } from '../kit/until.ts'

const stack = await sharedStack()
const { operator, api, origin } = stack
const ca = await (await fetch(`${stack.apiUrl}/ca.pem`)).text()
const client = new ForwardClient(stack.forwardPort ?? 0, ca)
after(() => client.close())
const to = origin('plain')
const { host, hostname } = new URL(to)

/** Longer than a kill takes to end a connection on a machine that is busy; shorter than the idle time-out, which ends it too. */
const LIMIT_MS = 30_000

interface Opened {
  readonly closed: Promise<unknown>
  /** What has come so far. */
  readonly text: () => string
}

function watched(socket: Socket): Opened {
  let text = ''
  socket.on('data', (part: Buffer) => {
    text += part.toString('latin1')
  })
  socket.on('error', () => undefined)
  socket.resume()
  return { closed: once(socket, 'close'), text: () => text }
}

const within = (closed: Promise<unknown>, what: string): Promise<unknown> =>
  Promise.race([
    closed,
    new Promise((_, reject) => {
      setTimeout(() => reject(new Error(`${what} was still open`)), LIMIT_MS).unref()
    }),
  ])

const secureTunnel = async (options: TunnelOptions): Promise<Socket> => {
  const { socket } = await client.tunnel(host, options)
  return await client.tls(socket, { servername: hostname })
}

test('a kill ends every kind of tunnel, and counts calls and tunnels', async () => {
  const { agent, base_url } = await stack.makeAccess()
  const base = new URL(base_url).pathname
  const options: TunnelOptions = { key: agent.api_key }
  const head = (line: string): string => `${line} HTTP/1.1\r\nHost: ${host}\r\n`
  // Nothing was sent in it, not even the first bytes of TLS.
  const silent = watched((await client.tunnel(host, options)).socket)
  const idle = watched(await secureTunnel(options))
  const keptSocket = await secureTunnel(options)
  const kept = watched(keptSocket)
  keptSocket.write(`${head(`GET ${base}/echo`)}\r\n`)
  const streamingSocket = await secureTunnel(options)
  const streaming = watched(streamingSocket)
  streamingSocket.write(`${head(`GET ${base}/sse?ticks=100000&interval_ms=20`)}\r\n`)
  const uploadingSocket = await secureTunnel(options)
  const uploading = watched(uploadingSocket)
  uploadingSocket.write(`${head(`POST ${base}/upload`)}Content-Length: 1000000\r\n\r\nbegins`)
  const waitingSocket = await secureTunnel(options)
  const waiting = watched(waitingSocket)
  waitingSocket.write(`${head(`GET ${base}/slow`)}\r\n`)
  const blindHost = new URL(origin('blind')).host
  const blind = watched((await client.tunnel(blindHost, options)).socket)
  const session = await client.http2(to, options)
  const streams = Array.from({ length: 100 }, () => {
    const stream = session.request({ ':path': `${base}/sse?ticks=100000&interval_ms=200` })
    stream.on('error', () => undefined).resume()
    return stream
  })
  await Promise.all(streams.map((stream) => once(stream, 'response')))
  await until('all are in flight', () => streaming.text().includes('tick') && kept.text() !== '')
  await until('the upload and the slow call have arrived', () =>
    ['/upload', '/slow'].every((path) => api.received.some((one) => one.path === `${base}${path}`)),
  )
  await until('the preview counts calls and tunnels apart', async () => {
    const preview = await operator.send('GET', `/admin/agents/${agent.agent_id}/kill-preview`)
    return preview.in_flight === 3 + 100 && preview.tunnels === 8
  })
  const receipt = await operator.send('POST', `/admin/agents/${agent.agent_id}/kill`, {})
  const all = { silent, idle, kept, streaming, uploading, waiting, blind }
  for (const [name, { closed }] of Object.entries(all)) await within(closed, name)
  const open = streams.filter((stream) => !stream.closed)
  await Promise.all(open.map((stream) => within(once(stream, 'close'), 'h2')))
  assert.equal(receipt.in_flight_requests_terminated, 3 + 100)
  assert.equal(receipt.tunnels_terminated, 8)
  assert.deepEqual(
    receipt.edges.map(({ terminated, tunnels }: { terminated: number; tunnels: number }) => [
      terminated,
      tunnels,
    ]),
    [[3 + 100, 8]],
  )
  const kept_receipt = await operator.send('GET', `/admin/kills/${receipt.kill_id}`)
  assert.equal(kept_receipt.tunnels_terminated, 8)
  assert.equal(kept_receipt.in_flight_requests_terminated, 3 + 100)
  assert.equal(receipt.complete, true)
  const again = await client.tunnel(host, options)
  assert.equal(again.status, 403)
  assert.match(again.head, /x-agw-reason: agent_killed/)
})

test('a lock ends in tunnels what it refuses: with read_only neither reading nor the tunnel for it', async () => {
  const { agent, base_url } = await stack.makeAccess()
  const base = new URL(base_url).pathname
  const options: TunnelOptions = { key: agent.api_key }
  const head = (line: string): string => `${line} HTTP/1.1\r\nHost: ${host}\r\n`
  const reading = await secureTunnel(options)
  const read = watched(reading)
  reading.write(`${head(`GET ${base}/sse?ticks=100000&interval_ms=20`)}\r\n`)
  const writing = await secureTunnel(options)
  const written = watched(writing)
  writing.write(`${head(`POST ${base}/upload`)}Content-Length: 1000000\r\n\r\nbegins`)
  const blindHost = new URL(origin('blind')).host
  const blind = watched((await client.tunnel(blindHost, options)).socket)
  await until('all are in flight', () => {
    const isUploading = api.received.some((one) => one.path === `${base}/upload`)
    return isUploading && read.text().includes('tick')
  })
  const { data } = await operator.send('GET', `/admin/agents/${agent.agent_id}/keys`)
  const lock = (mode: string): Promise<any> =>
    operator.send('POST', '/admin/locks', { target: { key_id: data[0].key_id }, mode })
  const paused = await lock('read_only')
  await within(blind.closed, 'blind')
  await until('the upload is told', () => written.text().includes('locked'))
  assert.deepEqual(
    [paused.complete, paused.in_flight_requests_terminated, paused.tunnels_terminated],
    [true, 1, 1],
  )
  const from = read.text().length
  await until('reading goes on', () => read.text().length > from)
  const refused = await client.tunnel(blindHost, options)
  assert.equal(refused.status, 403)
  assert.match(refused.head, /x-agw-reason: locked/)
  assert.equal((await client.tunnel(host, options)).status, 200)
  const denied = await lock('deny')
  await within(read.closed, 'reading')
  assert.deepEqual([denied.complete, denied.in_flight_requests_terminated], [true, 1])
  const closed = await client.tunnel(host, options)
  assert.match(closed.head, /x-agw-reason: locked/)
  for (const { lock_id } of [paused, denied])
    await operator.send('DELETE', `/admin/locks/${lock_id}`, { reason: 'test' })
  assert.equal((await client.tunnel(host, options)).status, 200)
})

test('calls in tunnels that wait for their response are told why a kill ends them', async () => {
  const { agent, base_url } = await stack.makeAccess()
  const base = new URL(base_url).pathname
  const heads = [
    `POST ${base}/upload HTTP/1.1\r\nContent-Length: 1000000`,
    `GET ${base}/slow HTTP/1.1`,
  ]
  const tunnels = await Promise.all(
    heads.map(async (head) => {
      const socket = await secureTunnel({ key: agent.api_key })
      const tunnel = watched(socket)
      socket.write(`${head}\r\nHost: ${host}\r\n\r\n`)
      return tunnel
    }),
  )
  await until('both have arrived', () =>
    ['/upload', '/slow'].every((path) => api.received.some((one) => one.path === `${base}${path}`)),
  )
  await operator.send('POST', `/admin/agents/${agent.agent_id}/kill`, {})
  for (const { closed, text } of tunnels) {
    await within(closed, 'a tunnel')
    assert.match(text(), /^HTTP\/1\.1 503 /)
    assert.match(text(), /"error":"agent_killed"/)
  }
})

test('a killed agent cannot use a tunnel of another connection, and a reactivated one can', async () => {
  const { agent, base_url } = await stack.makeAccess()
  const path = `${new URL(base_url).pathname}/echo`
  const connections = client.agent({ key: agent.api_key })
  assert.equal((await call({ to, path, connections })).status, 200)
  await operator.send('POST', `/admin/agents/${agent.agent_id}/kill`, {})
  // The first may still meet the connection that the kill is closing.
  await call({ to, path, connections }).catch(() => undefined)
  await assert.rejects(call({ to, path, connections }), /CONNECT 403/)
  await operator.send('POST', `/admin/agents/${agent.agent_id}/reactivate`, { reason: 'test' })
  assert.equal((await call({ to, path, connections })).status, 200)
  connections.destroy()
})

// Envoy pools connections to the internal listener. One that an aborted CONNECT leaves behind must not be given to another, also
// if that comes from the same address and port, as it may with a filter state that is no part of the pool's key.
test('aborted CONNECTs of one agent do not reach calls of another', async () => {
  const alpha = await stack.makeAccess()
  const beta = await stack.makeAccess()
  const integration = await operator.makeIntegration(`${to}/shared`)
  for (const { agent } of [alpha, beta])
    await operator.makeScope(agent.agent_id, integration.integration_id)
  const key = `Basic ${Buffer.from(`agent:${alpha.agent.api_key}`).toString('base64')}`
  const abort = async (from: number, after_ms: number): Promise<void> => {
    const socket = client.connect(from)
    await once(socket, 'connect')
    socket.write(`CONNECT ${host} HTTP/1.1\r\nHost: ${host}\r\nProxy-Authorization: ${key}\r\n\r\n`)
    await new Promise((resolve) => setTimeout(resolve, after_ms))
    socket.resetAndDestroy()
    if (!socket.closed) await once(socket, 'close')
  }
  const ask = async (from: number): Promise<void> => {
    const options = { key: beta.agent.api_key }
    const { socket } = await client.tunnel(host, options, client.connect(from))
    const secure = await client.tls(socket, { servername: hostname })
    const { answers } = await rawHttp(secure, `GET /shared/x HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
    assert.equal(answers[0]?.status, 200, answers[0]?.body)
  }
  const lane = async (calls: number): Promise<void> => {
    for (let i = 0; i < calls; i++) {
      const from = await freePort()
      for (const after_ms of [1, 3, 5]) await abort(from, after_ms + (i % 3))
      await ask(from)
    }
  }
  await Promise.all(Array.from({ length: LANES }, () => lane(CALLS / LANES)))
  const query = `event=request_allowed&integration_id=${integration.integration_id}&limit=200`
  const entries = await until('all calls are in the log', async () => {
    const { data } = await operator.send('GET', `/admin/activity?${query}`)
    return data.length >= CALLS ? (data as { agent_id: string }[]) : null
  })
  assert.equal(entries.length, CALLS)
  const wrong = entries.filter(({ agent_id }) => agent_id !== beta.agent.agent_id)
  assert.equal(wrong.length, 0, `${wrong.length} of ${CALLS} calls arrived as another agent`)
})

const CALLS = 80
const LANES = 4
