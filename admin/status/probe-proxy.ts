import { request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import type { Settings } from '../../core/settings/settings.ts'
import { urlOf } from '../../core/system/url-of.ts'
import { knownUrl } from '../../core/bounded/parse-url.ts'

const PROBE_TIMEOUT_MS = 1500

type Place = Pick<Settings, 'proxyHost' | 'proxyPort' | 'tlsCertFile' | 'proxyProbeUrl'>

/**
 * Requests `/` from the proxy, or the path of AGW_PROXY_PROBE_URL, which is not a target URL: only ext-proc answers it with this
 * reason, so it checks listener and processor at once. Null if both work, else the problem.
 */
export function probeProxy(place: Place): Promise<string | null> {
  const url = probeUrl(place)
  const options = { agent: false, timeout: PROBE_TIMEOUT_MS }
  return new Promise((resolve) => {
    // The probe contains no secret, and the certificate has the proxy's public name, not the address used here.
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

function probeUrl({ proxyHost, proxyPort, tlsCertFile, proxyProbeUrl }: Place): URL {
  if (proxyProbeUrl !== null) return knownUrl(proxyProbeUrl)
  return knownUrl(urlOf(tlsCertFile === null ? 'http' : 'https', proxyHost, proxyPort))
}
