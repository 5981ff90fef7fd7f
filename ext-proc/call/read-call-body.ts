import type { BodyFacts, BodyQuestions } from '../../core/inspection/read-body.ts'
import { isBatchPath } from '../../core/request/batch.ts'
import type { McpHeaders } from '../../core/mcp/read-mcp-headers.ts'
import { settingsToScan } from '../../core/inspection/settings-to-scan.ts'
import type { PolicyStore } from '../policy/policy-store.ts'
import type { CallRecord } from '../record/call-record.ts'
import { deny, pass, type Step } from '../verdict/step.ts'
import type { AdmittedCall } from './admit-call.ts'
import type { CallIo } from './call-io.ts'
import { bufferBody, type SentBody } from './buffer-body.ts'
import { busy } from './busy.ts'
import type { BodyPlan } from './plan-body.ts'
import type { IdentityServices } from './read-identity.ts'

export interface BodyServices extends IdentityServices {
  readonly policy: Pick<PolicyStore, 'agent'>
}

/** Everything that later steps need from a body, read in one pass. */
export interface CallBody {
  /** Null if no step read it, if there is none, or if no later step uses it. */
  readonly sent: SentBody | null
  readonly facts: BodyFacts | null
}

/** Buffers the body, removes `agent_id` from it, and reads from the rest everything that the steps need. */
export async function readCallBody(
  services: BodyServices,
  call: AdmittedCall,
  { limit_bytes, held_by }: BodyPlan,
  io: CallIo,
  record: CallRecord,
): Promise<Step<CallBody>> {
  const { pool, settings } = services
  const { content_length } = call.head
  const held =
    call.body === null
      ? await bufferBody(io, record.facts, content_length, limit_bytes, held_by, call.agent)
      : withinLimit(call.body.bytes, record.facts.bytes_in ?? 0, limit_bytes)
  if (held === 'busy') return busy('body', { by: 'owner' })
  if (held === 'too_large') return deny('body', 'request_too_large', { limit_bytes, held_by })
  const questions = questionsOf(call, record.mcp, settings.max_body_bytes)
  const patterns = call.settings.injection.enabled ? settingsToScan(call.settings) : null
  const { organization_id, agent_id } = call.agent
  const owner = { organization_id, agent_id, isGone: () => io.is_over }
  const reading = pool.readBody(held, questions, patterns, owner)
  const read = reading instanceof Promise ? await reading : reading
  if (read.kind === 'busy') return busy('body', read)
  const { facts, sent } = read
  record.json_rpc_id = idOf(facts)
  record.setAside(facts.scan_ms)
  const is_stripped = read.is_stripped || call.body?.is_stripped === true
  const value = { sent: sent === null ? null : { bytes: sent, is_stripped }, facts }
  return checkIdentity(services.policy, call, value, facts)
}

/** A scope may have a lower limit than the one that applied when the body was read to find the agent. */
const withinLimit = (
  bytes: Buffer,
  received_bytes: number,
  limit_bytes: number,
): Buffer | 'too_large' => (received_bytes > limit_bytes ? 'too_large' : bytes)

/** The agent named in the body must be the caller. A value that is not the id of an agent belongs to the API. */
async function checkIdentity(
  policy: BodyServices['policy'],
  { agent, key }: AdmittedCall,
  body: CallBody,
  { identity: said }: BodyFacts,
): Promise<Step<CallBody>> {
  if (said === null || said.kind === 'none') return pass(body)
  if (said.kind === 'ambiguous') return deny('agent', 'ambiguous_request', { reason: 'agent_id' })
  if (said.agent_id === agent.agent_id) return pass(body)
  if ((key?.agent_id ?? null) === null)
    return deny('agent', 'ambiguous_request', { reason: 'agent_id' })
  const named = await policy.agent(agent.organization_id, said.agent_id)
  return named.agent === null ? pass(body) : deny('agent', 'agent_mismatch')
}

function questionsOf(
  call: AdmittedCall,
  mcp: McpHeaders | null,
  limit_bytes: number,
): BodyQuestions {
  const { head, body, integration, agent, target, outgoing } = call
  const { settings, reading_lock, approval } = call
  const { strip_agent_id: strips } = integration.integration
  return {
    content_type: head.content_type,
    content_encoding: head.content_encoding,
    limit_bytes,
    identity: body === null ? { strips, agent_id: agent.agent_id } : null,
    asks_overrides: true,
    is_batch_path: isBatchPath(target.segments),
    // A signature or an approval covers it, or it replaces what the caller sent.
    keeps_body:
      call.credential.credential.is_signed || approval !== null || body?.is_stripped === true,
    json_rpc:
      settings.tools.is_unrestricted && mcp === null && reading_lock === null && approval === null
        ? null
        : { headers: mcp },
    scan: settings.injection.enabled
      ? {
          method: head.method,
          base_path: integration.base.segments.map((segment) => `/${segment}`).join(''),
          path: pathBelowBase(target.raw_path, integration.base.segments.length),
          query: outgoing.raw_query ?? '',
          headers: outgoing.headers.map(({ name, value }) => [name, value] as const),
        }
      : null,
  }
}

/** Id of the only JSON-RPC message that a refusal would answer; null if there are several or none. */
function idOf({ json_rpc }: BodyFacts): string | null {
  if (json_rpc?.kind === 'mismatch') return json_rpc.id
  return json_rpc?.kind === 'single' ? (json_rpc.messages[0]?.id ?? null) : null
}

/** As it was sent, starting with the first slash below the base URL. */
function pathBelowBase(raw_path: string, base_segments: number): string {
  let at = 0
  for (let i = 0; i < base_segments && at >= 0; i++) at = raw_path.indexOf('/', at + 1)
  return at < 0 ? '' : raw_path.slice(at)
}
