import { accessHint } from '../../core/approval/access-hint.ts'
import type { AdmissionFacts, Caller } from '../../core/decision/admission-facts.ts'
import type { Admitted, NotAdmitted } from '../../core/decision/admission.ts'
import { admit, type SettledChecks } from '../../core/decision/admit.ts'
import type { Scope } from '../../core/catalogue/model.ts'
import { describeEndpoint } from '../../core/request/describe-call.ts'
import type { Header } from '../../core/request/header.ts'
import { parseTarget } from '../../core/request/parse-target.ts'
import type { OrganizationPolicy, PolicyStore } from '../policy/policy-store.ts'
import type { AgentUses } from '../record/agent-uses.ts'
import type { CallRecord } from '../record/call-record.ts'
import { deny, pass, type Step } from '../verdict/step.ts'
import type { CallIo } from './call-io.ts'
import { callerOfHash, type KeyLookup } from './caller-of-hash.ts'
import { findCaller } from './find-caller.ts'
import type { SentBody } from './buffer-body.ts'
import { headAsSent } from './head-as-sent.ts'
import { lockFacts } from './lock-facts.ts'
import { type GatewayAddress, gatewayUrl } from '../response/gateway-address.ts'
import { retryAfter } from '../verdict/retry-after.ts'
import { noteAdmission } from './note-admission.ts'
import { noteCaller } from './note-caller.ts'
import { noteUnusableKey } from './note-unusable-key.ts'
import type { ProxiedCall } from './proxied-call.ts'
import { type IdentityServices, readIdentity } from './read-identity.ts'
import { type AgentServices, readAgentFacts } from './read-agent-facts.ts'
import type { RequestHead } from './read-head.ts'
import type { AdmittedFacts } from './review-call.ts'

export interface AdmissionServices extends IdentityServices, AgentServices {
  readonly policy: KeyLookup & Pick<PolicyStore, 'organization' | 'agent'>
  readonly uses: Pick<AgentUses, 'note'>
  readonly nowMs: () => number
  readonly settings: IdentityServices['settings'] & {
    /** For callers whose key is missing or unknown. */
    readonly organization_id: string
    readonly gateway: Pick<GatewayAddress, 'proxy_url'>
  }
}

export interface ReceivedCall {
  readonly head: RequestHead
  readonly headers: readonly Header[]
  /** The name of this deployment in `Via`; empty if the store has none. */
  readonly installation: string
  /** Null: the target is in the path, and the key in the headers. */
  readonly proxied: ProxiedCall | null
  readonly io: CallIo
  readonly record: CallRecord
}

/** A call that a scope allows, and what was read to decide that. */
export interface AdmittedCall extends Admitted {
  /** As the upstream will read it. */
  readonly head: RequestHead
  readonly organization: OrganizationPolicy
  /** The body, if it had to be read to find the agent. */
  readonly body: SentBody | null
  /** By what it was admitted. */
  readonly facts: AdmittedFacts
}

/** The facts of a call as they are looked up. */
type GatheredFacts = { -readonly [Name in keyof AdmissionFacts]: AdmissionFacts[Name] }

