import { type Deny, deny } from '../verdict/step.ts'
import type { EgressWay } from '../upstream/egress-ways.ts'

/** Refuses a host for the egress proxy. In the log, the cause is where Envoy's own are. */
export const denyWay = (
  base_url: string,
  { cause }: Extract<EgressWay, { kind: 'refused' }>,
): Deny =>
  deny(
    'credential',
    'upstream_unreachable',
    { base_url },
    { data: { base_url, upstream: { outcome: 'unreachable', details: `egress_proxy{${cause}}` } } },
  )
