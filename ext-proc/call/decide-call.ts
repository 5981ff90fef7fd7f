import { type Batch, describeParts } from '../../core/request/batch.ts'
import type { BodyFacts } from '../../core/inspection/read-body.ts'
import type { Header } from '../../core/request/header.ts'
import type { SecretReferences } from '../../core/secret/secret-references.ts'
import type { TokenCache, TokenOrder } from '../credential/token-cache.ts'
import type { CallRecord } from '../record/call-record.ts'
import type { Standing } from '../verdict/standing.ts'
import { type Deny, deny, type Pass, pass, type Step } from '../verdict/step.ts'
import { DIRECT, type EgressWay, type EgressWays } from '../upstream/egress-ways.ts'
import type { Verdict } from '../verdict/verdict.ts'
import { type AdmissionServices, type AdmittedCall, admitCall } from './admit-call.ts'
import type { CallIo } from './call-io.ts'
import type { SentBody } from './buffer-body.ts'
import { causeOf } from './cause-of.ts'
import { type ApprovalServices, checkApproval, type TakenApproval } from './check-approval.ts'
import { type Answered, askToConnect, readConnectState } from './ask-by-url.ts'
import { checkAccessGrant } from './check-access-grant.ts'
import { checkBodyOverrides } from './check-body-overrides.ts'
import { checkRate, type RateServices } from './check-rate.ts'
import { checkTools } from './check-tools.ts'
import { type FilledCredential, fillCredential } from './fill-credential.ts'
import { type ForwardServices, forwardCall } from './forward-call.ts'
import { planBody } from './plan-body.ts'
import { planSocket } from './plan-socket.ts'
import type { ProxiedCall } from './proxied-call.ts'
import { type BodyServices, readCallBody } from './read-call-body.ts'
import { readHead } from './read-head.ts'
import {
  askForToken,
  type ConnectUrl,
  denyCredential,
  type ReadyCredential,
  readyCredential,
} from './ready-credential.ts'
import { isReading } from './is-reading-call.ts'
import { denyWay } from './deny-way.ts'
import { refusalAsResult, toolResultOf } from './tool-result.ts'
import { reviewApproved, reviewIfEnded, standingOf } from './review-call.ts'
import { scanCall, type ScanServices } from './scan-call.ts'

/** Dependencies shared by all decisions of a process. Each step declares the ones it needs. */
export type DecisionServices = AdmissionServices &
  RateServices &
  BodyServices &
  ScanServices &
  ApprovalServices &
  ForwardServices & {
    readonly tokens: Pick<TokenCache, 'get' | 'rejected'>
    readonly references: Pick<SecretReferences, 'resolve'>
    /**
     * Null, or, after this process was paused, a promise that resolves when the messages received in the meantime (kills) have
     * been processed.
     */
    readonly caughtUp: () => Promise<void> | null
    readonly egress: Pick<EgressWays, 'wayTo'>
    readonly connectUrl: ConnectUrl
    /** Whether credentials may be attached, or are held until Envoy's configuration has been checked. */
    readonly mayAttach: () => boolean
    /** The name in `Via`; empty while it is not in the store. */
    readonly installation: () => string | Promise<string>
  }

/**
 * Decides a call: runs the checks in order; the first one that fails determines the response. The caller of this function
 * records the step of a refusal.
 * @throws (rejects) on a bug or an outage; the call is then refused
 */
export async function decideCall(
  services: DecisionServices,
  headers: readonly Header[],
  io: CallIo,
  record: CallRecord,
  proxied: ProxiedCall | null = null,
): Promise<Verdict> {
  const verdict = await decide(services, headers, io, record, proxied)
  return verdict.kind === 'deny' && record.mcp !== null
    ? await toolResultOf(services, verdict, headers, io, record)
    : verdict
}

