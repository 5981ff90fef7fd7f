import type { MemberChange } from './differences.ts'
import type { ConfigChange } from './plan-changes.ts'
import { SECTION_RESOURCES } from './section-resources.ts'
import { terminalText } from '../terminal/terminal-text.ts'

/** Longer values are truncated; `-o json` prints them in full. */
const VALUE_LIMIT = 60
const SIGN = { create: '+', update: '~', delete: '-' } as const

const kindOf = (change: ConfigChange) =>
  change.action === 'delete' ? change.kind : change.entry.kind

/** A change as text: one line, and one for each changed member. */
export function changeLines(change: ConfigChange): string {
  const head = `${SIGN[change.action]} ${SECTION_RESOURCES[kindOf(change)].name} ${terminalText(change.title)}\n`
  return change.action === 'update' ? head + change.members.map(memberLine).join('') : head
}

const memberLine = ({ member, before, after, secret }: MemberChange): string =>
  `    ${terminalText(member)}: ${secret ? 'written again' : `${short(before)} → ${short(after)}`}\n`

/** A change as one JSON object, without secrets. */
export function changeObject(change: ConfigChange): object {
  const kind = kindOf(change)
  return {
    action: change.action,
    kind: SECTION_RESOURCES[kind].name,
    name: change.title,
    ...(change.action === 'create' ? {} : { id: change.shown[SECTION_RESOURCES[kind].id] }),
    ...(change.action === 'update' ? { members: change.members } : {}),
  }
}

function short(value: unknown): string {
  if (value === undefined) return '(none)'
  const text = JSON.stringify(value)
  return terminalText(text.length > VALUE_LIMIT ? `${text.slice(0, VALUE_LIMIT)}…` : text)
}
