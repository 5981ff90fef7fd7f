import type { OtlpAttribute } from '../../core/otlp/otlp-attribute.ts'

/** Of OpenTelemetry. */
export const SPAN_KIND = { internal: 1, server: 2 } as const

/**
 * A span as OTLP/HTTP has it in JSON. Names and attributes come from closed lists: no header, path, query, body, matched text or
 * credential is ever in one.
 */
export interface Span {
  readonly traceId: string
  readonly spanId: string
  /** Empty: the first of its trace. */
  readonly parentSpanId: string
  readonly name: string
  readonly kind: number
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes: readonly OtlpAttribute[]
  /** 2 for an error. */
  readonly status: { readonly code?: number }
}
