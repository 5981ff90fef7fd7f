import { isDeepStrictEqual } from 'node:util'
import { admit } from '../../core/decision/admit.ts'
import { admitBody } from '../../core/decision/admit-body.ts'
import type { Admitted } from '../../core/decision/admission.ts'
import {
  connectionText,
  type DigestedCall,
  policyHash,
  recordHash,
} from '../../core/approval/call-digest.ts'
import type { Caller, RequestFacts } from '../../core/decision/admission-facts.ts'
import type { Agent, ApiKey, Scope } from '../../core/catalogue/model.ts'
import type { ChosenCredential } from '../../core/decision/choose-credential.ts'
import type { CompiledIntegration } from '../../core/decision/compile-integrations.ts'
import type { AgentScopes } from '../../core/decision/compile-scopes.ts'
import type { EffectiveSettings } from '../../core/decision/merge-settings.ts'
import type { Overrides } from '../../core/request/overrides.ts'
import type { SaidIdentity } from '../../core/request/read-body-identity.ts'
import type { UnlistedFacts } from '../../core/decision/unlisted-hosts.ts'
import type { BodyFacts } from '../../core/inspection/read-body.ts'
import type { Standing } from '../verdict/standing.ts'
import { type Deny, deny } from '../verdict/step.ts'
import type { AdmissionServices } from './admit-call.ts'
import { deniedByLock } from '../verdict/denied-by-lock.ts'
import { callerOfHash } from './caller-of-hash.ts'
import { lockFacts } from './lock-facts.ts'
import { readAgentFacts } from './read-agent-facts.ts'

/** By what a call was admitted. */
export interface AdmittedFacts {
  readonly request: RequestFacts
  readonly caller: Extract<Caller, { readonly kind: 'known' }>
  readonly said: SaidIdentity | undefined
  /** Only if the host is an unlisted one. */
  readonly unlisted?: UnlistedFacts | undefined
  readonly now_ms: number
  /** Of the scope that governs it. */
  readonly scope: {
    readonly scope_id: string
    readonly not_before: string | null
    readonly expires_at: string | null
  }
  /** Whose credential it has; null: of the integration. */
  readonly connection_id: string | null
}

export type ReviewServices = Pick<AdmissionServices, 'policy' | 'killBoard' | 'nowMs'>

interface StandingCall {
  readonly facts: AdmittedFacts
  readonly agent: Agent
  readonly integration: CompiledIntegration
  readonly scope: Scope
  readonly is_socket: boolean
  readonly settings: EffectiveSettings
}

/**
 * @param read of the body; null if it was not read
 * @param is_reading whether the call does nothing but read
 * @param approved by what it passes, if it needs an approval
 */
export const standingOf = (
  services: ReviewServices,
  { facts, agent, integration, scope, is_socket, settings }: StandingCall,
  read: Pick<BodyFacts, 'overrides'> | null,
  is_reading: boolean,
  approved: { readonly grant_id?: string } | null = null,
): Standing => {
  const inBody = read?.overrides ?? null
  const subject = {
    agent,
    key_id: facts.caller.key.key_id,
    integration_id: integration.integration.integration_id,
    scope_id: scope.scope_id,
    grant_id: approved?.grant_id ?? null,
    is_reading,
  }
  // A call is held here as long as it lasts.
  const socket = is_socket ? settings : null
  const standing = {
    key_hash: facts.caller.key.hash,
    subject,
    ends_ms: endOf(scope),
    review: async () => {
      const reviewed = await reviewCall(services, facts, inBody, socket, is_reading)
      if (reviewed.kind === 'deny') return reviewed.denial
      standing.ends_ms = endOf(reviewed.scope)
      const { scope_id } = reviewed.scope
      standing.subject = { ...subject, agent: reviewed.agent, scope_id }
      return null
    },
  }
  return standing
}

/** The body or the credential of a call may have taken so long that its scope has ended. */
export const reviewIfEnded = (
  { nowMs }: Pick<ReviewServices, 'nowMs'>,
  { ends_ms, review }: Standing,
): Promise<Deny | null> | null =>
  ends_ms == null || ends_ms > nowMs()
    ? null
    : review().then((denial) =>
        denial === null ? null : ({ kind: 'deny', step: 'scope', denial } as const),
      )

/** What an approval depends on beside the call. */
export type ApprovedBy = Pick<DigestedCall, 'policy_sha256' | 'integration_sha256' | 'connection'>

/** An approved call is sent only if all that its approval depends on is as it was. Null if it is. */
export async function reviewApproved(
  services: ReviewServices,
  { facts }: Pick<StandingCall, 'facts'>,
  body: Pick<BodyFacts, 'overrides'> | null,
  { subject }: Pick<Standing, 'subject'>,
  { approved }: { readonly approved: ApprovedBy },
): Promise<Deny | null> {
  const inBody = body?.overrides ?? null
  const reviewed = await reviewCall(services, facts, inBody, null, subject.is_reading)
  if (reviewed.kind === 'deny') return reviewed
  const { scope, approval, integration, credential } = reviewed
  const isSame =
    policyHash(scope, approval?.by ?? []) === approved.policy_sha256 &&
    recordHash(integration.integration) === approved.integration_sha256 &&
    connectionText(credential.credential.connection) === approved.connection
  return isSame ? null : deny('approval', 'approval_expired', { cause: 'changed' })
}

