import { createHash, type KeyObject, randomBytes, sign } from 'node:crypto'
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { der } from './der.ts'
import type { Issuer } from './read-issuer.ts'

export interface CertificateOrder {
  readonly subject: string
  readonly public_key: KeyObject
  /** Null: it signs itself. */
  readonly issuer: Issuer | null
  readonly issuer_key: KeyObject
  readonly not_before_ms: number
  readonly not_after_ms: number
  /** The one DNS name or address of a server; null for a CA. */
  readonly host: string | null
}

/** RFC 5280 allows 20 bytes; these are never negative and never all zero. */
const SERIAL_BYTES = 16
const EC_POINT_BYTES = 65

const ID = {
  commonName: '2.5.4.3',
  subjectKeyId: '2.5.29.14',
  keyUsage: '2.5.29.15',
  alternativeNames: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKeyId: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
  serverAuth: '1.3.6.1.5.5.7.3.1',
} as const

const ECDSA_WITH_SHA256 = der.sequence(der.identifier('1.2.840.10045.4.3.2'))
const RSA_WITH_SHA256 = der.sequence(der.identifier('1.2.840.113549.1.1.11'), der.nothing)

/** keyCertSign and cRLSign; digitalSignature. */
const USAGE_OF_CA = der.bits(Buffer.from([0x06]), 1)
const USAGE_OF_SERVER = der.bits(Buffer.from([0x80]), 7)
/** An issuer that signs no further CA. */
const ENDS_CHAIN = der.sequence(der.boolean(true), der.integer(Buffer.from([0])))

/** An X.509 certificate in PEM, for a P-256 key, signed with SHA-256. */
export function writeCertificate(order: CertificateOrder): string {
  const { subject, public_key, issuer, issuer_key, not_before_ms, not_after_ms } = order
  const key = public_key.export({ type: 'spki', format: 'der' })
  const key_id = createHash('sha1').update(key.subarray(-EC_POINT_BYTES)).digest()
  const own = nameOf(subject)
  const algorithm = issuer_key.asymmetricKeyType === 'rsa' ? RSA_WITH_SHA256 : ECDSA_WITH_SHA256
  const signed = der.sequence(
    der.tagged(0, der.integer(Buffer.from([2])), true),
    der.integer(serialNumber()),
    algorithm,
    issuer?.name ?? own,
    der.sequence(der.time(not_before_ms), der.time(not_after_ms)),
    own,
    key,
    der.tagged(3, der.sequence(...extensionsOf(order, key_id, issuer?.key_id ?? key_id)), true),
  )
  const signature = der.bits(sign('sha256', signed, issuer_key))
  const text = der.sequence(signed, algorithm, signature).toString('base64')
  return `-----BEGIN CERTIFICATE-----\n${text.replace(/.{64}(?=.)/g, '$&\n')}\n-----END CERTIFICATE-----\n`
}

function extensionsOf(
  { host }: CertificateOrder,
  key_id: Buffer,
  issuer_key_id: Buffer,
): readonly Buffer[] {
  const common = [
    extension(ID.subjectKeyId, false, der.octets(key_id)),
    extension(ID.authorityKeyId, false, der.sequence(der.tagged(0, issuer_key_id, false))),
  ]
  if (host === null)
    return [
      extension(ID.basicConstraints, true, ENDS_CHAIN),
      extension(ID.keyUsage, true, USAGE_OF_CA),
      ...common,
    ]
  const name = isIP(host)
    ? der.tagged(7, Buffer.from(ipaddr.parse(host).toByteArray()), false)
    : der.tagged(2, Buffer.from(host, 'ascii'), false)
  return [
    extension(ID.basicConstraints, true, der.sequence()),
    extension(ID.keyUsage, true, USAGE_OF_SERVER),
    ...common,
    extension(ID.extendedKeyUsage, false, der.sequence(der.identifier(ID.serverAuth))),
    extension(ID.alternativeNames, false, der.sequence(name)),
  ]
}

const extension = (id: string, is_critical: boolean, value: Buffer): Buffer =>
  der.sequence(der.identifier(id), ...(is_critical ? [der.boolean(true)] : []), der.octets(value))

const nameOf = (common_name: string): Buffer =>
  der.sequence(der.set(der.sequence(der.identifier(ID.commonName), der.text(common_name))))

function serialNumber(): Buffer {
  const bytes = randomBytes(SERIAL_BYTES)
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40
  return bytes
}
