import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { rootCertificates } from 'node:tls'

/** Where systems keep their bundle; SSL_CERT_FILE is what OpenSSL and Go honour. */
const BUNDLES = [
  '/etc/ssl/certs/ca-certificates.crt', // Debian, Ubuntu, Alpine, Arch
  '/etc/pki/tls/certs/ca-bundle.crt', // Fedora, RHEL
  '/etc/ssl/ca-bundle.pem', // openSUSE
  '/etc/ssl/cert.pem', // macOS, BSD
]

/** The system's bundle, or a file in `folder` with the certificates that Node carries where there is none. */
export function systemCaFile(folder: string): string {
  const found = [process.env['SSL_CERT_FILE'] ?? '', ...BUNDLES].find((file) => existsSync(file))
  return found ?? write(folder, rootCertificates.join('\n'))
}

/** The system's CAs and the operator's in one file, since Envoy takes one. */
export function trustedCaFile(folder: string, extraCaFile: string | null): string {
  const system = systemCaFile(folder)
  if (extraCaFile === null) return system
  return write(folder, `${readFileSync(system, 'utf8')}\n${readFileSync(extraCaFile, 'utf8')}`)
}

function write(folder: string, bundle: string): string {
  const file = join(folder, 'trusted-ca.pem')
  writeFileSync(file, `${bundle}\n`, { mode: 0o600 })
  return file
}
