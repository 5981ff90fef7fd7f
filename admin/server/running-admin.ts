import type { Settings } from '../../core/settings/settings.ts'

/** An admin service that serves requests. */
export interface RunningAdmin {
  /** 0 if it has no port of its own. */
  readonly port: number
  /** @param isReplaced another process accepts connections in its place already */
  stop(isReplaced?: boolean): Promise<void>
}

export type NeededSettings = Settings & {
  readonly redisUrl: string
  readonly encryptionKey: string
}
