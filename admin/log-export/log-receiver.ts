import type { EgressProxy } from '../../core/egress/egress-proxy.ts'
import { otlpReceiver } from '../../core/otlp/otlp-receiver.ts'
import { otlpResource } from '../../core/otlp/otlp-resource.ts'
import { type OtlpReceiver, type SendOutcome, sendOtlp } from '../../core/otlp/send-otlp.ts'
import type { LogRecord } from './log-record.ts'

/** A receiver accepts it. */
const EMPTY_REQUEST = '{"resourceLogs":[]}'

/** An OTLP/HTTP endpoint for logs. */
export class LogReceiver {
  readonly #receiver: OtlpReceiver
  readonly #installation_id: string

  constructor(to: {
    readonly url: string
    readonly headers: Readonly<Record<string, string>>
    readonly installation_id: string
    readonly limit_ms: number
    readonly signal: AbortSignal
    readonly proxy: EgressProxy | null
  }) {
    this.#receiver = otlpReceiver(to.url, to.headers, to.limit_ms, to.signal, to.proxy)
    this.#installation_id = to.installation_id
  }

  /** Never throws. */
  send(organization_id: string, logRecords: readonly LogRecord[]): Promise<SendOutcome> {
    const source = otlpResource(this.#installation_id, { 'agw.organization.id': organization_id })
    const { resource, scope } = source
    const resourceLogs = [{ resource, scopeLogs: [{ scope, logRecords }] }]
    return sendOtlp(this.#receiver, JSON.stringify({ resourceLogs }))
  }

  /** Sends no record: whether the receiver accepts anything at all. Never throws. */
  probe(): Promise<SendOutcome> {
    return sendOtlp(this.#receiver, EMPTY_REQUEST)
  }

  async close(): Promise<void> {
    await this.#receiver.client.destroy().catch(() => undefined)
  }
}
