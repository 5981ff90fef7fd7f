import { type Logger, pino } from 'pino'
import { HIDDEN_MEMBERS } from '../../core/credential/hidden-members.ts'
import { LineOutput } from '../../core/system/line-output.ts'

/** The log of a process of an edge: one JSON line an event, without secrets. */
export const edgeLog = (service: 'ext-proc' | 'access-log', edge_id: string): Logger =>
  pino({ base: { service, edge_id }, redact: HIDDEN_MEMBERS }, new LineOutput(1))