/** When the calls that a scope governs end; null if they may run on. */
const endOf = ({ expires_at = null, end_streams = false }: Scope): number | null =>
  expires_at === null || !end_streams ? null : Date.parse(expires_at)

type Reviewed = Pick<Admitted, 'scope' | 'agent' | 'integration' | 'approval' | 'credential'> & {
  readonly kind: 'stands'
}

/** @param socket by which the messages of a WebSocket are scanned; null for any other call */
async function reviewCall(
  services: ReviewServices,
  admitted: AdmittedFacts,
  inBody: Overrides | null,
  socket: EffectiveSettings | null,
  is_reading: boolean,
): Promise<Deny | Reviewed> {
  const { request, caller: by, said, unlisted, now_ms, scope } = admitted
  const { key, place } = by
  const { policy, nowMs } = services
  const caller = await callerOfHash(policy, key.hash, place)
  const { table, unlisted_hosts } = await policy.organization(key.organization_id)
  const facts = {
    request,
    caller,
    integrations: table,
    ...(said === undefined ? {} : { said }),
    ...(unlisted === undefined ? {} : { unlisted: { ...unlisted, by_default: unlisted_hosts } }),
    now_ms: hasNewExpiry(caller, key) ? nowMs() : now_ms,
  }
  let admission = admit(facts)
  if (admission.kind === 'missing' && admission.fact === 'agent') {
    const agent = await readAgentFacts(services, IN_FLIGHT, admission)
    const scopes_at_ms = endsByItself(agent.scopes, scope) ? now_ms : nowMs()
    const locks = lockFacts(services, admission.organization_id)
    admission = admit({ ...facts, agent, scopes_at_ms, locks })
  }
  if (admission.kind === 'missing') throw new Error(`the fact ${admission.fact} is not known`)
  const refused =
    admission.kind === 'admitted'
      ? inBody === null
        ? null
        : admitBody(admission, inBody)
      : admission
  if (refused !== null) return deny(refused.step, refused.reason, refused.details)
  if (admission.kind !== 'admitted') throw new Error('a call is neither refused nor admitted')
  const disconnected = checkConnection(admission.credential, admitted.connection_id)
  if (disconnected !== null) return disconnected
  const { reading_lock: lock } = admission
  if (lock !== null && !is_reading)
    return { kind: 'deny', step: 'scope', denial: deniedByLock(lock, nowMs()) }
  return socket !== null && !scanAlike(admission.settings, socket)
    ? SCANNED_OTHERWISE
    : { ...admission, kind: 'stands' }
}

/** A running call ends with its connection: that cannot be used any more, or the call would get another credential now. */
function checkConnection(
  { kind, credential: { connection }, ...choice }: ChosenCredential,
  connection_id: string | null,
): Deny | null {
  if (kind === 'refused' && 'status' in choice)
    return deny('credential', 'connection_required', { connection_id, status: choice.status })
  return connection_id === null || connection?.connection_id === connection_id
    ? null
    : deny('credential', 'connection_required', { connection_id, status: 'changed' })
}

/** Whether the scope that a call was admitted by is in force as it was, and lets running calls outlive its end. */
function endsByItself(
  scopes: AgentScopes,
  { scope_id, not_before, expires_at }: AdmittedFacts['scope'],
): boolean {
  if (scopes.bounds_ms.length === 0) return true
  const own = [...scopes.by_integration.values()].flatMap((there) => there.scopes)
  const found = [...own, ...scopes.selecting].find(({ scope }) => scope.scope_id === scope_id)
  return (
    found !== undefined &&
    found.scope.end_streams !== true &&
    (found.scope.not_before ?? null) === not_before &&
    (found.scope.expires_at ?? null) === expires_at
  )
}

/** A WebSocket may stay open for days, so a new one is needed for the settings of now. */
const SCANNED_OTHERWISE = deny('scope', 'upgrade_not_supported', {
  reason: 'settings_changed',
})

const scanAlike = (a: EffectiveSettings, b: EffectiveSettings): boolean =>
  a === b || (a.max_body_bytes === b.max_body_bytes && isDeepStrictEqual(a.injection, b.injection))

/** The end of a key ends calls only if it was changed: time alone does not. */
export const hasNewExpiry = (caller: Caller, admitted: ApiKey): boolean =>
  caller.kind === 'known' && caller.key.expires_at !== admitted.expires_at

/** It is registered already. */
export const IN_FLIGHT = { registerInFlight: (): void => undefined }
