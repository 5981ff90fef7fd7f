import { useContext, useState } from 'preact/hooks'
import { ask } from '../api.ts'
import type { Role, Token } from '../api-types.ts'
import { SecretOnce, Tag } from './bits.tsx'
import { ConfirmButton } from './confirm-button.tsx'
import { DialogForm } from './dialog.tsx'
import { ExpiryField, ChoiceField, TextField, utcOf } from './fields.tsx'
import { PagedTable } from './table.tsx'
import { Time } from './time.tsx'
import { SessionContext } from '../session.ts'
import { useAction } from '../use-action.ts'
import { usePages } from '../use-load.ts'

type Made = Token & { readonly token: string }

/** The admin tokens of the organization, for admins alone. */
export function Tokens() {
  const tokens = usePages<Token>('/admin/tokens')
  const who = useContext(SessionContext)
  const [isMaking, setMaking] = useState(false)
  const [made, setMade] = useState<Made | null>(null)
  return (
    <>
      <p>
        <button type="button" onClick={() => setMaking(true)}>
          Create token
        </button>
      </p>
      {made !== null && <SecretOnce label={`Token of ${made.email}.`} secret={made.token} />}
      <PagedTable
        pages={tokens}
        caption="Admin tokens"
        keyOf={({ token_id }) => token_id}
        empty="No tokens."
        columns={[
          { head: 'E-mail', cell: ({ email }) => email },
          { head: 'Role', cell: ({ role }) => role },
          { head: 'Name', cell: ({ name }) => name },
          { head: 'Key', cell: ({ last4 }) => <code>{last4 === '' ? '' : `…${last4}`}</code> },
          { head: 'Last used', cell: ({ last_used_at }) => <Time at={last_used_at} /> },
          {
            head: 'Expires',
            cell: ({ expires_at: at }) => (
              <>
                {at !== null && Date.parse(at) < Date.now() && <Tag text="expired" />}{' '}
                <Time at={at} />
              </>
            ),
          },
          {
            head: 'Actions',
            cell: ({ token_id, email }) => (
              <ConfirmButton
                label="Delete"
                title={`Delete the token of ${email}?`}
                work={() => ask('DELETE', `/admin/tokens/${token_id}`)}
                onDone={tokens.reload}
              >
                <p>
                  It stops working immediately, and its sessions end.
                  {who?.token_id === token_id && (
                    <strong> You are signed in with this token.</strong>
                  )}
                </p>
              </ConfirmButton>
            ),
          },
        ]}
      />
      {isMaking && (
        <MakeToken
          onClose={() => setMaking(false)}
          onDone={(token) => {
            setMaking(false)
            setMade(token)
            tokens.reload()
          }}
        />
      )}
    </>
  )
}

function MakeToken({ onClose, onDone }: { onClose: () => void; onDone: (made: Made) => void }) {
  const [email, setEmail] = useState('')
  const [name, setName] = useState('')
  const [role, setRole] = useState<Role>('operator')
  const [expiry, setExpiry] = useState('')
  const make = useAction(
    () =>
      ask<Made>('POST', '/admin/tokens', {
        body: {
          email,
          role,
          ...(name === '' ? {} : { name }),
          ...(expiry === '' ? {} : { expires_at: utcOf(expiry) }),
        },
      }),
    onDone,
  )
  return (
    <DialogForm
      title="Create an admin token"
      submit="Create"
      {...make}
      onSubmit={make.run}
      onClose={onClose}
    >
      <TextField label="E-mail" type="email" value={email} onValue={setEmail} required autoFocus />
      <ChoiceField
        label="Role"
        value={role}
        onValue={setRole}
        choices={{
          viewer: 'Viewer: read only',
          operator: 'Operator: also kill, acknowledge, test, replay',
          admin: 'Admin: full access',
        }}
      />
      <TextField label="Name" value={name} onValue={setName} maxLength={200} />
      <ExpiryField value={expiry} onValue={setExpiry} />
    </DialogForm>
  )
}
