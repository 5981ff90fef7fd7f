import type { ActivityEntry } from '../../core/activity/activity-entry.ts'
import { hideFormerSecrets } from './hide-former-secrets.ts'

/** An entry of the log, from its text in the store, as every role may see and search it. */
export const readStoredEntry = (text: string): ActivityEntry =>
  hideFormerSecrets(JSON.parse(text) as ActivityEntry)
