import { accessToken } from '../../core/oauth/access-token.ts'
import type { RefreshParts } from '../../core/oauth/refresh-grant.ts'
import type { Settings } from '../../core/settings/settings.ts'
import { fetchToken } from '../../core/token/fetch-token.ts'
import { type EgressSettings, egressOf } from '../../core/token/egress-of.ts'
import { TokenCache } from './token-cache.ts'
import { knownUrl } from '../../core/bounded/parse-url.ts'

/** The token cache of a process. It connects to token endpoints under the same rules as Envoy for calls. */
export function openTokenCache(
  settings: EgressSettings & Pick<Settings, 'killLease_ms'>,
  store: Pick<RefreshParts, 'redis' | 'ring'>,
  log: { warn(data: object, message: string): void },
): TokenCache {
  const egress = egressOf(settings)
  const parts = { ...store, egress, lease_ms: settings.killLease_ms }
  return new TokenCache({
    fetch: async (client, style, rejected) =>
      'grant' in client
        ? { answer: await accessToken(parts, client.grant, rejected), style }
        : await fetchToken(egress, client, style),
    nowMs: () => performance.now(),
    onFailure: ({ organization_id, integration_id, client }, failure) => {
      const from =
        'grant' in client
          ? { connection_id: client.grant.connection_id }
          : { token_origin: knownUrl(client.token_url).origin }
      log.warn(
        { organization_id, integration_id, ...from, ...failure },
        'no access token could be fetched for an integration',
      )
    },
  })
}
