import { randomUUID } from 'node:crypto'
import { type KeyRing, type SealBinding, seal, unseal } from '../keys/seal.ts'

/** For whom an operator is asked to give a credential. */
export interface ConnectRequest {
  readonly organization_id: string
  readonly integration_id: string
  readonly agent_id: string
  /** Null: for the agent itself. */
  readonly user: string | null
  /** The connection that cannot be used; null if there is none. */
  readonly connection_id: string | null
}

/** What an edge has sealed: it needs no store, and a flood of refused calls writes nothing. */
export interface ConnectToken extends ConnectRequest {
  readonly nonce: string
  readonly ends_ms: number
}

export const CONNECT_TOKEN_MS = 10 * 60_000
/** A token of the longest ids and the longest user has about 1,500 characters. */
export const CONNECT_TOKEN_LENGTH_MAX = 4096

const BINDING: SealBinding = {
  stored_as: null,
  organization_id: '',
  owner_id: '',
  kind: 'connect.token',
  origin: '',
}

export const sealConnectToken = (ring: KeyRing, request: ConnectRequest, now_ms: number): string =>
  seal(
    ring,
    JSON.stringify({ ...request, nonce: randomUUID(), ends_ms: now_ms + CONNECT_TOKEN_MS }),
    BINDING,
  )

/** Null if it is none of this deployment, or has ended. */
export function openConnectToken(ring: KeyRing, text: string, now_ms: number): ConnectToken | null {
  const opened = unseal(ring, text, BINDING)
  if (opened === null) return null
  const token = JSON.parse(opened.reveal()) as ConnectToken
  const left_ms = token.ends_ms - now_ms
  // A clock that stepped back makes none last longer.
  return left_ms > 0 && left_ms <= CONNECT_TOKEN_MS ? token : null
}
