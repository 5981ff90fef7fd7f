import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { tempFolder } from './temp-folder.ts'

const run = promisify(execFile)
const openssl = (args: readonly string[]) => run('openssl', args)

/** A certificate for the names by a CA, the key of which is in the same folder; two days are longer than any test run. */
export async function issueCertificate(
  ca: { readonly ca_file: string; readonly ca_key_file: string },
  names: readonly string[],
): Promise<{ readonly cert_file: string; readonly key_file: string }> {
  const folder = tempFolder('certificate')
  const at = (name: string): string => join(folder, name)
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  const request = ['-subj', '/CN=Stand-in', '-keyout', at('key.pem'), '-out', at('request.pem')]
  await openssl(['req', '-new', ...newKey, ...request])
  const alternatives = names.map((name) => `${isIP(name) === 0 ? 'DNS' : 'IP'}:${name}`)
  writeFileSync(at('san.txt'), `subjectAltName=${alternatives.join(',')}\n`)
  const by = ['-CA', ca.ca_file, '-CAkey', ca.ca_key_file, '-CAcreateserial', '-days', '2']
  const files = ['-in', at('request.pem'), '-out', at('cert.pem'), '-extfile', at('san.txt')]
  await openssl(['x509', '-req', ...by, ...files])
  return { cert_file: at('cert.pem'), key_file: at('key.pem') }
}
