/** As long as AGW_ADMIN_TOKEN may be. */
const TOKEN_LENGTH_LIMIT = 512
const BEARER = /^bearer +([\x21-\x7e]+)$/i

/** The token of an Authorization header; null when there is none that could be a token. */
export function readBearer(authorization: string | undefined): string | null {
  const token = BEARER.exec(authorization?.trim() ?? '')?.[1] ?? null
  return token === null || token.length > TOKEN_LENGTH_LIMIT ? null : token
}
