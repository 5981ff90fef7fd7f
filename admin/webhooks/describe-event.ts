import { eventRow } from '../../core/catalogue/events.ts'
import type { Envelope } from '../../core/change/build-envelope.ts'
import { shortText } from '../../core/system/short-text.ts'

/** One line of a message. */
export interface Fact {
  readonly label: string
  readonly value: string
}

/** An event as a message for people. Every text is one line without control characters, so that it cannot look like another. */
export interface EventMessage {
  readonly title: string
  readonly summary: string
  readonly facts: readonly Fact[]
  /** Parts of the console's address that show more. */
  readonly page: readonly string[]
}

/** Members that are shown; the console has the others. A message of Slack has at most 10 fields. */
const FACTS_MAX = 10
/** With these, a message stays far below the limits of Slack (3,000 characters a text) and Teams (28 KB). */
const VALUE_LENGTH = 500
const SUMMARY_LENGTH = 1_000

/** The message of an envelope. Names and values come from agents, APIs and operators: they are data. */
export function describeEvent(envelope: Envelope): EventMessage {
  const { id, event, organization_id, agent_id, agent_name, data } = envelope
  const row = eventRow(event)
  const agent = agent_id === null ? [] : [{ label: 'Agent', value: `${agent_name} (${agent_id})` }]
  const members = Object.entries(data)
    .filter(([, value]) => value !== null && value !== '')
    .map(([name, value]) => ({ label: labelOf(name), value: textOf(value) }))
  const facts = [...agent, { label: 'Organization', value: organization_id }, ...members]
  return {
    title: row?.title ?? 'Agent Access Gateway',
    summary: plain(row?.summary(data) ?? '', SUMMARY_LENGTH),
    facts: facts
      .slice(0, FACTS_MAX)
      .map(({ label, value }) => ({ label, value: plain(value, VALUE_LENGTH) })),
    page: pageOf(id, data),
  }
}

/** An access request has a page; a test is in no log. */
function pageOf(id: string, { request_id }: Envelope['data']): readonly string[] {
  if (typeof request_id === 'string' && request_id.startsWith('arq_'))
    return ['requests', request_id]
  return id.startsWith('act_') ? ['activity', id] : ['webhooks']
}

const labelOf = (name: string): string =>
  `${name.slice(0, 1).toUpperCase()}${name.slice(1).replaceAll('_', ' ')}`

const textOf = (value: unknown): string =>
  typeof value === 'string'
    ? value
    : Array.isArray(value)
      ? value.map(textOf).join(', ')
      : JSON.stringify(value)

/** One line: other characters than those that print could reorder the text or hide a part of it. */
const plain = (text: string, length_max: number): string =>
  shortText(text.slice(0, 2 * length_max).replaceAll(/\s+/g, ' '), length_max).replaceAll(
    /[^\P{C}]|[\u2028\u2029]/gu,
    '\uFFFD',
  )
