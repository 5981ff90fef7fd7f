import { Client, type Dispatcher, type buildConnector } from 'undici'
import type { AttemptOutcome } from './attempt-outcome.ts'
import { maskSecrets } from '../../core/masking/mask-secrets.ts'
import { classifyFailure } from '../../core/egress/classify-failure.ts'
import { hideUrlParts } from './hide-webhook-url.ts'
import { knownUrl } from '../../core/bounded/parse-url.ts'

/** The time limit of an attempt. */
export const ATTEMPT_LIMIT_MS = 10_000
const HEADERS_LIMIT_BYTES = 16_384
/** Bytes of a response body that are read; for a longer one only the status counts, and the connection is closed. */
const BODY_LIMIT_BYTES = 65_536
const EXCERPT_LIMIT_BYTES = 512
/** Sent with every delivery, in addition to those of `signDelivery`. */
export const DELIVERY_HEADERS = {
  'user-agent': 'agent-access-gateway',
  'accept-encoding': 'identity',
} as const

export interface Sender {
  readonly connect: buildConnector.connector
  /** For a webhook that trusts CAs of its own, in PEM, and no others. */
  readonly connectTrusting: (ca_certificates: string) => buildConnector.connector
  readonly limit_ms: number
}

/**
 * One attempt: a POST on a connection of its own, so that nothing is shared between receivers and no connection is
 * found dead. Success is a 2xx whose body has ended, or has grown beyond what is waited for, within the limit.
 * Nothing is decompressed; no redirect is followed. Never throws.
 */
export async function sendDelivery(
  sender: Sender,
  request: {
    readonly url: string
    readonly headers: Record<string, string>
    readonly body: Buffer
    readonly ca_certificates: string | null
  },
): Promise<Omit<AttemptOutcome, 'sent'>> {
  const started_ms = performance.now()
  const deadline = AbortSignal.timeout(sender.limit_ms)
  const { origin, pathname, search } = knownUrl(request.url)
  const client = new Client(origin, {
    connect:
      request.ca_certificates === null
        ? sender.connect
        : sender.connectTrusting(request.ca_certificates),
    maxHeaderSize: HEADERS_LIMIT_BYTES,
    headersTimeout: 0,
    bodyTimeout: 0,
    pipelining: 1,
  })
  const duration_ms = (): number => Math.round(performance.now() - started_ms)
  let status: number | null = null
  try {
    const answer = await client.request({
      method: 'POST',
      path: pathname + search,
      headers: { ...DELIVERY_HEADERS, ...request.headers },
      body: request.body,
      signal: deadline,
      reset: true,
    })
    status = answer.statusCode
    const excerpt = await readExcerpt(answer)
    const response_excerpt =
      excerpt === null ? null : maskSecrets(hideUrlParts(excerpt, request.url))
    const is_success = status >= 200 && status < 300
    const failure = status >= 300 && status < 400 ? 'redirect_refused' : 'http_status'
    const error = is_success ? null : failure
    return { is_success, status, error, duration_ms: duration_ms(), response_excerpt }
  } catch (failure) {
    const error = deadline.aborted ? 'timeout' : classifyFailure(failure)
    return { is_success: false, status, error, duration_ms: duration_ms(), response_excerpt: null }
  } finally {
    // Not awaited: a socket may close slowly, and nothing depends on it.
    client.destroy().catch(() => undefined)
  }
}

async function readExcerpt({ headers, body }: Dispatcher.ResponseData): Promise<string | null> {
  const start: Buffer[] = []
  let size_bytes = 0
  for await (const chunk of body as AsyncIterable<Buffer>) {
    if (size_bytes < EXCERPT_LIMIT_BYTES) start.push(chunk)
    size_bytes += chunk.length
    if (size_bytes >= BODY_LIMIT_BYTES) break
  }
  if (size_bytes === 0) return null
  const encoding = headers['content-encoding']
  if (encoding !== undefined && encoding !== 'identity') return null
  return showText(Buffer.concat(start).subarray(0, EXCERPT_LIMIT_BYTES))
}

/** Text for people: unprintable characters are replaced, so that they cannot control a terminal. */
const showText = (bytes: Buffer): string =>
  bytes.toString('utf8').replace(/[^\P{C}\n\t]|[\u2028\u2029]/gu, '\uFFFD')
