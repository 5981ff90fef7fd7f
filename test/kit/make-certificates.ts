import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { issueCertificate } from './issue-certificate.ts'
import { tempFolder } from './temp-folder.ts'

const run = promisify(execFile)

export interface Certificates {
  readonly ca_file: string
  readonly ca_key_file: string
  readonly ca: string
  readonly key: string
  readonly cert: string
  readonly key_file: string
  readonly cert_file: string
}

/** A CA of its own, and a server certificate of it for the names; two days are longer than any test run. */
export async function makeCertificates(names: readonly string[]): Promise<Certificates> {
  const folder = tempFolder('ca')
  const ca = { ca_file: join(folder, 'ca.pem'), ca_key_file: join(folder, 'ca.key') }
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  // Of two CAs with one name, a client that trusts both would take the first.
  const asCa = ['-x509', '-days', '2', '-subj', `/CN=Stand-in ${basename(folder)}`]
  const files = ['-keyout', ca.ca_key_file, '-out', ca.ca_file]
  await run('openssl', ['req', ...newKey, ...asCa, ...files])
  const { cert_file, key_file } = await issueCertificate(ca, names)
  return {
    ...ca,
    ca: readFileSync(ca.ca_file, 'utf8'),
    key: readFileSync(key_file, 'utf8'),
    cert: readFileSync(cert_file, 'utf8'),
    key_file,
    cert_file,
  }
}
