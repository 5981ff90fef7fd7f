import { randomBytes } from 'node:crypto'
import { knownUrl } from '../bounded/parse-url.ts'
import { type KeyRing, reseal, type SealBinding, seal, unseal } from '../keys/seal.ts'
import type { Secret } from '../keys/secret.ts'
import { REDIS_KEYS } from '../redis/redis-keys.ts'
import { type RedisClient, runScript } from '../redis/run-script.ts'
import type { ClientStyle } from './ask-token.ts'

/** For whom a token was minted: one agent alone, so that a kill of this agent can revoke it. */
export interface MintedFor {
  readonly organization_id: string
  readonly agent_id: string
}

/** Where and with what a token is revoked. */
export interface MintedRevocation {
  readonly url: string
  /** Sealed. */
  readonly token: string
  readonly style: ClientStyle
  readonly hint: 'access_token' | 'refresh_token'
}

/** A token of one agent alone, as it is stored until it ends. */
export interface KeptToken {
  /** Of the credential. */
  readonly type: string
  readonly integration_id: string
  readonly connection_id: string | null
  /** Null if the provider cannot revoke it; then the token itself is not stored. */
  readonly revocation: MintedRevocation | null
}

/** A stored token, with the times of the store. */
export interface StoredMint {
  /** Its field in the hash of the agent. */
  readonly field: string
  readonly expires_ms: number
  readonly minted_ms: number
  readonly token: KeptToken
}

/** Tokens kept for one agent; of more, those that end first are forgotten. Each edge process mints its own, once an hour. */
export const MINTED_MAX = 200
/** Longer than any token that is kept. */
export const MINTED_KEPT_MS = 90_000_000

const bindingOf = ({ organization_id, agent_id }: MintedFor, url: string): SealBinding => ({
  stored_as: 'minted_token',
  organization_id,
  owner_id: agent_id,
  kind: 'minted.token',
  origin: knownUrl(url).origin,
})

export const sealMinted = (
  ring: KeyRing,
  of: MintedFor,
  { token, ...where }: Omit<MintedRevocation, 'token'> & { readonly token: Secret },
): MintedRevocation => ({ ...where, token: seal(ring, token.reveal(), bindingOf(of, where.url)) })

export const openMinted = (ring: KeyRing, of: MintedFor, { url, token }: MintedRevocation) =>
  unseal(ring, token, bindingOf(of, url))

/** Null if it does not open. */
export function resealMinted(ring: KeyRing, of: MintedFor, minted: KeptToken): string | null {
  const { revocation } = minted
  if (revocation === null) return JSON.stringify(minted)
  const token = reseal(ring, revocation.token, bindingOf(of, revocation.url))
  return token === null ? null : JSON.stringify({ ...minted, revocation: { ...revocation, token } })
}

export const mintedField = (expires_ms: number, minted_ms: number): string =>
  `${Math.ceil(expires_ms)} ${Math.ceil(minted_ms)} ${randomBytes(9).toString('base64url')}`

/**
 * Keeps a token before it is used.
 * @throws if the store is unavailable
 */
export async function keepMinted(
  redis: RedisClient,
  { organization_id, agent_id }: MintedFor,
  token: KeptToken,
  lifetime_s: number,
): Promise<void> {
  await runScript(
    redis,
    'keep-minted',
    [REDIS_KEYS.mintedTokens(organization_id, agent_id)],
    [
      Math.ceil(lifetime_s * 1000),
      randomBytes(9).toString('base64url'),
      JSON.stringify(token),
      MINTED_MAX,
      MINTED_KEPT_MS,
    ],
  )
}

/** @throws if the store is unavailable */
export async function readMinted(
  redis: RedisClient,
  { organization_id, agent_id }: MintedFor,
): Promise<StoredMint[]> {
  const found = await redis.hgetall(REDIS_KEYS.mintedTokens(organization_id, agent_id))
  return Object.entries(found).map(([field, text]) => {
    const [expires_ms, minted_ms] = field.split(' ').map(Number)
    return {
      field,
      expires_ms: expires_ms ?? 0,
      minted_ms: minted_ms ?? 0,
      token: JSON.parse(text) as KeptToken,
    }
  })
}
