import { connect } from 'node:net'
import { randomBytes } from 'node:crypto'
import { request } from 'node:http'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { startPatiently } from '../../admin/gate/start-patiently.ts'
import { makeLog } from '../../admin/server/make-log.ts'
import { startAdmin } from '../../admin/start-admin.ts'
import { mintKey } from '../../core/keys/api-key.ts'
import { type Environment, readSettings } from '../../core/settings/settings.ts'

/** What JSON.parse answers; a test says by its assertions what it expects. */
export type Json = ReturnType<typeof JSON.parse>

export interface AdminAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
  /** The parsed body; null where there is none. */
  readonly body: Json
}

export interface CallOptions {
  readonly token?: string | null
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as it is; `body` is sent as JSON. */
  readonly raw?: string | Buffer
  readonly body?: unknown
  /** Calls the Unix socket in place of the port. */
  readonly socket?: boolean
}

export interface AdminInProcess {
  readonly token: string
  readonly encryption_key: string
  readonly port: number
  readonly socket: string | null
  readonly log: () => string
  readonly call: (method: string, path: string, options?: CallOptions) => Promise<AdminAnswer>
  /** Bytes that need not be HTTP; the answer up to the end of the connection. */
  readonly raw: (text: string) => Promise<string>
  readonly stop: () => Promise<void>
}

/** The admin service in this process, on a port of the system's choice, with its log at hand. */
export async function adminInProcess(
  redisUrl: string,
  more: Environment = {},
): Promise<AdminInProcess> {
  const encryption_key = more['AGW_ENCRYPTION_KEY'] ?? randomBytes(32).toString('base64')
  const token = more['AGW_ADMIN_TOKEN'] ?? mintKey('admin')
  const read = readSettings({
    REDIS_URL: redisUrl,
    AGW_API_PORT: '0',
    AGW_PROXY_PORT: '1',
    AGW_ENCRYPTION_KEY: encryption_key,
    AGW_ADMIN_TOKEN: token,
    ...more,
  })
  if (!read.ok) throw new Error(read.problems.join('\n'))
  let log = ''
  const sink = { write: (line: string) => void (log += line) }
  const settings = { ...read.settings, redisUrl, encryptionKey: encryption_key }
  const start = () => startAdmin(settings, makeLog('debug', sink), () => undefined)
  const admin = await startPatiently(start, (failure) => void (log += failure))
  const socket = settings.adminSocket
  const call: AdminInProcess['call'] = (method, path, options = {}) =>
    send(
      { method, path, ...(options.socket ? { socketPath: socket } : { port: admin.port }) },
      { token, ...options },
    )
  return {
    token,
    encryption_key,
    port: admin.port,
    socket,
    log: () => log,
    call,
    raw: (text) => sendRaw(admin.port, text),
    stop: () => admin.stop(),
  }
}

function send(
  where: { method: string; path: string; port?: number; socketPath?: string | null },
  { token, headers = {}, raw, body }: CallOptions,
): Promise<AdminAnswer> {
  const content = raw ?? (body === undefined ? undefined : JSON.stringify(body))
  const all: Record<string, string> = {
    ...(token ? { authorization: `Bearer ${token}` } : {}),
    ...(content === undefined ? {} : { 'content-type': 'application/json' }),
    ...headers,
  }
  if (content !== undefined) all['content-length'] = String(Buffer.byteLength(content))
  return new Promise((resolve, reject) => {
    const { method, path, port, socketPath } = where
    const place = socketPath ? { socketPath } : { host: '127.0.0.1', port }
    const outgoing = request({ ...place, method, path, headers: all, agent: false })
    outgoing.once('error', reject)
    outgoing.once('response', (answer) => {
      const parts: Buffer[] = []
      answer.on('data', (part: Buffer) => parts.push(part))
      answer.once('end', () => {
        const text = decoded(Buffer.concat(parts), answer.headers['content-encoding']).toString()
        const json = (answer.headers['content-type'] ?? '').includes('application/json')
        const status = answer.statusCode ?? 0
        const parsed: unknown = json && text !== '' ? JSON.parse(text) : null
        resolve({ status, headers: answer.headers, text, body: parsed })
      })
    })
    outgoing.end(content)
  })
}

function decoded(bytes: Buffer, encoding: string | undefined): Buffer {
  if (encoding === undefined) return bytes
  return encoding === 'br' ? brotliDecompressSync(bytes) : gunzipSync(bytes)
}

function sendRaw(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const connection = connect(port, '127.0.0.1', () => connection.end(text))
    let answer = ''
    connection.setEncoding('utf8').on('data', (part: string) => {
      answer += part
    })
    connection.once('error', reject)
    connection.once('close', () => resolve(answer))
  })
}
