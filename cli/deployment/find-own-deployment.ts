import type { StoreAccess } from '../../core/redis/store-access.ts'
import { type Environment, readSettings, type Settings } from '../../core/settings/settings.ts'
import { findStore } from './find-store.ts'
import { findOwnKey, type OwnKey } from './own-key.ts'

/** The running deployment of this machine, for commands that use the store directly. */
export interface OwnDeployment {
  readonly settings: Settings
  readonly own: OwnKey
  readonly store: StoreAccess
}

/** @throws with a sentence for the operator */
export async function findOwnDeployment(env: Environment): Promise<OwnDeployment> {
  const read = readSettings(env)
  if (!read.ok) throw new Error(read.problems.join('\n'))
  const { settings } = read
  const own = findOwnKey(settings)
  if (own === null)
    throw new Error(
      'No encryption key found. Set AGW_ENCRYPTION_KEY or AGW_ENCRYPTION_KEY_FILE, or AGW_DATA_DIR to the directory of the gateway.',
    )
  const store = await findStore(settings)
  if (store === null)
    throw new Error('The gateway is not running on this machine. Start it, then run this again.')
  return { settings, own, store }
}
