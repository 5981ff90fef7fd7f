import { pino } from 'pino'
import { LastUses } from '../../admin/context/last-uses.ts'
import { openContext } from '../../admin/context/open-context.ts'
import { repeatChange } from '../../admin/restore/repeat-change.ts'
import { ROUTES } from '../../admin/server/routes.ts'
import { webhookRoutes } from '../../admin/webhooks/webhook-routes.ts'
import { Acknowledgements } from '../../core/control/acknowledgements.ts'
import { openScanPool } from '../../core/inspection/scan-pool.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import type { LoggedChange } from '../../core/restore/logged-change.ts'
import type { KeyRing } from '../../core/keys/seal.ts'
import type { Settings } from '../../core/settings/settings.ts'

export interface RepeatedChanges {
  readonly repeated: readonly LoggedChange[]
  /** Sentences: they have to be made again by hand. */
  readonly impossible: readonly string[]
  /** Of these, the ones that decide what agents may do. */
  readonly holding: readonly string[]
}

/** Makes the changes after a backup again, by the code that made them. */
export async function repeatChanges(
  redis: RedisClient,
  settings: Settings,
  ring: KeyRing,
  changes: readonly LoggedChange[],
): Promise<RepeatedChanges> {
  const repeated: LoggedChange[] = []
  const impossible: string[] = []
  const holding: string[] = []
  const now = (): Date => new Date()
  const scans = openScanPool({ workers: 1, queue_limit: 1 })
  const tokenUses = new LastUses(redis, now)
  try {
    const context = openContext({
      settings: { ...settings, archiveDir: null },
      redis,
      ring,
      keyProblem: () => null,
      acknowledgements: new Acknowledgements(redis, () => performance.now()),
      tokenUses,
      scans,
      log: pino({ level: 'silent' }),
    })
    for (const change of changes) {
      const done = await repeatChange(context, [...ROUTES, ...webhookRoutes], change)
      if (done.kind === 'repeated') repeated.push(change)
      if (done.kind !== 'impossible') continue
      impossible.push(done.why)
      if (done.holds) holding.push(done.why)
    }
    return { repeated, impossible, holding }
  } finally {
    await Promise.all([tokenUses.stop(), scans.close()])
  }
}
