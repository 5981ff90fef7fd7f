import type { FinishedCall } from '../../ext-proc/access-log/read-access-log.ts'

/** A call as Envoy's access log reports it, passed and answered with 200 unless said otherwise. */
export const finishedCall = (facts: string, more: Partial<FinishedCall> = {}): FinishedCall => ({
  facts,
  frames: '',
  status: 200,
  bytes_in: 10,
  bytes_out: 20,
  start_ms: 0,
  duration_ms: 1.5,
  flags: [],
  details: 'via_upstream',
  upstream_failure: '',
  route_name: 'pass-http',
  probe_pass: '',
  ...more,
})
