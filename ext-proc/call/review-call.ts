import { isDeepStrictEqual } from 'node:util'
import { admit } from '../../core/decision/admit.ts'
import { admitBody } from '../../core/decision/admit-body.ts'
import type { Caller, RequestFacts } from '../../core/decision/admission-facts.ts'
import type { ApiKey } from '../../core/model.ts'
import type { EffectiveSettings } from '../../core/policy/merge-settings.ts'
import type { Overrides } from '../../core/policy/overrides.ts'
import type { SaidIdentity } from '../../core/policy/read-body-identity.ts'
import type { Denial } from '../verdict/denial.ts'
import type { Standing } from '../verdict/standing.ts'
import { deny } from '../verdict/step.ts'
import type { AdmissionServices } from './admit-call.ts'
import { callerOfHash } from './caller-of-hash.ts'
import { readAgentFacts } from './read-agent-facts.ts'

/** By what a call was admitted. */
export interface AdmittedFacts {
  readonly request: RequestFacts
  readonly caller: Extract<Caller, { readonly kind: 'known' }>
  readonly said: SaidIdentity | undefined
  readonly now_ms: number
}

export type ReviewServices = Pick<AdmissionServices, 'policy' | 'killBoard' | 'nowMs'>

interface StandingCall {
  readonly facts: AdmittedFacts
  readonly is_socket: boolean
  readonly settings: EffectiveSettings
}

/** @param inBody methods and paths that the body names; null if it was not read */
export const standingOf = (
  services: ReviewServices,
  { facts, is_socket, settings }: StandingCall,
  inBody: Overrides | null,
): Standing => {
  // A call is held here as long as it lasts.
  const socket = is_socket ? settings : null
  return {
    key_hash: facts.caller.key.hash,
    review: () => reviewCall(services, facts, inBody, socket),
  }
}

/** @param socket by which the messages of a WebSocket are scanned; null for any other call */
async function reviewCall(
  services: ReviewServices,
  { request, caller: { key, place }, said, now_ms }: AdmittedFacts,
  inBody: Overrides | null,
  socket: EffectiveSettings | null,
): Promise<Denial | null> {
  const { policy, nowMs } = services
  const caller = await callerOfHash(policy, key.hash, place)
  const { table } = await policy.organization(key.organization_id)
  const facts = {
    request,
    caller,
    integrations: table,
    ...(said === undefined ? {} : { said }),
    now_ms: hasNewExpiry(caller, key) ? nowMs() : now_ms,
  }
  let admission = admit(facts)
  if (admission.kind === 'missing' && admission.fact === 'agent')
    admission = admit({ ...facts, agent: await readAgentFacts(services, IN_FLIGHT, admission) })
  if (admission.kind === 'missing') throw new Error(`the fact ${admission.fact} is not known`)
  const refused =
    admission.kind === 'admitted'
      ? inBody === null
        ? null
        : admitBody(admission, inBody)
      : admission
  if (refused !== null) return deny(refused.step, refused.reason, refused.details).denial
  const isOther =
    socket !== null && admission.kind === 'admitted' && !scanAlike(admission.settings, socket)
  return isOther ? SCANNED_OTHERWISE : null
}

/** A WebSocket may stay open for days, so a new one is needed for the settings of now. */
const SCANNED_OTHERWISE = deny('scope', 'upgrade_not_supported', {
  reason: 'settings_changed',
}).denial

const scanAlike = (a: EffectiveSettings, b: EffectiveSettings): boolean =>
  a === b || (a.max_body_bytes === b.max_body_bytes && isDeepStrictEqual(a.injection, b.injection))

/** The end of a key ends calls only if it was changed: time alone does not. */
export const hasNewExpiry = (caller: Caller, admitted: ApiKey): boolean =>
  caller.kind === 'known' && caller.key.expires_at !== admitted.expires_at

/** It is registered already. */
export const IN_FLIGHT = { registerInFlight: (): void => undefined }
