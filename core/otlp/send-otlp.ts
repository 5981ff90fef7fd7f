import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { Client } from 'undici'
import { classifyFailure } from '../egress/classify-failure.ts'
import { maskSecrets } from '../masking/mask-secrets.ts'

const compress = promisify(gzip)

const ANSWER_LIMIT_BYTES = 65_536
const EXCERPT_LENGTH = 300
const RETRY_AFTER_MAX_MS = 60_000
/** Shorter parts of a header are words such as `Bearer`. */
const SECRET_LENGTH_MIN = 8

export type SendOutcome =
  /** `rejected`: records or spans that the receiver has taken and dropped, with its message. */
  | { readonly kind: 'accepted'; readonly rejected: number; readonly message: string }
  /** The receiver will never take this request as it is; a part of it may be taken. */
  | { readonly kind: 'refused'; readonly problem: string }
  | { readonly kind: 'failed'; readonly problem: string; readonly retry_after_ms: number }

export interface OtlpReceiver {
  /** Of the origin of the receiver. */
  readonly client: Client
  /** With the query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly limit_ms: number
  /** Ends a request when the process stops. */
  readonly signal: AbortSignal
}

/** Statuses of a request that is too large or that the receiver cannot read. All others may change: a token is renewed, a path corrected. */
const REFUSALS = new Set([400, 413, 422])

/** One OTLP/HTTP request. Follows no redirect. Never throws. */
export async function sendOtlp(receiver: OtlpReceiver, json: string): Promise<SendOutcome> {
  const ended = new AbortController()
  const end = (): void => ended.abort()
  const timer = setTimeout(end, receiver.limit_ms)
  receiver.signal.addEventListener('abort', end)
  if (receiver.signal.aborted) end()
  try {
    const { statusCode, headers, body } = await receiver.client.request({
      method: 'POST',
      path: receiver.path,
      headers: {
        ...receiver.headers,
        'content-type': 'application/json',
        'content-encoding': 'gzip',
        accept: 'application/json',
        'user-agent': 'agent-access-gateway',
      },
      body: await compress(json),
      signal: ended.signal,
    })
    const text = withoutSecrets(await readText(body), receiver)
    if (statusCode >= 200 && statusCode < 300) return acceptance(text)
    const problem = `the receiver responded with ${statusCode}${excerptOf(text)}`
    return REFUSALS.has(statusCode)
      ? { kind: 'refused', problem }
      : { kind: 'failed', problem, retry_after_ms: retryAfter(headers['retry-after']) }
  } catch (error) {
    const problem = ended.signal.aborted
      ? `no response within ${receiver.limit_ms / 1000} seconds`
      : `${classifyFailure(error)} (${excerpt(messageOf(error))})`
    return { kind: 'failed', problem, retry_after_ms: 0 }
  } finally {
    clearTimeout(timer)
    receiver.signal.removeEventListener('abort', end)
  }
}

async function readText(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = []
  let size_bytes = 0
  for await (const chunk of body) {
    chunks.push(chunk)
    size_bytes += chunk.length
    if (size_bytes >= ANSWER_LIMIT_BYTES) break
  }
  return Buffer.concat(chunks).toString('utf8', 0, ANSWER_LIMIT_BYTES)
}

/** `partialSuccess` names what was dropped. An answer of another form counts as one without. */
function acceptance(text: string): SendOutcome {
  try {
    const { partialSuccess } = JSON.parse(text) as {
      readonly partialSuccess?: { [member: string]: unknown }
    }
    const { rejectedLogRecords, rejectedSpans, errorMessage } = partialSuccess ?? {}
    const rejected = Number(rejectedLogRecords ?? rejectedSpans ?? 0)
    const message = typeof errorMessage === 'string' ? excerpt(errorMessage) : ''
    return {
      kind: 'accepted',
      rejected: Number.isSafeInteger(rejected) ? Math.max(0, rejected) : 0,
      message,
    }
  } catch {
    return { kind: 'accepted', rejected: 0, message: '' }
  }
}

/** Some receivers repeat in an error what they were sent. The query of an address may hold a key. */
function withoutSecrets(text: string, { headers, path }: OtlpReceiver): string {
  const parts = Object.values(headers).flatMap((value) => [value, ...value.split(/\s+/)])
  const secrets = [...parts, ...path.split(/[?&=]/).slice(1)]
  const long = secrets.filter(({ length }) => length >= SECRET_LENGTH_MIN)
  return maskSecrets(long.reduce((shown, secret) => shown.replaceAll(secret, '***'), text))
}

const retryAfter = (value: string | string[] | undefined): number => {
  const seconds = typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : 0
  return Math.min(seconds * 1_000, RETRY_AFTER_MAX_MS)
}

const excerptOf = (text: string): string => (text.trim() === '' ? '' : `: ${excerpt(text)}`)

/** Shown in logs and alerts; a receiver must not be able to control a terminal. */
const excerpt = (text: string): string =>
  text
    .replace(/[\p{C}\u2028\u2029]/gu, ' ')
    .trim()
    .slice(0, EXCERPT_LENGTH)

const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error)