/** The steps of admission: looks up the facts that `admit` asks for, until it admits the call or refuses it. */
export async function admitCall(
  services: AdmissionServices,
  call: ReceivedCall,
): Promise<Step<AdmittedCall>> {
  const { head, record } = call
  const facts: GatheredFacts = { request: requestFacts(call), now_ms: services.nowMs() }
  const settled: SettledChecks = { target: null, integration: null, outgoing: null }
  let organization: OrganizationPolicy | null = null
  let body: SentBody | null = null
  // Each fact is requested at most once.
  for (;;) {
    const admission = admit(facts, settled)
    if (admission.kind !== 'missing') noteAdmission(services.uses, record, admission, call.headers)
    if (admission.kind === 'not_admitted') {
      if (record.facts.agent_id === null) await noteCaller(services, call, facts.caller)
      const url = gatewayUrl(services.settings.gateway, head, call.proxied !== null)
      return refused(admission, accessHint(url, admission, head.method, settled.target))
    }
    if (admission.kind === 'admitted') {
      const { caller, said, request, now_ms } = facts
      const { scope, credential } = admission
      // A call that was admitted by an integration has its credential, so it is not admitted again as one to an unlisted host.
      const unlisted = admission.integration.is_unlisted ? facts.unlisted : undefined
      if (organization === null || caller?.kind !== 'known')
        throw new Error('a call was admitted without its organization')
      const connection_id = credential.credential.connection?.connection_id ?? null
      const by = { request, caller, said, unlisted, now_ms, scope: boundsOf(scope), connection_id }
      return pass(admittedCall(admission, head, organization, body, by))
    }
    switch (admission.fact) {
      case 'caller': {
        record.note('target', 'pass')
        const found = callerOf(services, call, admission.target.raw_query)
        const caller = found instanceof Promise ? await found : found
        const read = readOrganization(services, caller, record)
        organization = read instanceof Promise ? await read : read
        facts.caller = caller
        facts.integrations = organization.table
        if (call.proxied !== null)
          facts.unlisted = {
            by_default: organization.unlisted_hosts,
            closed_hosts: call.proxied.closed_hosts,
          }
        break
      }
      case 'said': {
        record.note('integration', 'pass')
        const sent = headAsSent(head, admission.outgoing.remove)
        const { integration } = admission.integration
        const read = await readIdentity(services, call, sent, integration.strip_agent_id)
        if (read.kind === 'deny') return read
        body = read.value.body
        facts.said = read.value.said
        break
      }
      case 'agent': {
        // Whether an unlisted host may be called is known with the agent.
        const is_unlisted = settled.integration?.is_unlisted === true
        if (facts.said === undefined && !is_unlisted) record.note('integration', 'pass')
        const found = readAgentFacts(services, call.io, admission)
        facts.agent = found instanceof Promise ? await found : found
        facts.locks = lockFacts(services, admission.organization_id)
        if (!is_unlisted) record.note('agent', 'pass')
        break
      }
    }
  }
}

const boundsOf = ({ scope_id, not_before = null, expires_at = null }: Scope) => ({
  scope_id,
  not_before,
  expires_at,
})

/** By the key of the call itself, or of the tunnel that it is in. */
const callerOf = (services: AdmissionServices, call: ReceivedCall, raw_query: string | null) =>
  call.proxied === null
    ? findCaller(services.policy, call.headers, raw_query)
    : callerOfHash(services.policy, call.proxied.key_hash, { kind: 'authorization' })

const refused = (
  { step, reason, details, status, data, retry_after_ms }: NotAdmitted,
  access_request: object | null,
): Step<never> =>
  deny(step, reason, access_request === null ? details : { ...details, access_request }, {
    ...(retry_after_ms === undefined ? {} : { headers: retryAfter(retry_after_ms) }),
    ...(status === undefined ? {} : { status }),
    // The log has what the call itself says already.
    ...(data === undefined && access_request === null ? {} : { data: { ...details, ...data } }),
  })

/** Assigned individually: an object spread takes microseconds here. */
function admittedCall(
  admitted: Admitted,
  head: RequestHead,
  organization: OrganizationPolicy,
  body: SentBody | null,
  facts: AdmittedFacts,
): AdmittedCall {
  const { method, is_socket, target, integration, integrations, outgoing, overrides } = admitted
  const { key, agent, agent_scopes, scope, rule, settings, reading_lock } = admitted
  const { approval, credential } = admitted
  return {
    kind: 'admitted',
    method,
    is_socket,
    target,
    integration,
    integrations,
    outgoing,
    overrides,
    key,
    agent,
    agent_scopes,
    scope,
    rule,
    settings,
    approval,
    credential,
    reading_lock,
    head: headAsSent(head, outgoing.remove),
    organization,
    body,
    facts,
  }
}

function requestFacts({ head, headers, installation, proxied, record }: ReceivedCall) {
  const { method, path, upgrade, agent_ids, users } = head
  const target = parseTarget(path)
  if (target.ok) record.facts.endpoint = describeEndpoint(target.target)
  const is_proxied = proxied !== null
  const named = { named_agents: agent_ids, named_users: users }
  return { method, target, headers, upgrade, ...named, installation, is_proxied }
}

/** A missing or unknown key is treated as one of the default organization, whose integrations are used in step 2. */
function readOrganization(
  { policy, nowMs, settings }: AdmissionServices,
  caller: Caller,
  { facts }: CallRecord,
): OrganizationPolicy | Promise<OrganizationPolicy> {
  if (caller.kind !== 'known') return policy.organization(settings.organization_id)
  const { organization_id } = caller.key
  facts.organization_id = organization_id
  const noting = noteUnusableKey(facts, policy, caller.key, nowMs())
  return noting === null
    ? policy.organization(organization_id)
    : noting.then(() => policy.organization(organization_id))
}
