import { EVENT_NAMES, eventRow } from '../../core/catalogue/events.ts'
import { REASONS } from '../../core/catalogue/reasons.ts'
import { table } from '../terminal/table.ts'

const HANDLING = {
  kept: 'always',
  bounded: 'bounded',
  gathered: 'at most two per agent and minute, the second with the number of others',
} as const

/** Every event: what is recorded and delivered, and the members of its `data`. */
export function eventsPage(): string {
  const rows = EVENT_NAMES.flatMap((name) => {
    const row = eventRow(name)
    return row === null ? [] : [{ name, ...row, errors: errorsOf(name) }]
  })
  return `# Events

An event is one entry of the activity log. Webhooks can subscribe to those marked below; *bounded*: up to their
[limits](../guides/webhooks.md#limits). *Counted*: not recorded one by one beyond 120 per agent, error and minute.

${table(
  ['event', 'recorded when', 'webhooks receive it', 'when frequent', 'alert'],
  rows.map(({ name, description, delivery, when_frequent, may_alert }) => [
    `\`${name}\``,
    description,
    delivery === null ? 'no' : HANDLING[delivery.handling],
    when_frequent === 'counted' ? 'counted' : 'recorded',
    may_alert ? 'possible' : 'no',
  ]),
)}

## Members of \`data\`

These members are always present, and null if there is no value. More may be added.
${rows
  .flatMap(({ name, delivery, errors }) => [
    ...(delivery === null ? [] : [`\n### ${name}\n`]),
    ...(delivery === null || errors.length === 0 ? [] : [`Errors: ${errors.join(', ')}.\n`]),
    ...(delivery === null ? [] : [membersOf(name, delivery.members)]),
  ])
  .join('\n')}

### test

Sent by \`POST /webhooks/{id}/test\` only; it cannot be subscribed to. \`message\` is a sentence.
`
}

const membersTable = (members: Readonly<Record<string, string>>): string =>
  table(
    ['member', 'content'],
    Object.entries(members).map(([member, what]) => [`\`${member}\``, what]),
  )

/** The members of an event, or the event before it that has the same. */
function membersOf(name: string, members: Readonly<Record<string, string>>): string {
  const shown = membersTable(members)
  const same = EVENT_NAMES.slice(
    0,
    EVENT_NAMES.findIndex((other) => other === name),
  ).find((other) => {
    const earlier = eventRow(other)?.delivery
    return earlier !== null && earlier !== undefined && membersTable(earlier.members) === shown
  })
  return same === undefined ? shown : `The same as [${same}](#${same}).`
}

const errorsOf = (name: string): string[] =>
  Object.entries(REASONS).flatMap(([code, { event }]) =>
    event === name ? [`[\`${code}\`](errors.md)`] : [],
  )
