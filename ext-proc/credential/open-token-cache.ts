import { accessToken } from '../../core/oauth/access-token.ts'
import type { RefreshParts } from '../../core/oauth/refresh-grant.ts'
import type { Settings } from '../../core/settings/settings.ts'
import type { TokenClient } from '../../core/credential/token-client.ts'
import { tokenFailure } from '../../core/token/credential-cause.ts'
import { type FetchOutcome, fetchToken } from '../../core/token/fetch-token.ts'
import { type EgressSettings, egressOf } from '../../core/token/egress-of.ts'
import { keepMinted, sealMinted } from '../../core/token/minted-token.ts'
import { TokenCache, type TokenOrder } from './token-cache.ts'
import { knownUrl } from '../../core/bounded/parse-url.ts'

/** The token cache of a process. It connects to token endpoints under the same rules as Envoy for calls. */
export function openTokenCache(
  settings: EgressSettings & Pick<Settings, 'killLease_ms'>,
  store: Pick<RefreshParts, 'redis' | 'ring' | 'references'>,
  log: { warn(data: object, message: string): void },
): TokenCache {
  const egress = egressOf(settings)
  const parts = { ...store, egress, lease_ms: settings.killLease_ms }
  return new TokenCache({
    fetch: async (order, style, rejected) => {
      const { client } = order
      return 'grant' in client
        ? { answer: await accessToken(parts, client.grant, rejected), style }
        : await keepOwn(store, order, client, await fetchToken(egress, client, style))
    },
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

/** A token of one agent alone is kept before it is used, so that a kill of the agent can revoke it. */
async function keepOwn(
  { redis, ring }: Pick<RefreshParts, 'redis' | 'ring'>,
  { organization_id, integration_id, connection_id, agent_id, type }: TokenOrder,
  { revocation_url: url }: TokenClient,
  outcome: FetchOutcome,
): Promise<FetchOutcome> {
  const { answer, style } = outcome
  if (agent_id === null || answer.kind === 'failed') return outcome
  const of = { organization_id, agent_id }
  const { token, lifetime_s } = answer
  const revocation =
    url === null ? null : sealMinted(ring, of, { url, token, style, hint: 'access_token' })
  const minted = { type, integration_id, connection_id, revocation }
  try {
    await keepMinted(redis, of, minted, lifetime_s)
    return outcome
  } catch {
    return { answer: { kind: 'failed', failure: tokenFailure('store_unavailable') }, style }
  }
}
