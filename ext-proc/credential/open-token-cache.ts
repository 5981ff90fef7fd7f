import { AddressPolicy } from '../../core/egress/address-policy.ts'
import { egressProxyOf, type EgressProxySettings } from '../../core/egress/egress-proxy.ts'
import { createHostResolver } from '../../core/egress/resolve-host.ts'
import type { Settings } from '../../core/settings/settings.ts'
import { fetchToken } from './fetch-token.ts'
import type { Egress } from './post-form.ts'
import { TokenCache } from './token-cache.ts'
import { knownUrl } from '../../core/bounded/parse-url.ts'

/** The token cache of a process. It connects to token endpoints under the same rules as Envoy for calls. */
export function openTokenCache(
  settings: Pick<Settings, 'egressAllowCidrs' | 'dnsResolvers' | 'upstreamCaFile'> &
    EgressProxySettings,
  log: { warn(data: object, message: string): void },
): TokenCache {
  const egress: Egress = {
    policy: new AddressPolicy(settings.egressAllowCidrs),
    resolve: createHostResolver(settings.dnsResolvers),
    extra_ca_file: settings.upstreamCaFile,
    proxy: egressProxyOf(settings),
  }
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
