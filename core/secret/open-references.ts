import type { Logger } from 'pino'
import type { RedisClient } from '../redis/run-script.ts'
import type { Settings } from '../settings/settings.ts'
import { SecretReferences } from './secret-references.ts'
import { secretStores, type StoreSettings } from './secret-stores.ts'
import { staleSecretAlert } from './stale-secret-alert.ts'

/** The secrets that this process may read elsewhere. */
export const openReferences = (
  settings: StoreSettings & Pick<Settings, 'secretRefs'>,
  redis: RedisClient,
  log: Pick<Logger, 'warn' | 'error'>,
): SecretReferences =>
  new SecretReferences({
    refs: settings.secretRefs,
    stores: secretStores(settings, process.env),
    nowMs: () => performance.now(),
    log,
    onStale: staleSecretAlert(redis, log),
  })
