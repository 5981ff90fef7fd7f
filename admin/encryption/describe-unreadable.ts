import type { SealedKind } from '../../core/keys/seal.ts'
import type { Unreadable } from './find-unreadable.ts'

const NAMED_MAX = 20

/** What holds each kind of value, and how an operator repairs it. */
const KINDS: Readonly<Record<SealedKind, { readonly owner: string; readonly repair: string }>> = {
  credential: {
    owner: 'integration',
    repair: 'PUT the integration with auth, and with its client key if it has one',
  },
  connection_grant: { owner: 'tokens of connection', repair: 'consent to the connection again' },
  minted_token: { owner: 'token of agent', repair: 'wait 25 hours until it expires' },
  webhook_secret: { owner: 'webhook', repair: 'PATCH the webhook with url and secret' },
  idempotent_answer: { owner: 'stored response', repair: 'wait ten minutes until it expires' },
  archive_key: { owner: 'archive key', repair: 'restore it from a backup' },
  access_excerpt: {
    owner: 'access request',
    repair: 'let the agent make its call again, once the request has expired',
  },
  forward_ca: { owner: 'CA of the forward proxy', repair: 'run agw ca rotate replace' },
}

/** One line for each record, at most `NAMED_MAX` of them, and one for each thing to do. */
export function describeUnreadable(found: readonly Unreadable[]): string {
  const lines = found
    .slice(0, NAMED_MAX)
    .map(
      ({ kind, organization_id, id }) =>
        `  ${KINDS[kind].owner} ${id}${organization_id === '' ? '' : ` of organization ${organization_id}`}`,
    )
  const more = found.length - lines.length
  if (more > 0) lines.push(`  and ${more} more`)
  const repairs = new Set(found.map(({ kind }) => KINDS[kind].repair))
  return `${lines.join('\n')}\nTo repair them: ${[...repairs].join('; ')}.`
}
