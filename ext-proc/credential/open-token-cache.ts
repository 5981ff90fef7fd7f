import { fetchToken } from '../../core/token/fetch-token.ts'
import { type EgressSettings, egressOf } from '../../core/token/egress-of.ts'
import { TokenCache } from './token-cache.ts'
import { knownUrl } from '../../core/bounded/parse-url.ts'

/** The token cache of a process. It connects to token endpoints under the same rules as Envoy for calls. */
export function openTokenCache(
  settings: EgressSettings,
  log: { warn(data: object, message: string): void },
): TokenCache {
  const egress = egressOf(settings)
  return new TokenCache({
    fetch: (client, style) => fetchToken(egress, client, style),
    nowMs: () => performance.now(),
    onFailure: ({ organization_id, integration_id, client }, failure) => {
      const token_origin = knownUrl(client.token_url).origin
      log.warn(
        { organization_id, integration_id, token_origin, ...failure },
        'no access token could be fetched for an integration',
      )
    },
  })
}
