import type { ActivityEntry } from '../../core/activity/activity-entry.ts'
import { findCredentialType } from '../../core/credential/catalogue.ts'
import { isGivenReference } from '../../core/credential/secret-reference.ts'
import { hideWebhookUrl } from '../webhooks/hide-webhook-url.ts'

/**
 * The same entry where it holds none. Version 0.1 wrote two things into the log that are secrets now: the user name of a
 * `basic` credential, and the URL of a webhook. The log and its archive cannot be rewritten, so every reader gets its
 * entries through this.
 */
export function hideFormerSecrets(entry: ActivityEntry): ActivityEntry {
  if (entry.event !== 'admin_action') return entry
  const { before, after, action } = entry.data
  const isWebhook = typeof action === 'string' && action.startsWith('webhook.')
  const hide = isWebhook ? withoutUrl : withoutSecrets
  const [before_shown, after_shown] = [hide(before), hide(after)]
  return before_shown === before && after_shown === after
    ? entry
    : { ...entry, data: { ...entry.data, before: before_shown, after: after_shown } }
}

function withoutUrl(state: unknown): unknown {
  const url = isRecord(state) ? state['url'] : undefined
  if (!isRecord(state) || typeof url !== 'string') return state
  const shown = hideWebhookUrl(url)
  return shown === url ? state : { ...state, url: shown }
}

function withoutSecrets(state: unknown): unknown {
  const auth = isRecord(state) ? state['auth'] : undefined
  if (!isRecord(state) || !isRecord(auth)) return state
  const members = findCredentialType(auth['type'])?.members ?? {}
  const secret = (name: string): boolean =>
    members[name]?.visibility === 'secret' && !isGivenReference(auth[name])
  if (!Object.keys(auth).some(secret)) return state
  const shown = Object.entries(auth).map(([name, value]) =>
    secret(name) ? [`${name}_last4`, null] : [name, value],
  )
  return { ...state, auth: Object.fromEntries(shown) as object }
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
