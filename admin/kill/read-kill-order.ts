import { UNSIGNED_BODY_LIMIT } from '../http/read-any-body.ts'
import { NOTIFY_CHANNELS, type NotifyChannel } from '../../core/kill/kill-record.ts'
import { asText } from './as-text.ts'
import { readReason } from './read-reason.ts'

const NOTIFY_LIMIT = 20
const NOTIFY_LENGTH_LIMIT = 200

export interface KillWishes {
  readonly reason: string | null
  readonly notify: readonly NotifyChannel[]
  readonly notify_ignored: readonly string[]
}

/** Reads the options of a kill from any body; one that is too long or cannot be parsed has none. */
export function readKillOrder(body: string): KillWishes {
  let parsed: unknown
  try {
    parsed = body.length > UNSIGNED_BODY_LIMIT ? null : JSON.parse(body)
  } catch {
    parsed = null
  }
  const { reason, notify } =
    typeof parsed === 'object' && parsed !== null
      ? (parsed as { reason?: unknown; notify?: unknown })
      : {}
  const given = notify === undefined || notify === null ? [] : [notify].flat(1)
  const wanted = given.slice(0, NOTIFY_LIMIT).map((one) => asText(one, NOTIFY_LENGTH_LIMIT))
  return {
    reason: reason === undefined || reason === null ? null : readReason(reason),
    notify: NOTIFY_CHANNELS.filter((channel) => wanted.includes(channel)),
    notify_ignored: wanted.filter((channel) => !isChannel(channel)),
  }
}

const isChannel = (text: string): text is NotifyChannel =>
  (NOTIFY_CHANNELS as readonly string[]).includes(text)
