import { type DestinationStream, type Logger, pino } from 'pino'
import { HIDDEN_MEMBERS } from '../../core/hidden-members.ts'

/** The log of the admin service: one JSON line an event, without secrets. */
export const makeLog = (level: string, destination?: DestinationStream): Logger => {
  const options = { level, base: { service: 'admin' }, redact: HIDDEN_MEMBERS }
  return destination ? pino(options, destination) : pino(options)
}
