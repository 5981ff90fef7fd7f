import { followStore } from '../../core/control/store-clock.ts'
import { DiskReserve } from '../../core/redis/disk-reserve.ts'
import { AddressPolicy } from '../../core/egress/address-policy.ts'
import { createHostResolver } from '../../core/egress/resolve-host.ts'
import { RecentChanges } from './recent-changes.ts'
import { AdminMetrics } from '../metrics/admin-metrics.ts'
import { ActivityFeed } from './activity-feed.ts'
import { openReferences } from '../../core/secret/open-references.ts'
import { egressOf } from '../../core/token/egress-of.ts'
import type { AdminContext } from './admin-context.ts'
import { ArchiveHours } from './archive-hours.ts'
import { RequestLoad } from './request-load.ts'
import { RequestTurns, type TurnLimits } from './request-turns.ts'
import { SignInThrottle } from './sign-in-throttle.ts'
import { Slots } from './slots.ts'

const nowMs = (): number => performance.now()
/** Each computes for up to 25 ms in one piece. */
const COMPUTE_TURNS: TurnLimits = {
  at_once: 1,
  at_once_of_one: 1,
  waiting_of_one: 16,
  waiting_of_token: 8,
}
/** A search takes up to 45 ms, one by request id up to 2 s, in steps with pauses between them. */
const SEARCH_TURNS: TurnLimits = {
  at_once: 4,
  at_once_of_one: 2,
  waiting_of_one: 16,
  waiting_of_token: 8,
}
/** Each reads and scores for some seconds, in short pieces. */
const VERIFY_TURNS: TurnLimits = {
  at_once: 1,
  at_once_of_one: 1,
  waiting_of_one: 4,
  waiting_of_token: 2,
}
/** Exports take turns page by page. There are fewer of them than may wait. */
const PAGE_TURNS: TurnLimits = {
  at_once: 1,
  at_once_of_one: 1,
  waiting_of_one: 32,
  waiting_of_token: 32,
}
/** Each holds a page of the log for as long as its reader takes. */
const EXPORTS_MAX = 32
const EXPORTS_OF_ONE_MAX = 8

type Given =
  | 'settings'
  | 'redis'
  | 'ring'
  | 'keyProblem'
  | 'acknowledgements'
  | 'tokenUses'
  | 'scans'
  | 'log'

/** What every handler shares. */
export function openContext(given: Pick<AdminContext, Given>): AdminContext {
  const { settings, redis } = given
  const feed = new ActivityFeed(redis)
  const now = (): Date => new Date()
  const clock = followStore(redis)
  return {
    ...given,
    recentChanges: new RecentChanges(nowMs),
    signInThrottle: new SignInThrottle(nowMs),
    feed,
    archive:
      settings.archiveDir === null ? null : new ArchiveHours(settings.archiveDir, redis, nowMs),
    metrics: new AdminMetrics({
      redis,
      lease_ms: settings.killLease_ms,
      now,
      streams: () => feed.followers,
    }),
    load: new RequestLoad(),
    turns: {
      compute: new RequestTurns(COMPUTE_TURNS),
      search: new RequestTurns(SEARCH_TURNS),
      verify: new RequestTurns(VERIFY_TURNS),
    },
    exportPages: new RequestTurns(PAGE_TURNS),
    exports: new Slots(EXPORTS_MAX, EXPORTS_OF_ONE_MAX),
    reserve: DiskReserve.from(settings),
    egress: {
      policy: new AddressPolicy(settings.egressAllowCidrs),
      setting: 'AGW_EGRESS_ALLOW_CIDRS',
      resolve: createHostResolver(settings.dnsResolvers),
      allows_private: settings.egressAllowCidrs.length > 0,
      exempt_origin: settings.echoOrigin,
    },
    tokenEgress: egressOf(settings),
    references: openReferences(settings, redis, given.log),
    nowMs,
    now,
    clock,
  }
}
