import { request } from 'node:http'
import { connect as connectTcp, type Socket } from 'node:net'
import { connect as connectTls, createSecureContext, type SecureContext } from 'node:tls'
import { type AddressPolicy, literalAddress } from '../egress/address-policy.ts'
import { AddressRefused, allowedAddresses } from '../egress/allowed-addresses.ts'
import { checkProxiedHost, type EgressProxy } from '../egress/egress-proxy.ts'
import { openTunnel, ProxyRefused } from '../egress/open-tunnel.ts'
import { HostNotFound, type ResolveHost } from '../egress/resolve-host.ts'
import { trustedCas } from '../egress/system-ca.ts'
import type { TokenFailure } from './credential-cause.ts'
import { knownUrl } from '../bounded/parse-url.ts'

/** Where this process may connect to and which CAs it trusts: the same as Envoy for calls. */
export interface Egress {
  readonly policy: AddressPolicy
  readonly resolve: ResolveHost
  readonly extra_ca_file: string | null
  readonly proxy: EgressProxy | null
  /** Another network than that of this machine. It answers in place of it, and never rejects. */
  readonly network?: (url: string, form: Form | null, deadline: AbortSignal) => Promise<FormAnswer>
}

export type FormAnswer =
  | { readonly kind: 'answered'; readonly status: number; readonly body: Buffer }
  | { readonly kind: 'failed'; readonly cause: TokenFailure['cause'] }

export interface Form {
  /** POST unless it is given; the others have no body. */
  readonly method?: 'GET' | 'DELETE'
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** Called when the connection is established, before the first byte of the request; the request is not sent if it is false. */
  readonly beforeSending?: () => Promise<boolean>
}

/** A token response is a few kilobytes. */
const BODY_LIMIT_BYTES = 65_536
const HEADERS_LIMIT_BYTES = 16_384
/** At most this many addresses of a host are tried, one after the other. */
const ADDRESSES_TRIED = 3
const CONNECT_TIMEOUT_MS = 2_000
const USER_AGENT = 'agent-access-gateway'

/**
 * Posts a form to a URL configured by an operator, on a separate connection, to an address that has been checked. Redirects are
 * not followed, and the response is not decompressed. Never rejects.
 */
export const postForm = (
  egress: Egress,
  url: string,
  form: Form,
  deadline: AbortSignal,
): Promise<FormAnswer> => ask(egress, url, form, deadline)

/** Reads a document under the same rules. Never rejects. */
export const getDocument = (
  egress: Egress,
  url: string,
  deadline: AbortSignal,
  headers: Form['headers'] = {},
): Promise<FormAnswer> => ask(egress, url, { method: 'GET', headers, body: '' }, deadline)

async function ask(
  egress: Egress,
  to: string,
  form: Form,
  deadline: AbortSignal,
): Promise<FormAnswer> {
  if (egress.network !== undefined) return await egress.network(to, form, deadline)
  let socket: Socket | null = null
  try {
    const url = knownUrl(to)
    socket = await inTime(openSocket(egress, url, deadline), deadline)
    const isWanted = (await form.beforeSending?.()) ?? true
    if (!isWanted) return { kind: 'failed', cause: 'busy' }
    return await inTime(exchange(socket, url, form, deadline), deadline)
  } catch (error) {
    return { kind: 'failed', cause: deadline.aborted ? 'timeout' : causeOf(error) }
  } finally {
    socket?.destroy()
  }
}

class TlsFailed extends Error {}

function causeOf(error: unknown): TokenFailure['cause'] {
  if (error instanceof AddressRefused) return 'address_refused'
  if (error instanceof HostNotFound) return 'dns_failed'
  if (error instanceof ProxyRefused) return 'proxy_refused'
  return error instanceof TlsFailed ? 'tls_failed' : 'connection_failed'
}

async function openSocket(egress: Egress, url: URL, deadline: AbortSignal): Promise<Socket> {
  const { policy, resolve, proxy } = egress
  const { hostname } = url
  const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80))
  if (proxy !== null && !proxy.isExcepted(hostname, port)) {
    await checkProxiedHost(proxy, hostname, policy, resolve)
    const tunnel = await openTunnel(proxy, hostname, port, CONNECT_TIMEOUT_MS)
    return connectTo(egress, url, tunnel, deadline)
  }
  const addresses = await allowedAddresses(hostname, policy, resolve)
  let failure: unknown = null
  for (const address of addresses.slice(0, ADDRESSES_TRIED)) {
    deadline.throwIfAborted()
    try {
      return await connectTo(egress, url, connectTcp({ host: address, port }), deadline)
    } catch (error) {
      failure = error
    }
  }
  throw failure
}

