import { type Integration, UPSTREAM_DEFAULTS } from '../../core/catalogue/model.ts'
import type { Header } from '../../core/request/header.ts'
import type { Retry } from './retry-of.ts'

/** What the two routes of envoy/bootstrap.yaml say for each kind, in Envoy's words. */
const RETRY_ON: Readonly<Record<Retry, string>> = {
  reset: 'connect-failure,refused-stream,reset',
  unsent: 'connect-failure,refused-stream,reset-before-request',
}
const USUAL_RETRIES = 1

/**
 * How Envoy is to reach the API: the cluster, the response time-out and the retries. A time-out that covers the whole response
 * would cut event streams; the one per attempt ends with the headers of the response.
 * @param cluster that of the integration's own; null for the shared one
 */
export function connectionHeaders(
  { upstream = UPSTREAM_DEFAULTS }: Pick<Integration, 'upstream'>,
  cluster: string | null,
  retry: Retry | null,
): readonly Header[] {
  const { response_timeout_ms, retries } = upstream
  const headers: Header[] = []
  if (response_timeout_ms !== null)
    headers.push({
      name: 'x-envoy-upstream-rq-per-try-timeout-ms',
      value: String(response_timeout_ms),
    })
  if (cluster !== null) headers.push({ name: 'x-agw-cluster', value: cluster })
  if (retry === null || retries === 0) return headers
  if (cluster === null) headers.push({ name: 'x-agw-retry', value: retry })
  else headers.push({ name: 'x-envoy-retry-on', value: RETRY_ON[retry] })
  const count = retries ?? USUAL_RETRIES
  if (cluster !== null || count !== USUAL_RETRIES)
    headers.push({ name: 'x-envoy-max-retries', value: String(count) })
  return headers
}
