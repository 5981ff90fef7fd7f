import type { Logger } from 'pino'
import type { Acknowledgements } from '../../core/control/acknowledgements.ts'
import type { StoreClock } from '../../core/control/store-clock.ts'
import type { DiskReserve } from '../../core/redis/disk-reserve.ts'
import type { AdminRole } from '../../core/catalogue/model.ts'
import type { EgressRules } from '../../core/egress/egress-warnings.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import type { SecretReferences } from '../../core/secret/secret-references.ts'
import type { ScanPool } from '../../core/inspection/scan-pool.ts'
import type { Egress } from '../../core/token/post-form.ts'
import type { KeyRing } from '../../core/keys/seal.ts'
import type { Settings } from '../../core/settings/settings.ts'
import type { ActivityFeed } from './activity-feed.ts'
import type { AdminMetrics } from '../metrics/admin-metrics.ts'
import type { ArchiveHours } from './archive-hours.ts'
import type { RecentChanges } from './recent-changes.ts'
import type { LastUses } from './last-uses.ts'
import type { RequestLoad } from './request-load.ts'
import type { RequestTurns } from './request-turns.ts'
import type { Slots } from './slots.ts'
import type { SignInThrottle } from './sign-in-throttle.ts'

/** What every request of the admin service has at hand. */
export interface AdminContext {
  readonly settings: Settings
  readonly redis: RedisClient
  readonly ring: KeyRing
  /** What is wrong with the encryption keys, for the operator; null when all is well. */
  readonly keyProblem: () => string | null
  readonly acknowledgements: Acknowledgements
  readonly signInThrottle: SignInThrottle
  readonly tokenUses: LastUses
  /** What a failover of the store could lose. */
  readonly recentChanges: RecentChanges
  readonly feed: ActivityFeed
  /** Null if this process keeps no archive. */
  readonly archive: ArchiveHours | null
  readonly metrics: AdminMetrics
  readonly load: RequestLoad
  /** Of requests that compute for many milliseconds in one piece, of searches, and of verifications of the archive. */
  readonly turns: Readonly<Record<'compute' | 'search' | 'verify', RequestTurns>>
  /** Of the pages of exports. */
  readonly exportPages: RequestTurns
  readonly exports: Slots
  /** Null in the thread that serves only kills: loading the scanner is a tenth of its start. */
  readonly scans: ScanPool | null
  /** Space that kills can use on a full disk of the store; null without AGW_DISK_RESERVE_FILE. */
  readonly reserve: DiskReserve | null
  /** Where calls and token requests may connect to. */
  readonly egress: EgressRules
  /** For requests to OAuth providers. */
  readonly tokenEgress: Egress
  /** For the client secrets of these requests. */
  readonly references: Pick<SecretReferences, 'resolve'>
  readonly log: Logger
  /** Monotonic, in ms. */
  readonly nowMs: () => number
  /** Wall clock. */
  readonly now: () => Date
  /** For the time of log entries and kills. */
  readonly clock: StoreClock
}

export interface Actor {
  readonly token_id: string
  readonly organization_id: string
  readonly email: string
  readonly role: AdminRole
  readonly source_ip: string | null
  /** Hash of the console session that authenticated the request; absent for a token or key. */
  readonly session?: string
}
