import type { SealedKind } from '../../core/keys/seal.ts'
import { describeCounts } from './count-sealed.ts'

/** What an operator reads about encryption keys: one sentence on what is wrong, then what to do. */
const LOST_KEY_GUIDE = 'docs/guides/credentials.md#a-lost-encryption-key'

export const missingKey = (key_id: string, counts: Readonly<Record<SealedKind, number>>): string =>
  `AGW_ENCRYPTION_KEY lacks key ${key_id}, which still encrypts ${describeCounts(counts)}. Add it behind the first key, after a comma, until agw doctor counts nothing under it. If it is lost: ${LOST_KEY_GUIDE}.`

export const edgeWithoutKey = (process: string, key_id: string): string =>
  `${process} does not have encryption key ${key_id}, so it refuses calls whose credential is encrypted with it. Set AGW_ENCRYPTION_KEY there to the value that the admin service has, and restart it.`

export const lostKey = (key_id: string, counts: Readonly<Record<SealedKind, number>>): string =>
  `${describeCounts(counts)} were encrypted with key ${key_id}, which is lost. Set them again: PUT the integration with auth, PATCH the webhook with url and secret. Then remove ${key_id} from AGW_LOST_ENCRYPTION_KEYS.`