async function decide(
  services: DecisionServices,
  headers: readonly Header[],
  io: CallIo,
  record: CallRecord,
  proxied: ProxiedCall | null,
): Promise<Verdict> {
  if (!services.mayServe())
    return deny('lease', 'gateway_unavailable', causeOf(services.whyUnavailable(null)))
  const named = services.installation()
  const installation = typeof named === 'string' ? named : await named

  const received = { head: readHead(headers), headers, installation, proxied, io, record }
  const admitted = await admitCall(services, received)
  if (admitted.kind === 'deny') return admitted
  const call = admitted.value
  const plan = planBody(call, io, record.mcp, services.settings.max_body_bytes)
  const taking = checkRate(services, call, record.facts.endpoint, io)
  const rate = taking === null ? UNLIMITED : await taking
  if (rate.kind === 'deny') return rate
  if (taking !== null) record.note('rate', 'pass')

  const asked = io.has_body ? askForToken(services, call) : null
  const body = plan === null ? UNREAD : await readCallBody(services, call, plan, io, record)
  if (body.kind === 'deny') return body
  const { sent, facts } = body.value
  noteParts(record, facts?.overrides.batch)
  const overrides = facts === null ? ALLOWED : checkBodyOverrides(call, facts)
  if (overrides.kind === 'deny') return overrides
  record.note('body', 'pass')

  const tools = checkTools(call, record.mcp, facts, io)
  if (tools.kind === 'deny') return tools
  if (tools.value.is_checked) record.note('tools', 'pass')

  const scanning = scanOf(services, call, facts, io, record)
  const found = scanning instanceof Promise ? await scanning : scanning
  if (found !== null) return found

  const choosing = wayOfCall(services, call)
  const way = choosing instanceof Promise ? await choosing : choosing
  if (way.kind === 'refused') return denyWay(call.integration.base.base_url, way)

  const answered = readConnectState(services, call, sent, facts)
  if (answered.kind === 'deny') return answered
  const asking = approvalOf(services, call, sent, facts, record, io)
  const approval = asking === null ? null : await asking
  if (approval?.kind === 'deny') return approval

  const bytes = approval?.value?.body ?? answered.value?.body ?? sent
  const filling = credentialOf(services, call, headers, bytes, asked, answered.value)
  const credential = filling instanceof Promise ? await filling : filling
  if (credential.kind === 'deny')
    return unsent(approval, shownCredential(services, call, sent, facts, credential))
  const standing = standingOf(services, call, facts, isReading(call, facts, io), approval?.value)
  const reviewing = lastReview(services, call, facts, standing, approval?.value ?? null)
  const ended = reviewing === null ? null : await reviewing
  if (ended !== null) return unsent(approval, ended)
  const caughtUp = services.caughtUp()
  if (caughtUp !== null) await caughtUp
  const steps = {
    body: bytes,
    credential: credential.value,
    installation,
    rate: rate.value,
    lists_tools: tools.value.lists_tools,
    has_body: io.has_body,
    is_proxied: proxied !== null,
    standing,
    way,
    socket: call.is_socket ? planSocket(services, call, io, record) : null,
  }
  const verdict = forwardCall(services, call, steps, record)
  if (verdict.kind === 'deny') return unsent(approval, verdict)
  return approval?.value?.forward(verdict) ?? verdict
}

/** Null if it passes, or is not scanned. */
function scanOf(
  services: ScanServices,
  call: AdmittedCall,
  facts: BodyFacts | null,
  io: CallIo,
  record: CallRecord,
): Deny | null | Promise<Deny | null> {
  if (!call.settings.injection.enabled) return null
  record.setAside(-(facts?.scan_ms ?? 0))
  const note = (scan: Awaited<ReturnType<typeof scanCall>>): Deny | null => {
    if (scan.kind === 'deny') return scan
    record.scanned(scan.value)
    return null
  }
  const scanning = scanCall(services, call, facts, io)
  return scanning instanceof Promise ? scanning.then(note) : note(scanning)
}

