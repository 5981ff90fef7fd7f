import { NOTIFY_CHANNELS, type NotifyChannel } from '../../core/kill/kill-record.ts'

/** A reason is for people; what is longer is cut, since a kill never fails on form. */
export const REASON_LENGTH_LIMIT = 2000
const NOTIFY_LIMIT = 20
const NOTIFY_LENGTH_LIMIT = 200

export interface KillWishes {
  readonly reason: string | null
  readonly notify: readonly NotifyChannel[]
  readonly notify_ignored: readonly string[]
}

/** What a body says of a kill, whatever it is: a body that cannot be understood says nothing. */
export function readKillOrder(body: string): KillWishes {
  let parsed: unknown
  try {
    parsed = JSON.parse(body)
  } catch {
    parsed = null
  }
  const { reason, notify } =
    typeof parsed === 'object' && parsed !== null
      ? (parsed as { reason?: unknown; notify?: unknown })
      : {}
  const given = notify === undefined || notify === null ? [] : [notify].flat(1)
  const wanted = given.slice(0, NOTIFY_LIMIT).map((one) => asText(one))
  return {
    reason: reason === undefined || reason === null ? null : asText(reason, REASON_LENGTH_LIMIT),
    notify: NOTIFY_CHANNELS.filter((channel) => wanted.includes(channel)),
    notify_ignored: wanted.filter((channel) => !isChannel(channel)),
  }
}

const isChannel = (text: string): text is NotifyChannel =>
  (NOTIFY_CHANNELS as readonly string[]).includes(text)

function asText(value: unknown, limit = NOTIFY_LENGTH_LIMIT): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  // A half of a surrogate pair has no form in UTF-8.
  return Buffer.from(text.slice(0, limit)).toString()
}
