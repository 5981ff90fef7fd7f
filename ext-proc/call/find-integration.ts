import type { CompiledIntegration } from '../../core/policy/compile-integrations.ts'
import { coverTarget } from '../../core/policy/cover-target.ts'
import { describeEndpoint } from '../../core/policy/describe-call.ts'
import { parseTarget, type Target } from '../../core/policy/parse-target.ts'
import { targetFaultDetails } from '../../core/policy/target-fault-details.ts'
import { hasOwnVia } from '../../core/policy/request-headers.ts'
import type { OrganizationPolicy } from '../policy/policy-store.ts'
import { type Call, given, refuse, type Step } from './call.ts'

/** Envoy takes 200 headers and holds our changes to the same number; those of a pass and its own need the rest. */
const HEADERS_LIMIT = 188

/** Step 1. */
export function findTarget({ head, headers, record }: Call, installation: string): Step<Target> {
  if (headers.length > HEADERS_LIMIT) return refuse(record, 'target', 'headers_too_large')
  if (head.method === 'CONNECT') return refuse(record, 'target', 'upgrade_not_supported')
  const parsed = parseTarget(head.path)
  if (!parsed.ok)
    return refuse(record, 'target', 'invalid_target_url', targetFaultDetails(parsed.reason))
  record.facts.endpoint = describeEndpoint(parsed.target)
  if (head.is_upgrade) return refuse(record, 'target', 'upgrade_not_supported')
  if (installation !== '' && hasOwnVia(headers, installation))
    return refuse(record, 'target', 'loop_detected')
  record.mark('target', 'pass')
  return given(parsed.target)
}

/** Step 2. */
export function findIntegration(
  { record }: Call,
  organization: OrganizationPolicy,
  target: Target,
): Step<CompiledIntegration> {
  const covered = coverTarget(organization.table, target)
  if (covered.kind === 'refused') {
    const step = covered.reason === 'invalid_target_url' ? 'target' : 'integration'
    return refuse(record, step, covered.reason, covered.details)
  }
  const { integration } = covered
  record.facts.integration_id = integration.integration.integration_id
  record.mark('integration', 'pass')
  return given(integration)
}
