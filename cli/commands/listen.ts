import {
  createHmac,
  createPrivateKey,
  generateKeyPairSync,
  randomBytes,
  timingSafeEqual,
  X509Certificate,
} from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { hostname } from 'node:os'
import { DELIVERED_EVENTS, type DeliveredEvent, eventRow } from '../../core/catalogue/events.ts'
import { makeAuthority } from '../../core/certificate/make-authority.ts'
import { readIssuer } from '../../core/certificate/read-issuer.ts'
import { writeCertificate } from '../../core/certificate/write-certificate.ts'
import { makeResource } from '../create/make-resource.ts'
import type { AdminOptions } from '../deployment/admin-access.ts'
import { callAdmin, messageOf } from '../deployment/call-admin.ts'
import type { Terminal } from '../terminal/ask.ts'
import { terminalJson, terminalLines, terminalText } from '../terminal/terminal-text.ts'

export interface ListenOptions extends AdminOptions {
  /** Without them all that webhooks can subscribe to. */
  readonly events?: readonly DeliveredEvent[]
  /** This machine, as the gateway reaches it. */
  readonly host: string
  /** 0: a free one. */
  readonly port: number
}

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** Of the certificate: longer than a receiver at a terminal is left running. */
const VALID_DAYS = 30
/** The gateway sends no larger event. */
const BODY_LIMIT_BYTES = 1_048_576
/** Deliveries at once; more of them get 503 and are sent again. */
const CONNECTIONS_MAX = 64
/** Standard Webhooks: an older delivery may be a recorded one. */
const AGE_LIMIT_S = 300

/**
 * `agw listen`: a webhook receiver on this machine, registered while the command runs. Deliveries are verified and printed.
 * @param stopped aborted when the command is to end
 * @returns the exit code: 0, or 1 if no delivery can arrive or the webhook could not be deleted
 * @throws with a message for the operator when it cannot be registered
 */
export async function runListen(
  options: ListenOptions,
  { stdout, stderr }: Pick<Terminal, 'stdout' | 'stderr'>,
  stopped: AbortSignal,
): Promise<number> {
  const { host, port, output, events = DELIVERED_EVENTS } = options
  const secret = randomBytes(32)
  const { ca, key, cert } = certificateFor(host)
  const server = createServer({ key, cert, maxHeaderSize: 16_384 }, (request, response) => {
    receive(request, secret).then(
      (received) => {
        if (received === null) return void response.writeHead(413).end()
        const { body, problem } = received
        if (problem !== null) {
          stderr.write(terminalLines(`A request was refused: ${problem}.\n`))
          return void response.writeHead(401).end()
        }
        stdout.write(output === 'json' ? `${body}\n` : terminalLines(describe(body)))
        response.writeHead(204).end()
      },
      () => response.destroy(),
    )
  })
  server.maxConnections = CONNECTIONS_MAX
  await listen(server, LOOPBACK.test(host) ? host : undefined, port)
  try {
    const url = `https://${host.includes(':') ? `[${host}]` : host}:${(server.address() as AddressInfo).port}/`
    const webhook = await makeResource(options, 'webhooks', {
      name: `agw listen on ${hostname()}`.slice(0, NAME_MAX),
      url,
      events,
      secret: `whsec_${secret.toString('base64')}`,
      ca_certificates: ca,
    }).catch((error: Error) => {
      if (error.message.includes('not public')) error.message += `\n${allow(host)}`
      throw error
    })
    const path = `/webhooks/${encodeURIComponent(String(webhook['webhook_id']))}`
    const isReached = await isTested(options, path, stderr, host)
    if (isReached) {
      stderr.write(terminalLines(`Events are sent to ${url} until you end this with Ctrl+C.\n`))
      await new Promise<void>((resolve) => {
        if (stopped.aborted) resolve()
        else stopped.addEventListener('abort', () => resolve(), { once: true })
      })
    }
    const answer = await callAdmin(options, 'DELETE', path)
    if (answer.status >= 300 && answer.status !== 404)
      throw new Error(`${messageOf(answer)}\nThe webhook ${path} is still registered.`)
    stderr.write('The webhook is deleted.\n')
    return isReached ? 0 : 1
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

const NAME_MAX = 100
const LOOPBACK = /^(?:127\.[\d.]+|::1)$/

const allow = (host: string): string =>
  `The gateway sends to private addresses only where AGW_WEBHOOK_ALLOW_CIDRS lists them. Restart it with AGW_WEBHOOK_ALLOW_CIDRS=${LOOPBACK.test(host) ? '127.0.0.0/8' : 'the network of this machine, such as 10.0.0.0/24'}.`

/** Whether a test delivery arrives; else says why not. */
async function isTested(
  options: AdminOptions,
  path: string,
  stderr: Terminal['stderr'],
  host: string,
): Promise<boolean> {
  const answer = await callAdmin(options, 'POST', `${path}/test`, {})
  const { status, attempts = [] } = answer.body as Tested
  if (answer.status === 200 && status === 'delivered') return true
  const cause = answer.status === 200 ? (attempts[0]?.error ?? status) : messageOf(answer)
  const hint = cause === 'address_denied' ? ` ${allow(host)}` : ''
  stderr.write(terminalLines(`The gateway does not reach this receiver: ${cause}.${hint}\n`))
  return false
}

interface Tested {
  readonly status?: string
  readonly attempts?: readonly { readonly error: string | null }[]
}

function listen(server: Server, address: string | undefined, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, address, () => resolve())
  })
}

