import { randomBytes } from 'node:crypto'
import type { Decision, StepMark } from '../../core/activity/activity-entry.ts'
import { type OtlpAttribute, otlpAttribute } from '../../core/otlp/otlp-attribute.ts'
import type { Reason } from '../../core/catalogue/reasons.ts'
import type { CallFacts } from '../record/passed-call.ts'
import { ENVOY_REQUEST_ID } from './envoy-request-id.ts'
import type { TraceParent } from './read-trace-parent.ts'
import { type Span, SPAN_KIND } from './span.ts'

/** What a span says of a call. */
export interface CallOutcome {
  readonly decision: Decision
  /** Null for a call that is allowed. */
  readonly reason: Reason | null
  readonly status: number | null
}

/** Since 1970, in milliseconds with fractions. */
interface Times {
  readonly started_ms: number
  readonly ended_ms: number
}

interface SpanParts extends Times {
  readonly facts: CallFacts
  readonly edge_id: string
  readonly outcome: CallOutcome
}

/** The decision, and below it each step that was taken. A step that is judged twice is one span, where it was judged first. */
export function decisionSpans(
  parent: TraceParent,
  parts: SpanParts & { readonly steps: readonly StepMark[] },
): readonly Span[] {
  const decision = callSpan('agw.decision', parent, parts)
  let started_ms = parts.started_ms
  const steps = parts.steps.map(({ step, outcome, took_us }) => {
    const ended_ms = started_ms + Math.max(0, took_us) / 1000
    const attributes = [otlpAttribute('agw.step', step), otlpAttribute('agw.outcome', outcome)]
    const within = { trace_id: parent.trace_id, span_id: decision.spanId }
    const times = { started_ms, ended_ms }
    started_ms = ended_ms
    return spanOf(`agw.step.${step}`, SPAN_KIND.internal, within, times, attributes)
  })
  return [decision, ...steps]
}

/** What the gateway did to a call after it had passed it: the response was refused, or the call was cut. */
export const endSpan = (parent: TraceParent, parts: SpanParts): Span =>
  callSpan('agw.end', parent, parts)

function callSpan(name: string, parent: TraceParent, parts: SpanParts): Span {
  const { facts, edge_id, outcome } = parts
  const { organization_id, agent_id, integration_id, request_id } = facts
  const attributes = Object.entries({
    'agw.decision': outcome.decision,
    'agw.reason': outcome.reason,
    'agw.organization.id': organization_id,
    'agw.agent.id': agent_id,
    'agw.integration.id': integration_id,
    'agw.request.id': ENVOY_REQUEST_ID.test(request_id) ? request_id : null,
    'agw.edge.id': edge_id,
    'http.response.status_code': outcome.status,
  }).flatMap(([key, value]) => (value === null ? [] : [otlpAttribute(key, value)]))
  return spanOf(name, SPAN_KIND.server, parent, parts, attributes)
}

const spanOf = (
  name: string,
  kind: number,
  { trace_id, span_id }: TraceParent,
  { started_ms, ended_ms }: Times,
  attributes: readonly OtlpAttribute[],
): Span => ({
  traceId: trace_id,
  spanId: randomBytes(8).toString('hex'),
  parentSpanId: span_id,
  name,
  kind,
  startTimeUnixNano: nanosOf(started_ms),
  endTimeUnixNano: nanosOf(ended_ms),
  attributes,
  status: {},
})

/** A number cannot hold the nanoseconds since 1970. */
const nanosOf = (ms: number): string => `${Math.round(ms * 1000)}000`
