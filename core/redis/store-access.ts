import type { Settings } from '../settings/settings.ts'

/** Files of a connection with TLS. They are read again for each new connection. */
export interface TlsFiles {
  readonly ca_file: string | null
  readonly cert_file: string | null
  readonly key_file: string | null
  /** The name in the certificate, if it is not the host of the address. */
  readonly server_name: string | null
}

/** Everything that is needed to reach the store. */
export interface StoreAccess {
  /** As in REDIS_URL. */
  readonly url: string
  readonly tls: TlsFiles
  readonly sentinel: {
    readonly username: string | null
    readonly password: string | null
    /** Null: according to the scheme of the address. */
    readonly uses_tls: boolean | null
  }
}

/** @param url the address, where it does not come from REDIS_URL */
export const storeAccess = (settings: Settings, url: string): StoreAccess => ({
  url,
  tls: {
    ca_file: settings.redisTlsCaFile,
    cert_file: settings.redisTlsCertFile,
    key_file: settings.redisTlsKeyFile,
    server_name: settings.redisTlsServerName,
  },
  sentinel: {
    username: settings.redisSentinelUsername,
    password: settings.redisSentinelPassword,
    uses_tls: settings.redisSentinelTls,
  },
})
