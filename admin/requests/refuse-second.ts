import type { Actor, AdminContext } from '../context/admin-context.ts'
import { conflict, type Refusal } from '../http/outcome.ts'
import { approvalsOf, type KnownRequest } from './read-requests.ts'

/** Of a request that needs two people: why this one does not count. Null if the person does, or if one is enough. */
export function refuseSecond(
  { settings }: Pick<AdminContext, 'settings'>,
  { email }: Pick<Actor, 'email'>,
  { fields, agent }: KnownRequest,
): Refusal | null {
  if (Number(fields.needed) < 2) return null
  const { created_by = '', labels = {} } = agent?.record ?? {}
  if (isSame(email, created_by) || isOwner(labels['owner'] ?? '', email))
    return {
      kind: 'refusal',
      error: 'forbidden',
      message:
        'This request needs two people who have not created the agent and do not own it (its label owner).',
    }
  if (isSame(email, settings.adminEmail))
    return {
      kind: 'refusal',
      error: 'forbidden',
      message:
        'This request needs two people, and the first admin token may be shared. Approve it with a token of your own.',
    }
  return approvalsOf(fields).some((approval) => isSame(approval.email, email))
    ? conflict('already_approved', 'You have approved this request. It needs another person too.')
    : null
}

const isSame = (a: string, b: string): boolean => a.trim().toLowerCase() === b.trim().toLowerCase()

/** A label cannot hold an `@`: it may be the address with another character, or the part before it. */
function isOwner(label: string, email: string): boolean {
  const [local = ''] = email.split('@', 1)
  return label !== '' && [email, local].some((name) => plain(name) === plain(label))
}

const plain = (text: string): string => text.toLowerCase().replace(/[^a-z0-9]+/g, '-')