/** A CA for this command, and a certificate for the host; the CA's key is kept nowhere. */
function certificateFor(host: string): {
  readonly ca: string
  readonly key: string
  readonly cert: string
} {
  const now_ms = Date.now()
  const authority = makeAuthority(now_ms)
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const cert = writeCertificate({
    subject: 'agw listen',
    public_key: publicKey,
    issuer: readIssuer(new X509Certificate(authority.certificate).raw),
    issuer_key: createPrivateKey(authority.key),
    not_before_ms: now_ms - HOUR_MS,
    not_after_ms: now_ms + VALID_DAYS * DAY_MS,
    host,
  })
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  return { ca: authority.certificate, key, cert }
}

/** Null if the body is too long. `problem` says why the delivery is not the gateway's. */
async function receive(
  request: IncomingMessage,
  secret: Buffer,
): Promise<{ readonly body: string; readonly problem: string | null } | null> {
  const parts: Buffer[] = []
  let size_bytes = 0
  for await (const part of request as AsyncIterable<Buffer>) {
    size_bytes += part.length
    if (size_bytes > BODY_LIMIT_BYTES) return null
    parts.push(part)
  }
  const bytes = Buffer.concat(parts)
  return { body: bytes.toString(), problem: problemOf(request.headers, bytes, secret) }
}

/** Why a delivery is not verified by the rules of Standard Webhooks; null when it is. */
export function problemOf(
  headers: IncomingMessage['headers'],
  body: Buffer,
  secret: Buffer,
  now_s = Date.now() / 1000,
): string | null {
  const id = headers['webhook-id']
  const timestamp = headers['webhook-timestamp']
  const signatures = headers['webhook-signature']
  if (typeof id !== 'string' || typeof timestamp !== 'string' || typeof signatures !== 'string')
    return 'it is not signed'
  if (!/^\d{1,12}$/.test(timestamp) || Math.abs(now_s - Number(timestamp)) > AGE_LIMIT_S)
    return 'its time is not within 5 minutes of the time of this machine'
  const signed = Buffer.concat([Buffer.from(`${id}.${timestamp}.`), body])
  const expected = createHmac('sha256', secret).update(signed).digest()
  const isOurs = signatures.split(' ').some((signature) => {
    const [version, text = ''] = signature.split(',')
    const given = Buffer.from(text, 'base64')
    return version === 'v1' && given.length === expected.length && timingSafeEqual(given, expected)
  })
  return isOurs ? null : 'its signature is wrong'
}

/** One line about an event, and its data. */
function describe(body: string): string {
  const event = JSON.parse(body) as Record<string, unknown>
  const { timestamp, agent_name, data } = event
  const name = String(event['event'])
  const title = eventRow(name)?.title ?? name
  const agent = typeof agent_name === 'string' ? ` ${agent_name}` : ''
  return `${terminalText(String(timestamp))} ${name} (${title})${terminalText(agent)}\n  ${terminalJson(data)}\n`
}
