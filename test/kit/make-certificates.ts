import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { tempFolder } from './temp-folder.ts'

const run = promisify(execFile)
const openssl = (args: readonly string[]) => run('openssl', args)

export interface Certificates {
  readonly ca_file: string
  readonly ca: string
  readonly key: string
  readonly cert: string
  readonly key_file: string
  readonly cert_file: string
}

/** A CA of its own, and a server certificate of it for the names; two days are longer than any test run. */
export async function makeCertificates(names: readonly string[]): Promise<Certificates> {
  const folder = tempFolder('ca')
  const at = (name: string): string => join(folder, name)
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  const asCa = ['-x509', '-days', '2', '-subj', '/CN=Stand-in CA']
  await openssl(['req', ...newKey, ...asCa, '-keyout', at('ca.key'), '-out', at('ca.pem')])
  const request = ['-subj', '/CN=Stand-in', '-keyout', at('key.pem'), '-out', at('request.pem')]
  await openssl(['req', '-new', ...newKey, ...request])
  const alternatives = names.map((name) => `${isIP(name) === 0 ? 'DNS' : 'IP'}:${name}`)
  writeFileSync(at('san.txt'), `subjectAltName=${alternatives.join(',')}\n`)
  const by = ['-CA', at('ca.pem'), '-CAkey', at('ca.key'), '-CAcreateserial', '-days', '2']
  const files = ['-in', at('request.pem'), '-out', at('cert.pem'), '-extfile', at('san.txt')]
  await openssl(['x509', '-req', ...by, ...files])
  return {
    ca_file: at('ca.pem'),
    ca: readFileSync(at('ca.pem'), 'utf8'),
    key: readFileSync(at('key.pem'), 'utf8'),
    cert: readFileSync(at('cert.pem'), 'utf8'),
    key_file: at('key.pem'),
    cert_file: at('cert.pem'),
  }
}