/** A person has to act: of a tool call the model has to see the link. */
const shownCredential = (
  services: DecisionServices,
  call: AdmittedCall,
  sent: SentBody | null,
  facts: BodyFacts | null,
  refused: Deny,
): Deny =>
  refused.denial.reason === 'connection_required'
    ? (askToConnect(services, call, sent, facts, refused) ?? refusalAsResult(refused, facts))
    : refused

const unsent = (taken: Pass<TakenApproval | null> | null, refused: Deny): Deny | Promise<Deny> =>
  taken?.value?.unsent(refused) ?? refused

/** Null if the call depends on no one's approval. */
const approvalOf = (
  services: ApprovalServices,
  call: AdmittedCall,
  sent: SentBody | null,
  facts: BodyFacts | null,
  record: CallRecord,
  io: CallIo,
): Promise<Step<TakenApproval | null>> | null =>
  call.approval === null && call.scope.grant === undefined
    ? null
    : checkApprovals(services, call, sent, facts, record, io)

/** That of the access which governs the call, and that of the call itself. */
async function checkApprovals(
  services: ApprovalServices,
  call: AdmittedCall,
  sent: SentBody | null,
  facts: BodyFacts | null,
  record: CallRecord,
  io: CallIo,
): Promise<Step<TakenApproval | null>> {
  const lapsed =
    call.scope.grant === undefined ? null : await checkAccessGrant(services, call, record)
  if (lapsed !== null) return lapsed
  // An approval is used up; a call without a connection is refused whatever is approved.
  return call.approval === null || call.credential.kind === 'refused'
    ? pass(null)
    : await checkApproval(services, call, call.approval, sent?.bytes ?? null, facts, record, io)
}

/** Null if nothing can have changed that the call depends on, apart from what a kill or a lock is. */
const lastReview = (
  services: AdmissionServices,
  call: AdmittedCall,
  facts: BodyFacts | null,
  standing: Standing,
  taken: TakenApproval | null,
): Promise<Deny | null> | null =>
  taken === null
    ? reviewIfEnded(services, standing)
    : reviewApproved(services, call, facts, standing, taken)

type Attaching = Pick<
  DecisionServices,
  'tokens' | 'references' | 'connectUrl' | 'mayAttach' | 'nowMs'
>

function credentialOf(
  services: Attaching,
  call: AdmittedCall,
  headers: readonly Header[],
  sent: SentBody | null,
  asked: TokenOrder | null,
  answered: Answered | null,
): Step<FilledCredential> | Promise<Step<FilledCredential>> {
  const readying = readyCredential(services, call, headers, sent?.bytes ?? null, asked)
  const filled =
    readying instanceof Promise
      ? readying.then((ready) => attach(services, call, ready))
      : attach(services, call, readying)
  return answered === null ? filled : Promise.resolve(filled).then(answered.spend)
}

function attach(
  { mayAttach, nowMs }: Attaching,
  call: AdmittedCall,
  ready: Step<ReadyCredential>,
): Step<FilledCredential> {
  if (ready.kind === 'deny') return ready
  return !mayAttach() && call.credential.credential.auth.type !== 'none'
    ? denyCredential(call, { cause: 'doctor_not_passed' })
    : fillCredential(call, ready.value, nowMs())
}

function wayOfCall(
  { egress, settings }: Pick<DecisionServices, 'egress' | 'settings'>,
  { integration: { base, is_unlisted } }: AdmittedCall,
): EgressWay | Promise<EgressWay> {
  const isEcho = base.origin === settings.echo_origin
  return isEcho ? DIRECT : egress.wayTo(base.host, base.port, is_unlisted)
}

function noteParts({ facts }: CallRecord, batch: Batch | undefined): void {
  if (batch !== undefined) facts.data['parts'] = describeParts(batch)
}

const UNLIMITED = pass(null)
const UNREAD = pass({ sent: null, facts: null })
const ALLOWED = pass(null)
