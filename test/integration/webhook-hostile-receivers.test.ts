import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import type { DeliveryView } from '../../admin/webhooks/webhook-schemas.ts'
import { startDnsServer } from '../kit/dns-server.ts'
import { freePort } from '../kit/free-port.ts'
import { until } from '../kit/until.ts'
import { startWebhookStack } from '../kit/webhook-stack.ts'

const dns = await startDnsServer({
  'private.test': ['10.0.0.1'],
  'metadata.test': ['169.254.169.254'],
  'mapped.test': ['::ffff:7f00:1'],
  'nat64.test': ['64:ff9b::7f00:1'],
  'mixed.test': ['169.254.169.254', '127.0.0.1'],
  'other-name.test': ['127.0.0.1'],
})
const names = ['localhost', 'rebind.test', 'mixed.test']
const stack = await startWebhookStack({ AGW_DNS_RESOLVERS: dns.address }, names)
const { receiver, subscribe, record, send } = stack
const closed_port = await freePort()
after(async () => {
  await stack.stop()
  await dns.stop()
})

/** A megabyte of zeros a thousand times over, and what it was before, in a thousandth of the size. */
const BOMB = gzipSync(gzipSync(Buffer.alloc(64 * 1024 * 1024)))
const MEBIBYTE = Buffer.alloc(1024 * 1024, 'x')

/** Receivers that misbehave, with the outcome of the first attempt. */
const HOSTILE: Record<string, { readonly status: number | null; readonly error: string | null }> = {
  '/hang': { status: null, error: 'timeout' },
  '/drip': { status: 200, error: 'timeout' },
  '/drip-error': { status: 500, error: 'timeout' },
  '/endless': { status: 200, error: null },
  '/endless-error': { status: 500, error: 'http_status' },
  '/bomb': { status: 200, error: null },
  '/redirect': { status: 302, error: 'redirect_refused' },
  '/redirect-307': { status: 307, error: 'redirect_refused' },
  '/gone': { status: 410, error: 'http_status' },
  '/too-many': { status: 429, error: 'http_status' },
  '/large-headers': { status: null, error: 'invalid_response' },
  '/cut': { status: 200, error: 'connection_reset' },
  '/not-http': { status: null, error: 'invalid_response' },
}

const dripping = new Set<NodeJS.Timeout>()
after(() => {
  for (const timer of dripping) clearInterval(timer)
})
receiver.on('/hang', () => undefined)
for (const [path, status] of [
  ['/drip', 200],
  ['/drip-error', 500],
] as const)
  receiver.on(path, (response) => {
    response.writeHead(status)
    dripping.add(setInterval(() => response.write('.'), 1000))
  })
let sent_bytes = 0
for (const [path, status] of [
  ['/endless', 200],
  ['/endless-error', 500],
] as const)
  receiver.on(path, (response) => {
    response.writeHead(status)
    const pour = (): void => {
      while (!response.destroyed && sent_bytes < 10 * 1024 ** 3) {
        sent_bytes += MEBIBYTE.length
        if (!response.write(MEBIBYTE)) return
      }
    }
    response.on('drain', pour)
    pour()
  })
receiver.on('/bomb', (response) =>
  response.writeHead(200, { 'content-encoding': 'gzip, gzip' }).end(BOMB),
)
receiver.on('/redirect', (response) =>
  response.writeHead(302, { location: 'http://169.254.169.254/latest/meta-data/' }).end(),
)
receiver.on('/redirect-307', (response) =>
  response.writeHead(307, { location: receiver.url('/redirected') }).end(),
)
receiver.on('/gone', (response) => response.writeHead(410).end())
receiver.on('/too-many', (response) => response.writeHead(429, { 'retry-after': '1' }).end())
receiver.on('/large-headers', (response) => {
  const lines = Array.from({ length: 30 }, (_, i) => `x-${i}: ${'y'.repeat(2000)}`)
  response.socket?.end(`HTTP/1.1 200 OK\r\n${lines.join('\r\n')}\r\n\r\n`)
})
receiver.on('/cut', (response) => {
  response.writeHead(200, { 'content-length': '100' }).write('half')
  setImmediate(() => response.socket?.destroy())
})
receiver.on('/not-http', (response) => void response.socket?.end('220 mail.example.com ESMTP\r\n'))

