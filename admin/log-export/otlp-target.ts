import type { EgressProxy } from '../../core/egress/egress-proxy.ts'
import { otlpReceiver } from '../../core/otlp/otlp-receiver.ts'
import { otlpResource } from '../../core/otlp/otlp-resource.ts'
import { sendOtlp } from '../../core/otlp/send-otlp.ts'
import { gapRecord, logRecordOf } from './log-record.ts'
import type { ExportRecord, LogTarget } from './log-target.ts'

/** A receiver accepts it. */
const EMPTY_REQUEST = '{"resourceLogs":[]}'

/** An OTLP/HTTP endpoint for logs. */
export function otlpTarget(to: {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly installation_id: string
  readonly limit_ms: number
  readonly signal: AbortSignal
  readonly proxy: EgressProxy | null
}): LogTarget {
  const receiver = otlpReceiver(to.url, to.headers, to.limit_ms, to.signal, to.proxy)
  const bodyOf = (organization_id: string, records: readonly ExportRecord[]): string => {
    const { resource, scope } = otlpResource(to.installation_id, {
      'agw.organization.id': organization_id,
    })
    const logRecords = records.map(({ text }) => text).join(',')
    return `{"resourceLogs":[{"resource":${JSON.stringify(resource)},"scopeLogs":[{"scope":${JSON.stringify(scope)},"logRecords":[${logRecords}]}]}]}`
  }
  return {
    entry: (one, _, observed) => ({
      at_ms: one.at_ms,
      text: JSON.stringify(logRecordOf(one, observed)),
    }),
    gap: (gap, _, observed) => ({
      at_ms: gap.at_ms,
      text: JSON.stringify(gapRecord(gap, observed)),
    }),
    send: (organization_id, records) => sendOtlp(receiver, bodyOf(organization_id, records)),
    // A response says what was accepted.
    recover: () => Promise.resolve({ kind: 'accepted', rejected: 0, message: '' }),
    probe: () => sendOtlp(receiver, EMPTY_REQUEST),
    close: () => receiver.client.destroy().catch(() => undefined),
  }
}
