import { Client } from 'undici'
import type { OtlpReceiver } from './send-otlp.ts'
import { knownUrl } from '../bounded/parse-url.ts'

/** The receiver at the address of an OTLP/HTTP endpoint. */
export function otlpReceiver(
  url: string,
  headers: OtlpReceiver['headers'],
  limit_ms: number,
  signal: AbortSignal,
): OtlpReceiver {
  const { origin, pathname, search } = knownUrl(url)
  const client = new Client(origin, { connect: { timeout: limit_ms } })
  return { client, path: pathname + search, headers, limit_ms, signal }
}