const firstAttempt = (webhook_id: string): Promise<DeliveryView['attempts'][number]> =>
  until(
    `the first attempt at ${webhook_id} is over`,
    async () => (await stack.deliveriesOf(webhook_id)).at(-1)?.attempts[0],
  )

test('misbehaving receivers cost bounded time and memory, get their error class, and delay no other', async () => {
  const subscribed = async (path: string) => [path, (await subscribe(path)).webhook_id] as const
  const hanging = await subscribed('/hang')
  const healthy = await subscribe('/healthy', { events: ['agent_killed'] })
  // More than its slots, so that deliveries to the hanging receiver wait in line while others go on.
  for (let i = 0; i < 12; i++) await record('permission_denied')
  for (let i = 0; i < 5; i++) {
    await record('agent_killed')
    await until('a healthy receiver has it', () => receiver.received('/healthy').length === i + 1)
  }
  const waiting = await stack.deliveriesOf(hanging[1])
  // On a slow machine the first attempts have ended by then, and others have begun.
  if (waiting.every(({ attempt_count }) => attempt_count === 0))
    assert.ok(receiver.received('/hang').length <= 8, 'more attempts than slots')

  const others = Object.keys(HOSTILE).filter((path) => path !== '/hang')
  const hostile = [hanging, ...(await Promise.all(others.map(subscribed)))]
  for (let i = 0; i < 12; i++) await record('permission_denied')
  for (const [path, webhook_id] of hostile) {
    const { status, error, is_success, response_excerpt } = await firstAttempt(webhook_id)
    assert.deepEqual({ status, error }, HOSTILE[path], path)
    assert.equal(is_success, error === null, path)
    assert.ok((response_excerpt ?? '').length <= 512, path)
  }
  assert.equal(receiver.received('/redirected').length, 0)
  const bomb = hostile.find(([path]) => path === '/bomb')?.[1] ?? ''
  assert.equal((await firstAttempt(bomb)).response_excerpt, null)
  assert.ok(sent_bytes < 1024 ** 3, `the endless answers were read for ${sent_bytes} bytes`)
  const [, peak_kib = ''] =
    /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${stack.admin.pid}/status`, 'utf8')) ?? []
  assert.ok(Number(peak_kib) < 400 * 1024, `the admin process grew to ${peak_kib} KiB`)
  for (const [, webhook_id] of hostile) await send('DELETE', `/webhooks/${webhook_id}`)
  await send('DELETE', `/webhooks/${healthy.webhook_id}`)
})

test('a host is judged by the address that is connected to', async () => {
  const at = (host: string, port = receiver.port): string => `https://${host}:${port}/judged`
  const rows: [url: string, error: string | null][] = [
    [at('private.test'), 'address_refused'],
    [at('metadata.test'), 'address_refused'],
    [at('mapped.test'), 'address_refused'],
    [at('nat64.test'), 'address_refused'],
    [at('nowhere.test'), 'dns_failed'],
    [at('other-name.test'), 'tls_failed'],
    [at('127.0.0.1'), 'tls_failed'],
    [at('localhost', closed_port), 'connection_refused'],
    [at('mixed.test'), null],
    [at('localhost'), null],
  ]
  for (const [url, error] of rows) {
    const { webhook_id } = await send('POST', '/webhooks', {
      name: url,
      url,
      events: ['agent_killed'],
    })
    const { attempts } = await send('POST', `/webhooks/${webhook_id}/test`)
    assert.equal(attempts[0].error, error, url)
    await send('DELETE', `/webhooks/${webhook_id}`)
  }
  assert.equal(receiver.received('/judged').length, 2)
})

test('a name that rebinds is looked up once an attempt, and each attempt is judged by its own answer', async () => {
  const { webhook_id } = await send('POST', '/webhooks', {
    name: 'rebinding',
    url: `https://rebind.test:${receiver.port}/rebound`,
    events: ['agent_killed'],
  })
  const stored = dns.asked('rebind.test')
  dns.set('rebind.test', [['127.0.0.1'], ['169.254.169.254']])
  assert.equal((await send('POST', `/webhooks/${webhook_id}/test`)).status, 'delivered')
  const asked = dns.asked('rebind.test')
  // One question for each family of addresses.
  assert.equal(asked, stored + 2)
  const second = await send('POST', `/webhooks/${webhook_id}/test`)
  assert.equal(second.attempts[0].error, 'address_refused')
  assert.equal(dns.asked('rebind.test'), asked + 2)
  assert.equal(receiver.received('/rebound').length, 1)
})
