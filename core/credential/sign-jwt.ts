import { sign } from 'node:crypto'
import type { Secret } from '../keys/secret.ts'
import { type JwtKey, readPrivateKey } from './private-key.ts'

const HASHES = { RS256: 'sha256', ES256: 'sha256', ES384: 'sha384', EdDSA: null } as const

/** Signs a JWT (RFC 7515), off the event loop. Undefined claims are left out. Rejects if the key cannot be read. */
export async function signJwt(
  private_key: Secret,
  claims: Readonly<Record<string, string | number | undefined>>,
  kid?: string,
): Promise<string> {
  const read: JwtKey | null = readPrivateKey(private_key.reveal())
  if (read === null) throw new Error('the private key cannot be read')
  const { key, alg } = read
  const text = [{ alg, typ: 'JWT', kid }, claims].map(encode).join('.')
  const options = { key, dsaEncoding: 'ieee-p1363' } as const
  const signature = await new Promise<Buffer>((resolve, reject) =>
    sign(HASHES[alg], Buffer.from(text), options, (error, made) =>
      error === null ? resolve(made) : reject(error),
    ),
  )
  return `${text}.${signature.toString('base64url')}`
}

const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url')
