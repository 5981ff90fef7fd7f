import { readFileSync } from 'node:fs'
import type { SecureContextOptions } from 'node:tls'
import type { ServerTls } from './start-server.ts'

/** @throws if a file cannot be read */
export const readTlsFiles = ({ cert_file, key_file, ca_file }: ServerTls) =>
  ({
    cert: readFileSync(cert_file),
    key: readFileSync(key_file),
    ca: readFileSync(ca_file),
    minVersion: 'TLSv1.2',
  }) satisfies SecureContextOptions
