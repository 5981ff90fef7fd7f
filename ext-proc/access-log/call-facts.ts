import { mintActivityId } from '../../core/activity/activity-id.ts'
import type { PassedCall } from '../call/passed-call.ts'
import type { Outcome } from './outcome-of-call.ts'
import type { FinishedCall } from './read-access-log.ts'

/**
 * The text that goes with the pass and comes back with the access log: organization, event, whether webhooks hear of
 * it, and the members of the entry as JSON, `data` the last, all in ASCII. Every call pays for it, so it is written by
 * hand: JSON.stringify took three times as long.
 */
export function writeCallFacts(call: PassedCall): string {
  const { event, is_delivered, organization_id, facts, steps } = call
  let shown = ''
  for (const { step, outcome, took_us } of steps)
    shown += `${shown === '' ? '' : ','}{"step":"${step}","outcome":"${outcome}","took_us":${took_us}}`
  return (
    `${organization_id}\t${event}\t${is_delivered ? 1 : 0}\t` +
    `{"timestamp":"${call.timestamp}","organization_id":${json(organization_id)}` +
    `,"agent_id":${json(facts.agent_id)},"agent_name":${json(facts.agent_name)}` +
    `,"key_id":${json(facts.key_id)},"integration_id":${json(facts.integration_id)}` +
    `,"scope_id":${json(facts.scope_id)},"rule":${facts.rule}` +
    `,"method":${json(facts.method)},"endpoint":${json(facts.endpoint)}` +
    `,"source_ip":${json(facts.source_ip)},"request_id":${json(facts.request_id)}` +
    `,"edge_id":${json(call.edge_id)},"steps":[${shown}],"data":${dataOf(facts.data)}}`
  )
}

const PLAIN = /^[ !#-[\]-~]*$/
const NOT_ASCII = /[^\0-\x7e]/g

function json(text: string | null): string {
  if (text === null) return 'null'
  return PLAIN.test(text) ? `"${text}"` : inAscii(JSON.stringify(text))
}

function dataOf(data: Readonly<Record<string, unknown>>): string {
  for (const _ in data) return inAscii(JSON.stringify(data))
  return '{}'
}

const inAscii = (text: string): string =>
  text.replaceAll(NOT_ASCII, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** A line of the log: what was known at the pass, and how the call has ended. Null where the text is none of ours. */
export function lineOfCall(
  call: FinishedCall,
  outcome: Outcome,
  now_ms: number,
): { readonly organization_id: string; readonly line: string } | null {
  const { facts } = call
  const first = facts.indexOf('\t')
  const second = facts.indexOf('\t', first + 1)
  const third = facts.indexOf('\t', second + 1)
  if (first < 0 || second < 0 || third < 0 || !facts.endsWith('}}')) return null
  const isEnded = outcome.decision === 'terminated'
  const event = isEnded ? 'request_rejected' : facts.slice(first + 1, second)
  const delivered = !isEnded && facts.charAt(second + 1) === '1' ? event : ''
  const known = facts.slice(third + 2, -2)
  const isFirst = known.endsWith('{')
  return {
    organization_id: facts.slice(0, first),
    line:
      `${delivered}\t{"id":"${mintActivityId(now_ms)}","event":"${event}"` +
      `,"status":${call.status === 0 ? 'null' : call.status},"decision":"${outcome.decision}"` +
      `,"reason":${outcome.reason === null ? 'null' : `"${outcome.reason}"`}` +
      `,"duration_ms":${Math.round(call.duration_ms * 1000) / 1000}` +
      `,"bytes_in":${call.bytes_in},"bytes_out":${call.bytes_out},` +
      `${known}${isFirst ? '' : ','}"upstream":${outcome.upstream}}}\n`,
  }
}
