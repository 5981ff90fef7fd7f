import { createHash, generateKeyPairSync } from 'node:crypto'
import { writeCertificate } from './write-certificate.ts'

/** The certificate and the private key of a CA, in PEM. */
export interface AuthorityFiles {
  readonly certificate: string
  readonly key: string
}

const DAY_MS = 86_400_000
/** Clocks of agents may be behind. */
const BACKDATED_MS = 3_600_000
const VALID_DAYS = 3_650

/** A CA that signs the certificates of the forward proxy, and no further CA. */
export function makeAuthority(now_ms: number): AuthorityFiles {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  // Two CAs of the same name could be mistaken for each other in a trust store.
  const spki = publicKey.export({ type: 'spki', format: 'der' })
  const mark = createHash('sha256').update(spki).digest('hex').slice(0, 8)
  const certificate = writeCertificate({
    subject: `Agent Access Gateway CA ${mark}`,
    public_key: publicKey,
    issuer: null,
    issuer_key: privateKey,
    not_before_ms: now_ms - BACKDATED_MS,
    not_after_ms: now_ms + VALID_DAYS * DAY_MS,
    host: null,
  })
  return { certificate, key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() }
}
