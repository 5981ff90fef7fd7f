import { buildConnector, Client } from 'undici'
import type { OtlpReceiver } from './send-otlp.ts'
import { knownUrl } from '../bounded/parse-url.ts'
import type { EgressProxy } from '../egress/egress-proxy.ts'
import { tunnelConnector } from '../egress/open-tunnel.ts'

/** The receiver at the address of an OTLP/HTTP endpoint. */
export function otlpReceiver(
  url: string,
  headers: OtlpReceiver['headers'],
  limit_ms: number,
  signal: AbortSignal,
  proxy: EgressProxy | null,
): OtlpReceiver {
  const { origin, pathname, search } = knownUrl(url)
  const direct = buildConnector({ timeout: limit_ms })
  const connect = proxy === null ? direct : tunnelConnector(proxy, direct, limit_ms)
  const client = new Client(origin, { connect })
  return { client, path: pathname + search, headers, limit_ms, signal }
}
