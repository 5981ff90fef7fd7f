import type { EgressProxy } from '../../core/egress/egress-proxy.ts'
import type { SendOutcome } from '../../core/otlp/send-otlp.ts'
import type { LogTarget } from './log-target.ts'
import { ocsfEvent, ocsfGap } from './ocsf-event.ts'
import { SyslogConnection } from './syslog-connection.ts'
import { syslogMessage } from './syslog-message.ts'
import { knownUrl } from '../../core/bounded/parse-url.ts'

/** A syslog receiver at `syslog+tcp://host:port` or `syslog+tls://host:port`. Its events have the form of OCSF. */
export function syslogTarget(to: {
  readonly url: string
  readonly installation_id: string
  readonly limit_ms: number
  readonly signal: AbortSignal
  readonly proxy: EgressProxy | null
}): LogTarget {
  const connection = new SyslogConnection({ ...to, url: knownUrl(to.url) })
  const { installation_id } = to
  return {
    entry: (one, organization_id) => ({
      at_ms: one.at_ms,
      text: syslogMessage(ocsfEvent(one, { organization_id, installation_id })),
    }),
    gap: (gap, organization_id) => ({
      at_ms: gap.at_ms,
      text: syslogMessage(ocsfGap(gap, { organization_id, installation_id })),
    }),
    send: (_, records) =>
      outcomeOf(connection.write(Buffer.from(records.map(({ text }) => text).join('')))),
    recover: () => outcomeOf(connection.recover()),
    // A connection accepts any message, so a failure is never that of one entry.
    probe: () => outcomeOf(Promise.reject(new Error('the connection has failed'))),
    close: () => connection.close(),
  }
}

const outcomeOf = (done: Promise<void>): Promise<SendOutcome> =>
  done.then(
    () => ({ kind: 'accepted', rejected: 0, message: '' }),
    ({ message }: Error) => ({ kind: 'failed', problem: message, retry_after_ms: 0 }),
  )
