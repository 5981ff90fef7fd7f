import type { Logger } from 'pino'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { onBeat } from '../../core/system/on-beat.ts'
import type { KeyRing } from '../../core/keys/seal.ts'
import type { Settings } from '../../core/settings/settings.ts'
import type { ApiPlace } from '../../core/settings/console-link.ts'
import type { Mailer } from '../alerts/mailer.ts'
import { egressProxyOf, type EgressProxySettings } from '../../core/egress/egress-proxy.ts'
import { AddressPolicy } from '../../core/egress/address-policy.ts'
import { attemptDelivery } from './attempt-delivery.ts'
import type { AttemptOutcome } from './attempt-outcome.ts'
import { type Bounds, DeliveryQueue } from './delivery-queue.ts'
import { DeliveryWorker } from './delivery-worker.ts'
import { sendFailureNotices } from './failure-notices.ts'
import { OutboxRelay } from './outbox-relay.ts'
import { pinnedConnector } from './pinned-connector.ts'
import { createHostResolver } from '../../core/egress/resolve-host.ts'
import { ATTEMPT_LIMIT_MS, type Sender } from './send-delivery.ts'

/** Interval of notices, cleanup of deleted webhooks and retention. */
const HOUSEKEEPING_INTERVAL_S = 5

export interface WebhookParts {
  readonly settings: SenderSettings & ApiPlace & Pick<Settings, 'webhookDelays_ms'>
  readonly redis: RedisClient
  /** A connection of its own for reads that block; it is closed by `stop`. */
  readonly blocking: RedisClient
  readonly ring: KeyRing
  readonly mailer: Mailer | null
  readonly now: () => Date
  readonly log: Logger
  readonly bounds?: Partial<Bounds>
  readonly onAttempt?: (outcome: AttemptOutcome) => void
}

type SenderSettings = Pick<Settings, 'webhookAllowCidrs' | 'dnsResolvers'> & EgressProxySettings

/** The connector for webhooks with these settings. */
export function createSender(settings: SenderSettings): Sender {
  const policy = new AddressPolicy(settings.webhookAllowCidrs)
  const resolve = createHostResolver(settings.dnsResolvers)
  const proxy = egressProxyOf(settings)
  return {
    connect: pinnedConnector(policy, resolve, proxy),
    connectTrusting: (ca) => pinnedConnector(policy, resolve, proxy, ca),
    limit_ms: ATTEMPT_LIMIT_MS,
  }
}

/** Starts webhook delivery: relay, worker, notices, cleanup. Returns the function that stops them in order. */
export function startWebhooks(parts: WebhookParts): { stop(): Promise<void> } {
  const { settings, redis, ring, log, now, mailer, onAttempt } = parts
  const queue = new DeliveryQueue(redis, settings.webhookDelays_ms, parts.bounds)
  const notify = (): void => {
    sendFailureNotices({ redis, ring, mailer, now, log }).catch(ignoreUntilNext)
  }
  const ignoreUntilNext = (error: unknown): void =>
    log.warn({ err: error }, 'cleaning up webhooks failed; it will be retried')
  const sender = createSender(settings)
  const worker = new DeliveryWorker({
    queue,
    redis,
    now,
    log,
    attempt: (webhook, message) =>
      attemptDelivery({ sender, ring, now, settings }, webhook, message),
    onFailing: notify,
    ...(onAttempt ? { onAttempt } : {}),
  })
  const { blocking } = parts
  const relay = new OutboxRelay({
    redis,
    blocking,
    queue,
    now,
    log,
    onDeliveries: () => worker.wake(),
  })
  const tidy = async (): Promise<void> => {
    await queue.purgeDeleted()
    const organizations = await redis.hkeys(REDIS_KEYS.organizations)
    for (const organization_id of organizations) await queue.trim(organization_id)
  }
  const stopHousekeeping = onBeat(HOUSEKEEPING_INTERVAL_S, () => {
    notify()
    tidy().catch(ignoreUntilNext)
  })
  relay.start()
  worker.start()
  return {
    stop: async () => {
      stopHousekeeping()
      await relay.stop()
      await worker.stop()
    },
  }
}
