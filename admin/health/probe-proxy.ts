import { request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import type { Settings } from '../../core/settings.ts'

const PROBE_TIMEOUT_MS = 1500

/**
 * Requests `/` from the proxy, which is not a target URL: only ext-proc answers it with this reason, so it
 * checks listener and processor at once. Null if both work, else the problem.
 */
export function probeProxy(
  settings: Pick<Settings, 'proxyHost' | 'proxyPort' | 'tlsCertFile'>,
): Promise<string | null> {
  const { proxyHost, proxyPort, tlsCertFile } = settings
  const host = { '0.0.0.0': '127.0.0.1', '::': '::1' }[proxyHost] ?? proxyHost
  const options = { host, port: proxyPort, path: '/', agent: false, timeout: PROBE_TIMEOUT_MS }
  return new Promise((resolve) => {
    // The probe contains no secret, and the certificate has the proxy's public name, not the address used here.
    const request =
      tlsCertFile === null
        ? requestHttp(options)
        : requestHttps({ ...options, rejectUnauthorized: false })
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
