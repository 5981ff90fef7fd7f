/** `unsupported`: the provider has no endpoint for it, so the credential lives until it ends by itself. */
export const REVOCATION_RESULTS = ['revoked', 'failed', 'unsupported'] as const
export type RevocationResult = (typeof REVOCATION_RESULTS)[number]

/** What became of one credential of a killed agent at its provider. */
export interface RevokedCredential {
  readonly integration_id: string
  /** Null: the credential of the integration itself, of which the agent had tokens of its own. */
  readonly connection_id: string | null
  readonly type: string
  /** Tokens by what became of each; a static credential counts as one. */
  readonly tokens: Readonly<Record<RevocationResult, number>>
  /** When the last one that is not revoked ends by itself; null if it never does, or none is left. */
  readonly expires_at: string | null
}

/** Beside the receipt of a kill. */
export interface Revocations {
  /** Attempts that were made. */
  readonly attempts: number
  /** Null while one more is to come. */
  readonly completed_at: string | null
  readonly credentials: readonly RevokedCredential[]
}

export const resultOf = ({ tokens }: Pick<RevokedCredential, 'tokens'>): RevocationResult =>
  tokens.failed > 0 ? 'failed' : tokens.revoked > 0 ? 'revoked' : 'unsupported'

/** Rows on a receipt; those that failed come first. */
export const REVOCATION_ROWS_MAX = 200
