import { createPrivateKey, type KeyObject } from 'node:crypto'

/** A larger RSA key takes more than some 10 ms to sign with. */
const RSA_BITS_MAX = 4096
const RSA_BITS_MIN = 2048
const PEM = /^-----BEGIN ((?:RSA |EC )?PRIVATE KEY)-----([A-Za-z0-9+/=\s]+)-----END \1-----$/
const LINE = /.{1,64}/g

/** How a key signs a JWT (RFC 7518 §3.1, RFC 8037). */
export interface JwtKey {
  readonly key: KeyObject
  readonly alg: 'RS256' | 'ES256' | 'ES384' | 'EdDSA'
}

const CURVES: Readonly<Record<string, JwtKey['alg']>> = { prime256v1: 'ES256', secp384r1: 'ES384' }

/**
 * Reads a private key in PEM, without a passphrase. Line breaks may be missing, as in a form, or be written `\n`, as in an
 * environment variable. Null if it is no RSA key of 2048 to 4096 bits and no key on P-256, P-384 or Ed25519.
 */
export function readPrivateKey(text: string): JwtKey | null {
  const [, kind = '', body = ''] = PEM.exec(text.replaceAll('\\n', '\n').trim()) ?? []
  const lines = body.replaceAll(/\s+/g, '').match(LINE) ?? []
  const pem = [`-----BEGIN ${kind}-----`, ...lines, `-----END ${kind}-----`].join('\n')
  try {
    const key = createPrivateKey(pem)
    const alg = algorithmOf(key)
    return alg === null ? null : { key, alg }
  } catch {
    return null
  }
}

function algorithmOf({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): JwtKey['alg'] | null {
  const { modulusLength = 0, namedCurve = '' } = asymmetricKeyDetails ?? {}
  if (asymmetricKeyType === 'rsa')
    return modulusLength >= RSA_BITS_MIN && modulusLength <= RSA_BITS_MAX ? 'RS256' : null
  if (asymmetricKeyType === 'ed25519') return 'EdDSA'
  return asymmetricKeyType === 'ec' ? (CURVES[namedCurve] ?? null) : null
}
