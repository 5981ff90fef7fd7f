import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { AddressPolicy } from '../../core/egress/address-policy.ts'
import { ATTEMPT_ERRORS } from '../../admin/webhooks/attempt-outcome.ts'
import { pinnedConnector } from '../../admin/webhooks/pinned-connector.ts'
import { sendDelivery } from '../../admin/webhooks/send-delivery.ts'
import { DELIVERED_EVENTS } from '../../core/catalogue/events.ts'
import { anyCharacter } from '../kit/any-character.ts'
import { repetitions } from '../kit/repetitions.ts'
import { until } from '../kit/until.ts'
import { startWebhookStack } from '../kit/webhook-stack.ts'

const RUNS = repetitions(500)

const stack = await startWebhookStack()
const { receiver, subscribe, record, send } = stack
after(() => stack.stop())

const hostileText = fc.oneof(
  fc.string({ unit: anyCharacter, maxLength: 40 }),
  fc.constantFrom(
    '',
    '\u0000',
    '\ud800',
    '\udfff\ud800',
    '\u{1f600}'.repeat(200),
    '\r\nx-injected: 1\r\n\r\n',
    '</script>',
    '__proto__',
    'constructor',
    '*',
    '@epoch',
    '%00',
    'x'.repeat(5000),
  ),
)
test('an event of whatever content arrives as JSON that says the same', async () => {
  const { webhook_id } = await subscribe('/hostile', {
    events: [...DELIVERED_EVENTS],
    secret: 'a plain secret',
  })
  let deep: unknown = 'bottom'
  for (let i = 0; i < 500; i++) deep = { down: deep }
  const contents: Record<string, unknown>[] = [
    { reason: '\u0000\u0001\u007f\u2028' },
    { reason: '\ud800', service: 'a\udfffb', [`key \ud83d`]: 1 },
    { reason: 'x'.repeat(1_000_000) },
    { reason: '\u{1f600}'.repeat(1000) },
    { deep },
    { list: Array.from({ length: 10_000 }, (_, i) => i) },
    { number: 1e308, small: 5e-324, exact: 2 ** 53, none: null },
    { 'a\tb\nc': 'd\te\nf', '': '' },
    { toString: 1, constructor: { prototype: 2 }, hasOwnProperty: 3 },
    ...fc.sample(fc.dictionary(hostileText, fc.jsonValue({ maxDepth: 4 })), 60),
  ]
  const sent = new Map<string, Record<string, unknown>>()
  for (const [i, data] of contents.entries()) {
    const event = DELIVERED_EVENTS[i % DELIVERED_EVENTS.length] ?? 'agent_killed'
    // These mark entries that webhooks do not receive or receive later.
    const { mode: _, whitelisted: __, ...plain } = data
    const isHeld = event === 'rate_limit_exceeded'
    const entry = await record(event, {
      agent_id: isHeld ? `agt_${i}` : 'agt_hostile',
      agent_name: '\u{1f600}\ud83d',
      data: plain,
    })
    sent.set(entry.id, plain)
  }
  await until('all have arrived', () => receiver.received('/hostile').length >= sent.size)
  const seen = new Set<string>()
  for (const { body, headers } of receiver.received('/hostile')) {
    const envelope = JSON.parse(body.toString())
    assert.equal(headers['webhook-id'], envelope.id)
    seen.add(envelope.id)
    const data = JSON.parse(JSON.stringify(sent.get(envelope.id)))
    for (const name of Object.keys(data))
      if (name !== '__proto__') assert.deepEqual(envelope.data[name], data[name], name)
  }
  assert.deepEqual([...seen].sort(), [...sent.keys()].sort())
  await send('DELETE', `/webhooks/${webhook_id}`)
})

test('whatever bytes a receiver answers with, an attempt ends with an outcome that the catalogue has', async () => {
  let answer: readonly Buffer[] = []
  let hangsUp = true
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.on('close', () => sockets.delete(socket))
    socket.once('data', () => {
      for (const part of answer) socket.write(part)
      if (hangsUp) socket.end()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const connect = pinnedConnector(new AddressPolicy(['127.0.0.0/8']), async () => ['127.0.0.1'])
  const sender = {
    connect,
    connectTrusting: () => connect,
    limit_ms: 250,
  }
  const line = fc.oneof(
    fc.nat({ max: 1200 }).map((status) => `HTTP/1.1 ${status} x`),
    fc.constantFrom(
      'HTTP/1.1 200 OK',
      'HTTP/1.1 204 No Content',
      'HTTP/1.1 100 Continue',
      'HTTP/1.1 101 Switching Protocols',
      'HTTP/1.0 200',
      'HTTP/1.1 -1 x',
      'HTTP/2 200 OK',
      'HTTP/1.1 20O OK',
      'ICY 200 OK',
      '',
    ),
    fc.string({ unit: anyCharacter, maxLength: 30 }),
  )
  const header = fc.oneof(
    fc.constantFrom(
      'content-length: 5',
      'content-length: -1',
      'content-length: 99999999999999999999',
      'content-length: 5\r\ncontent-length: 6',
      'transfer-encoding: chunked',
      'transfer-encoding: gzip, chunked',
      'content-encoding: gzip',
      'location: http://169.254.169.254/',
      'upgrade: websocket\r\nconnection: upgrade',
      'trailer: x',
      ' folded',
      'set-cookie: a=b',
    ),
    fc
      .tuple(fc.string({ maxLength: 12 }), fc.string({ unit: anyCharacter, maxLength: 40 }))
      .map(([name, value]) => `${name}: ${value}`),
    fc.constant(`x: ${'y'.repeat(20_000)}`),
  )
  const body = fc.oneof(
    fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
    fc.constantFrom(
      Buffer.from('hello'),
      Buffer.from('5\r\nhello\r\n0\r\n\r\n'),
      Buffer.from('ffffffffffffffff\r\nx'),
      Buffer.from('zz\r\n'),
      Buffer.from('\u001b[2J\u202e\u2028'),
      Buffer.alloc(200_000, 'x'),
    ),
  )
  const text = /^[\P{C}\n\t\uFFFD]*$/u
  await fc.assert(
    fc.asyncProperty(
      line,
      fc.array(header, { maxLength: 4 }),
      body,
      fc.boolean(),
      async (first, headers, content, isOpen) => {
        answer = [Buffer.from(`${[first, ...headers].join('\r\n')}\r\n\r\n`), content]
        hangsUp = !isOpen
        const outcome = await sendDelivery(sender, {
          url: `http://hook.test:${port}/`,
          headers: { 'content-type': 'application/json' },
          body: Buffer.from('{}'),
          ca_certificates: null,
        })
        const { is_success, status, error, response_excerpt } = outcome
        assert.equal(is_success, error === null)
        assert.ok(error === null || Object.hasOwn(ATTEMPT_ERRORS, error), String(error))
        if (is_success) assert.ok(status !== null && status >= 200 && status < 300)
        if (status !== null) assert.ok(Number.isInteger(status))
        assert.ok((response_excerpt ?? '').length <= 512)
        assert.match(response_excerpt ?? '', text)
      },
    ),
    { numRuns: RUNS },
  )
  for (const socket of sockets) socket.destroy()
  server.close()
})
