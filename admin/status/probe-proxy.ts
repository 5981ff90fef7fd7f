import { request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { setTimeout as wait } from 'node:timers/promises'
import { issueProbePass, PROBE_HEADER } from '../../core/control/probe-pass.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import type { Settings } from '../../core/settings/settings.ts'
import { urlOf } from '../../core/system/url-of.ts'
import { knownUrl } from '../../core/bounded/parse-url.ts'

const PROBE_TIMEOUT_MS = 1500

/** What is reported instead while the store, which would know the probe, is unavailable. */
export const NOT_PROBED = 'not probed: the store is unavailable'

export type ProbedPlace = Pick<
  Settings,
  'proxyHost' | 'proxyPort' | 'tlsCertFile' | 'proxyProbeUrl'
>

/**
 * Requests `/` from the proxy, or the path of AGW_PROXY_PROBE_URL, which is not a target URL: only ext-proc answers it with this
 * reason, so it checks listener and processor at once. Null if both work, else the problem. Given a store, a probe is sent only with a
 * pass of it, so that it is neither logged nor counted.
 */
export async function probeProxy(
  place: ProbedPlace,
  redis: RedisClient | null,
): Promise<string | null> {
  const url = probedUrl(place)
  const pass =
    redis === null
      ? null
      : await Promise.race([issueProbePass(redis), wait(PROBE_TIMEOUT_MS, null, { ref: false })])
  if (redis !== null && pass === null) return NOT_PROBED
  const headers = pass === null ? {} : { [PROBE_HEADER]: pass }
  const options = { agent: false, timeout: PROBE_TIMEOUT_MS, headers }
  return await new Promise((resolve) => {
    // The secret of a probe opens nothing, and the certificate has the proxy's public name, not the address used here.
    const request =
      url.protocol === 'http:'
        ? requestHttp(url, options)
        : requestHttps(url, { ...options, rejectUnauthorized: false })
    request.once('response', (response) => {
      response.resume()
      const reason = response.headers['x-agw-reason']
      resolve(
        reason === 'invalid_target_url'
          ? null
          : `the proxy responded with ${response.statusCode} ${String(reason ?? '')}`.trim(),
      )
    })
    request.once('timeout', () => request.destroy(new Error('timed out')))
    request.once('error', (error) => resolve(`the proxy is unreachable: ${error.message}`))
    request.end()
  })
}

export function probedUrl({ proxyHost, proxyPort, tlsCertFile, proxyProbeUrl }: ProbedPlace): URL {
  if (proxyProbeUrl !== null) return knownUrl(proxyProbeUrl)
  return knownUrl(urlOf(tlsCertFile === null ? 'http' : 'https', proxyHost, proxyPort))
}
