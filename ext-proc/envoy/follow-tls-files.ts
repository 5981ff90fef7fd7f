import { createSecureContext, type SecureContextOptions } from 'node:tls'
import { readTlsFiles } from './read-tls-files.ts'
import type { ServerTls } from './start-server.ts'

const LOOK_INTERVAL_MS = 1_000

/**
 * Polls the files of the certificate, its key and the CA, and reports each change, so that a renewal needs no restart. Files that
 * cannot be used, such as a certificate whose key is still to be written, are ignored until they can. Connections that are open
 * keep what they were opened with. Ends with the process.
 * @param first what the server has begun with
 */
export function followTlsFiles(
  tls: ServerTls,
  first: ReturnType<typeof readTlsFiles>,
  onFiles: (files: SecureContextOptions) => void,
): void {
  let last = textOf(first)
  setInterval(() => {
    try {
      const files = readTlsFiles(tls)
      const text = textOf(files)
      if (text === last) return
      // Throws if certificate and key do not belong together.
      createSecureContext(files)
      onFiles(files)
      last = text
    } catch {
      // Looked at again in a second.
    }
  }, LOOK_INTERVAL_MS).unref()
}

const textOf = ({ cert, key, ca }: ReturnType<typeof readTlsFiles>): string =>
  Buffer.concat([cert, key, ca]).toString('latin1')
