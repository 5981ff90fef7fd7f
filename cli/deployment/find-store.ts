import { type StoreAccess, storeAccess } from '../../core/redis/store-access.ts'
import type { Settings } from '../../core/settings/settings.ts'
import { dataDirAt } from '../launcher/data-dir.ts'
import { isListenedOn } from '../launcher/is-listened-on.ts'
import { valkeySocket } from '../launcher/valkey-config.ts'

/** Where the store of this machine is: the setting, else the embedded store; null if that does not run. */
export async function findStore(settings: Settings): Promise<StoreAccess | null> {
  if (settings.redisUrl !== null) return storeAccess(settings, settings.redisUrl)
  const socket = valkeySocket(dataDirAt(settings.dataDir))
  return (await isListenedOn(socket)) ? storeAccess(settings, `unix://${socket}`) : null
}
