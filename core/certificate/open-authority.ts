import { createPrivateKey, generateKeyPairSync, type KeyObject, X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import { type AuthorityFiles } from './make-authority.ts'
import { type Issuer, readIssuer } from './read-issuer.ts'
import { writeCertificate } from './write-certificate.ts'

export interface IssuedCertificate {
  /** The certificate of the host, and those between it and the root. */
  readonly chain: string
  readonly key: string
  readonly not_after_ms: number
}

export interface Authority {
  /** The certificates that clients must trust, in PEM. */
  readonly certificate: string
  /** SHA-256 of the one that issues, in hex. */
  readonly fingerprint: string
  /** @throws when the name is not a DNS name in lower case */
  readonly issue: (host: string, now_ms: number) => IssuedCertificate
}

const DAY_MS = 86_400_000
const VALID_MS = 7 * DAY_MS
/** Clocks of agents may be behind. It counts against the seven days. */
const BACKDATED_MS = 3_600_000
/** The longest common name (RFC 5280, upper bounds). Clients read the alternative name. */
const COMMON_NAME_MAX = 64

const PEM = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----\n?/g
const LABEL = '[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?'
const DNS_NAME = new RegExp(`^(?=.{1,253}$)${LABEL}(?:\\.${LABEL})*$`)

/**
 * Opens a CA: the first certificate of the text is that of the key; others lead to the root.
 * @throws with a message for the operator when it cannot issue certificates
 */
export function openAuthority({ certificate, key }: AuthorityFiles): Authority {
  const [own, ...others] = (certificate.match(PEM) ?? []).map((text) => parsed(text))
  if (own === undefined) throw new Error('the CA file has no certificate in PEM')
  if (!own.ca) throw new Error('the certificate in the CA file is not that of a CA')
  const issuer_key = privateKey(key)
  if (!own.checkPrivateKey(issuer_key))
    throw new Error('the private key is not that of the first certificate in the CA file')
  const type = issuer_key.asymmetricKeyType
  if (type !== 'ec' && type !== 'rsa') throw new Error('the key of the CA must be EC or RSA')
  const issuer = readIssuer(own.raw)
  const chain = [own, ...others].filter((one) => one.subject !== one.issuer)
  const sent = chain.map(String).join('')
  const ends_ms = Date.parse(own.validTo)
  return {
    certificate: [own, ...others].map(String).join(''),
    fingerprint: hexFingerprint(own),
    issue: (host, now_ms) => issue(host, now_ms, { issuer, issuer_key, sent, ends_ms }),
  }
}

interface Opened {
  readonly issuer: Issuer
  readonly issuer_key: KeyObject
  readonly sent: string
  readonly ends_ms: number
}

function issue(
  host: string,
  now_ms: number,
  { issuer, issuer_key, sent, ends_ms }: Opened,
): IssuedCertificate {
  if (isIP(host) > 0 || !DNS_NAME.test(host)) throw new Error('not a DNS name in lower case')
  const { publicKey, privateKey: key } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const not_before_ms = now_ms - BACKDATED_MS
  const not_after_ms = Math.min(not_before_ms + VALID_MS, ends_ms)
  const certificate = writeCertificate({
    subject: host.length <= COMMON_NAME_MAX ? host : 'Agent Access Gateway',
    public_key: publicKey,
    issuer,
    issuer_key,
    not_before_ms,
    not_after_ms,
    host,
  })
  return {
    chain: `${certificate}${sent}`,
    key: key.export({ type: 'pkcs8', format: 'pem' }).toString(),
    not_after_ms,
  }
}

/** The form of `openssl x509 -fingerprint -sha256` without colons, in lower case. */
export const hexFingerprint = ({ fingerprint256 }: X509Certificate): string =>
  fingerprint256.replaceAll(':', '').toLowerCase()

function parsed(text: string): X509Certificate {
  try {
    return new X509Certificate(text)
  } catch {
    throw new Error('the CA file has a certificate that cannot be parsed')
  }
}

function privateKey(text: string): KeyObject {
  try {
    return createPrivateKey(text)
  } catch {
    throw new Error('the private key of the CA cannot be read; it must be unencrypted PEM')
  }
}
