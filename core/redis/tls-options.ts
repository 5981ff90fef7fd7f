import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { type ConnectionOptions, createSecureContext, type SecureContext } from 'node:tls'
import type { TlsFiles } from './store-access.ts'

const read = (file: string | null): Buffer | undefined =>
  file === null ? undefined : readFileSync(file)

function loadContext({ ca_file, cert_file, key_file }: TlsFiles): SecureContext {
  const ca = read(ca_file)
  const cert = read(cert_file)
  const key = read(key_file)
  // createSecureContext accepts any text as a CA and then trusts no certificate.
  if (ca !== undefined) new X509Certificate(ca)
  return createSecureContext({
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
  })
}

/**
 * TLS options of a connection to the store. The client library reads `secureContext` for each new connection, and the files
 * are read then: a certificate that was replaced is used from the next connection. Files that cannot be used at that
 * moment, such as a certificate that does not match its key yet, are reported, and the previous ones remain in use.
 * @throws with a message for the operator if the files cannot be used at the start
 */
export function tlsOptions(
  files: TlsFiles,
  onUnusable: (error: Error) => void,
): ConnectionOptions & { readonly secureContext: SecureContext } {
  const unusable = (error: unknown): Error =>
    new Error(
      `The files of REDIS_TLS_CA_FILE, REDIS_TLS_CERT_FILE and REDIS_TLS_KEY_FILE cannot be used: ${(error as Error).message}`,
    )
  let context: SecureContext
  try {
    context = loadContext(files)
  } catch (error) {
    throw unusable(error)
  }
  return {
    ...(files.server_name === null ? {} : { servername: files.server_name }),
    get secureContext() {
      // Without files there is nothing to read again, and the public CAs take long to load.
      if (files.ca_file === null && files.cert_file === null) return context
      try {
        context = loadContext(files)
      } catch (error) {
        onUnusable(unusable(error))
      }
      return context
    },
  }
}