/** @param tcp connects, or is connected */
function connectTo(egress: Egress, url: URL, tcp: Socket, deadline: AbortSignal): Promise<Socket> {
  const isSecure = url.protocol === 'https:'
  const socket = isSecure
    ? connectTls({
        socket: tcp,
        // An address literal has no server name; its certificate must name the address.
        servername: literalAddress(url.hostname) === null ? url.hostname.replace(/\.$/, '') : '',
        secureContext: secureContext(egress.extra_ca_file),
        ALPNProtocols: ['http/1.1'],
        // Regardless of NODE_TLS_REJECT_UNAUTHORIZED in the environment.
        rejectUnauthorized: true,
      })
    : tcp
  return new Promise((resolve, reject) => {
    let isConnected = !tcp.connecting
    const done = (): void => {
      clearTimeout(timer)
      deadline.removeEventListener('abort', giveUp)
      resolve(socket)
    }
    const fail = (error: Error): void => {
      clearTimeout(timer)
      tcp.destroy()
      socket.destroy()
      reject(isSecure && isConnected ? new TlsFailed(error.message) : error)
    }
    const giveUp = (): void => fail(new Error('connecting timed out'))
    const timer = setTimeout(giveUp, CONNECT_TIMEOUT_MS)
    deadline.addEventListener('abort', giveUp, { once: true })
    tcp.once('connect', () => {
      isConnected = true
    })
    tcp.on('error', fail)
    socket.on('error', fail)
    socket.once('close', () => fail(new Error('closed before the connection was established')))
    if (isSecure) socket.once('secureConnect', done)
    else if (tcp.connecting) tcp.once('connect', done)
    else done()
  })
}

/** Reading all CAs takes 25 ms of CPU, so it is done once, when the first token is fetched. */
let context: SecureContext | null = null
const secureContext = (extra_ca_file: string | null): SecureContext =>
  (context ??= createSecureContext({ ca: trustedCas(extra_ca_file) }))

function exchange(
  socket: Socket,
  url: URL,
  form: Form,
  deadline: AbortSignal,
): Promise<FormAnswer> {
  return new Promise((resolve, reject) => {
    const { method = 'POST', body } = form
    const sent = request({
      method,
      path: url.pathname + url.search,
      headers: {
        host: url.host,
        'user-agent': USER_AGENT,
        accept: 'application/json',
        'accept-encoding': 'identity',
        ...(method === 'POST'
          ? {
              'content-type': 'application/x-www-form-urlencoded',
              'content-length': Buffer.byteLength(body),
            }
          : {}),
        ...form.headers,
        connection: 'close',
      },
      createConnection: () => socket,
      maxHeaderSize: HEADERS_LIMIT_BYTES,
      signal: deadline,
    })
    sent.on('error', reject)
    // After a 101 response, Node reports nothing more about the request.
    sent.once('upgrade', () => reject(new Error('the connection was upgraded')))
    sent.once('response', (answer) => {
      const status = answer.statusCode ?? 0
      const parts: Buffer[] = []
      let size_bytes = 0
      answer.on('data', (part: Buffer) => {
        size_bytes += part.length
        if (size_bytes > BODY_LIMIT_BYTES) {
          answer.destroy()
          resolve({ kind: 'failed', cause: 'answer_too_large' })
        } else parts.push(part)
      })
      answer.on('error', reject)
      answer.once('end', () => resolve({ kind: 'answered', status, body: Buffer.concat(parts) }))
      answer.once('close', () => reject(new Error('the answer was cut')))
    })
    sent.end(body)
  })
}

/** The deadline applies to everything, including DNS servers that do not respond and requests that Node does not end. */
function inTime<T>(work: Promise<T>, deadline: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    deadline.addEventListener('abort', () => reject(new Error('not in time')), { once: true })
    work.then(resolve, reject)
  })
}
