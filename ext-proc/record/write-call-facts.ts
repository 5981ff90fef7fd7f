import type { PassedCall } from './passed-call.ts'

/**
 * The text that goes with the pass and comes back with the access log: organization, event, whether webhooks receive
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
