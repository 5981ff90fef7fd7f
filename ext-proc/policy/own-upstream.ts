import type { UpstreamSettings } from '../../core/catalogue/model.ts'
import type { Secret } from '../../core/keys/secret.ts'

/** An integration with connection settings of its own. */
export interface OwnUpstream {
  readonly scheme: 'https' | 'http'
  readonly settings: UpstreamSettings
  /** Of the client certificate; null if there is none. */
  readonly client_key: Secret | null
}
