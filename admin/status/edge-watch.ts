import type { RedisClient } from '../../core/redis/run-script.ts'

/** What the watches of edges need. */
export interface EdgeWatch {
  readonly redis: RedisClient
  /** The organization that gets the alerts. */
  readonly organization_id: string
  readonly lease_ms: number
  readonly now: () => Date
}
