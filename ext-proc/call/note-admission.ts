import type { Admitted, Known, NotAdmitted } from '../../core/decision/admission.ts'
import { errorShapeOf } from '../../core/error-format/error-shape-of.ts'
import type { Header } from '../../core/request/header.ts'
import type { AgentUses } from '../record/agent-uses.ts'
import type { CallRecord } from '../record/call-record.ts'

/** Records what admission has found out about a call, and that an identified agent has used its key. */
export function noteAdmission(
  uses: Pick<AgentUses, 'note'>,
  record: CallRecord,
  admission: Admitted | NotAdmitted,
  headers: readonly Header[],
): void {
  if (admission.kind === 'not_admitted') {
    const { key, agent, integration, has_scope = false } = admission.known
    noteKnown(record, admission.known)
    if (has_scope && integration !== null)
      record.error_shape = errorShapeOf(integration.integration, headers)
    if (admission.step === 'scope' && key !== null && agent !== null)
      uses.note(agent.agent_id, key, record.facts.endpoint)
    return
  }
  const { key, agent, scope, rule, credential } = admission
  const { connection } = credential.credential
  if (connection !== null) record.facts.data['connection_id'] = connection.connection_id
  noteKnown(record, admission)
  if (admission.integration.is_unlisted) {
    const { host, port } = admission.target
    record.note('integration', 'pass')
    record.note('agent', 'pass')
    record.facts.data['unlisted_host'] = `${host}:${port}`
  } else {
    record.facts.scope_id = scope.scope_id
    record.facts.rule = rule
  }
  record.error_shape = errorShapeOf(admission.integration.integration, headers)
  record.note('scope', 'pass')
  if (key !== null)
    uses.note(agent.agent_id, key, record.facts.endpoint, connection?.connection_id ?? null)
}

/** If the value is unknown now, keep what was recorded earlier, such as the owner of a revoked or expired key. */
function noteKnown({ facts }: CallRecord, { integration, key, agent }: Known): void {
  // An unlisted host has none.
  facts.integration_id = integration?.integration.integration_id || null
  facts.key_id = key?.key_id ?? facts.key_id
  facts.agent_id = agent?.agent_id ?? facts.agent_id
  facts.agent_name = agent?.agent_name ?? facts.agent_name
}
