import { findOverrides } from '../../core/policy/find-overrides.ts'
import { outgoingRequest } from '../../core/policy/outgoing-request.ts'
import type { Answer, CallStreamParts } from './call-stream.ts'
import { type Call, type DeciderParts, deny, given } from './call.ts'
import { type AskedCall, checkScope } from './check-scope.ts'
import { checkBodyOverrides } from './check-body-overrides.ts'
import { checkRate } from './check-rate.ts'
import { checkTools } from './check-tools.ts'
import { findIntegration, findTarget } from './find-integration.ts'
import { findPresentedKey } from './find-presented-key.ts'
import { forwardCall } from './forward-call.ts'
import { identifyAgent } from './identify-agent.ts'
import { askForToken, readyCredential } from './ready-credential.ts'
import { noteUnusableKey } from './note-unusable-key.ts'
import { headAsSent, readHead } from './read-head.ts'
import { askForBody, readNeededBody } from './read-needed-body.ts'
import { scanCall } from './scan-call.ts'

export const makeDecider =
  (parts: DeciderParts): CallStreamParts['decide'] =>
  (headers, io, record) =>
    decide({ parts, headers, io, record, head: readHead(headers) })

/** Asks the questions of contract §3 in their order; the first no answers. */
async function decide(received: Call): Promise<Answer> {
  const { parts, headers, record } = received
  if (!parts.mayServe()) return deny(record, 'lease', 'gateway_unavailable')

  const installation = await parts.installation()
  const aimed = findTarget(received, installation)
  if (!aimed.ok) return aimed.answer
  const target = aimed.value

  const presented = await findPresentedKey(parts.policy, headers, target.raw_query)
  const organization_id =
    presented.kind === 'known' ? presented.key.organization_id : parts.settings.organization_id
  if (presented.kind === 'known') {
    record.facts.organization_id = organization_id
    await noteUnusableKey(received, presented.key)
  }
  const found = parts.policy.organization(organization_id)
  const organization = found instanceof Promise ? await found : found
  const covered = findIntegration(received, organization, target)
  if (!covered.ok) return covered.answer
  const integration = covered.value

  const outgoing = outgoingRequest(headers, target.raw_query, integration.owned)
  const call = { ...received, head: headAsSent(received.head, outgoing.remove) }

  const identified = await identifyAgent(call, presented, integration)
  if (!identified.ok) return identified.answer
  const identity = identified.value

  const asked: AskedCall = { identity, integration, organization, target, outgoing }
  const overrides = findOverrides(outgoing.headers, outgoing.raw_query)
  const scoped = checkScope(call, asked, overrides)
  if (!scoped.ok) return scoped.answer

  const rating = checkRate(call, asked, scoped.value)
  if (rating !== null) askForBody(call, asked, scoped.value)
  const rated = rating === null ? given(null) : await rating
  if (!rated.ok) return rated.answer

  askForToken(call, asked)
  const read = await readNeededBody(call, asked, scoped.value)
  if (!read.ok) return read.answer
  const { body, facts } = read.value
  const named = checkBodyOverrides(call, asked, scoped.value, overrides, facts)
  if (!named.ok) return named.answer
  record.mark('body', 'pass')
  const tooled = checkTools(call, asked, scoped.value, facts)
  if (!tooled.ok) return tooled.answer
  const blocked = await scanCall(call, asked, scoped.value, facts)
  if (blocked !== null) return blocked
  const readying = readyCredential(call, asked, body?.bytes ?? null)
  const credential = readying instanceof Promise ? await readying : readying
  if (!credential.ok) return credential.answer
  const settled = parts.settled()
  if (settled !== null) await settled
  return forwardCall(call, asked, {
    body,
    credential: credential.value,
    installation,
    settings: scoped.value.settings,
    quota: rated.value,
    lists_tools: tooled.value.lists_tools,
  })
}
