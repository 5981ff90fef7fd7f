import { type DestinationStream, type Logger, pino, stdSerializers } from 'pino'
import { HIDDEN_MEMBERS } from '../../core/credential/hidden-members.ts'
import { LineOutput } from '../../core/system/line-output.ts'

/** The log of the admin service: one JSON line an event, without secrets. */
export const makeLog = (
  level: string,
  destination: DestinationStream = new LineOutput(1),
): Logger => {
  const options = {
    level,
    base: { service: 'admin' },
    redact: HIDDEN_MEMBERS,
    serializers: { err: withoutCommand },
  }
  return pino(options, destination)
}

/** The store's client hangs the whole command on its errors: what was to be written, which is none of the log's business. */
function withoutCommand(error: Error): object {
  const { command: _, ...shown } = stdSerializers.err(error) as { command?: unknown }
  return shown
}
