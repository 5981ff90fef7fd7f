import { existsSync, readFileSync } from 'node:fs'
import { rootCertificates } from 'node:tls'

/** Where systems keep their CA bundle; OpenSSL and Go use SSL_CERT_FILE. */
const BUNDLES = [
  '/etc/ssl/certs/ca-certificates.crt', // Debian, Ubuntu, Alpine, Arch
  '/etc/pki/tls/certs/ca-bundle.crt', // Fedora, RHEL
  '/etc/ssl/ca-bundle.pem', // openSUSE
  '/etc/ssl/cert.pem', // macOS, BSD
]

/** The file with the CAs that this system trusts; null if there is none. */
export const systemCaFile = (): string | null =>
  [process.env['SSL_CERT_FILE'] ?? '', ...BUNDLES].find((file) => existsSync(file)) ?? null

/** The CAs that upstream certificates are checked against: the system's, or those bundled with Node, and the operator's. */
export function trustedCas(extraCaFile: string | null): string {
  const file = systemCaFile()
  const system = file === null ? rootCertificates.join('\n') : readFileSync(file, 'utf8')
  return extraCaFile === null ? system : `${system}\n${readFileSync(extraCaFile, 'utf8')}`
}
