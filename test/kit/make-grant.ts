import { createHash, randomBytes } from 'node:crypto'
import type { parseKeyRing } from '../../core/keys/seal.ts'
import { Secret } from '../../core/keys/secret.ts'
import { grantOf } from '../../core/oauth/grant.ts'
import { readGrant, swapGrant } from '../../core/oauth/grant-store.ts'
import type { GrantOwner } from '../../core/oauth/refresh-grant.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { sealAuth } from '../../core/store/credential-binding.ts'
import { askToken } from '../../core/token/ask-token.ts'
import type { OidcProvider } from './start-oidc-provider.ts'

export const GRANT_REDIRECT = 'http://127.0.0.1:9/oauth/callback'
export const GRANT_INTEGRATION = { integration_id: 'int_1', base_url: 'https://api.test' } as const
const RESOURCE = 'https://api.test/'

interface Parts {
  readonly provider: OidcProvider
  readonly redis: RedisClient
  readonly ring: ReturnType<typeof parseKeyRing>
  readonly egress: Parameters<typeof askToken>[0]
}

/** A connection to which a user has consented at the provider, in the store with its tokens. */
export async function makeGrant(
  { provider, redis, ring, egress }: Parts,
  organization_id: string,
  more: object = {},
): Promise<GrantOwner> {
  const { issuer, client } = provider
  const plain = {
    ...GRANT_INTEGRATION,
    organization_id,
    connection_id: `con_${randomBytes(6).toString('hex')}`,
    auth: {
      type: 'oauth2_authorization_code' as const,
      authorization_url: `${issuer}/auth`,
      token_url: `${issuer}/token`,
      revocation_url: `${issuer}/token/revocation`,
      ...client,
      ...more,
    },
  }
  const verifier = randomBytes(32).toString('base64url')
  const query = new URLSearchParams({
    client_id: client.client_id,
    response_type: 'code',
    redirect_uri: GRANT_REDIRECT,
    scope: 'openid offline_access read',
    prompt: 'consent',
    resource: RESOURCE,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  })
  const back = await provider.consent(`${issuer}/auth?${query.toString()}`)
  const answer = await askToken(
    egress,
    { ...client, client_secret: new Secret(client.client_secret), token_url: `${issuer}/token` },
    {
      style: 'basic',
      form: new URLSearchParams({
        grant_type: 'authorization_code',
        code: back.searchParams.get('code') ?? '',
        redirect_uri: GRANT_REDIRECT,
        code_verifier: verifier,
      }),
      deadline: AbortSignal.timeout(10_000),
    },
  )
  if (answer.kind !== 'token') throw new Error('the provider gave no tokens')
  const owner: GrantOwner = { ...plain, auth: sealAuth(ring, plain) }
  const connection = { ...owner, name: 'mine', subject: 'shared', status: 'active' }
  const connections = REDIS_KEYS.connections(organization_id)
  await redis.hset(connections, owner.connection_id, JSON.stringify(connection))
  const { now_ms, text } = await readGrant(redis, owner)
  const grant = grantOf(ring, owner, null, { ...answer, style: 'basic', started_ms: now_ms })
  if ((await swapGrant(redis, owner, text, grant)) === null)
    throw new Error('the tokens could not be stored')
  return owner
}
