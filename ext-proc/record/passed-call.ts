import type { StepMark } from '../../core/activity/activity-entry.ts'

/** What is known of a call so far; the decision fills it in, step by step. */
export interface CallFacts {
  organization_id: string | null
  agent_id: string | null
  agent_name: string | null
  key_id: string | null
  integration_id: string | null
  scope_id: string | null
  rule: number | null
  method: string
  endpoint: string | null
  source_ip: string | null
  request_id: string
  bytes_in: number | null
  data: Record<string, unknown>
}

/** What is known of a passed call: what the end of the call does not change. */
export interface PassedCall {
  readonly event: 'request_allowed' | 'injection_detected'
  /** Whether webhooks receive it. */
  readonly is_delivered: boolean
  readonly organization_id: string
  readonly facts: CallFacts
  readonly timestamp: string
  readonly edge_id: string
  readonly steps: readonly StepMark[]
}
