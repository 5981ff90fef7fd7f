import { X509Certificate } from 'node:crypto'

/** Of the certificates in one member. */
const CERTIFICATES_LIMIT = 50
export const NOT_CERTIFICATES = 'must be one or more certificates in PEM'

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g

/** Null if the text is anything but certificates with white space, or comments as bundles have them, between them. */
export function certificatesIn(pem: string): readonly X509Certificate[] | null {
  const blocks = pem.match(CERTIFICATE) ?? []
  if (blocks.length === 0 || blocks.length > CERTIFICATES_LIMIT) return null
  if (pem.replace(CERTIFICATE, '').includes('-----BEGIN')) return null
  try {
    return blocks.map((block) => new X509Certificate(block))
  } catch {
    return null
  }
}

/** Why the text is not one or more CAs in PEM; null when it is. */
export function checkAuthorities(pem: string): string | null {
  const cas = certificatesIn(pem)
  if (cas === null) return NOT_CERTIFICATES
  return cas.some(({ ca }) => !ca) ? 'has a certificate that is not of a CA' : null
}
