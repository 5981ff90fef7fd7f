import { useContext, useState } from 'preact/hooks'
import { ask } from '../api.ts'
import type { Role, Token } from '../api-types.ts'
import { SecretOnce, Tag } from '../parts/bits.tsx'
import { ConfirmButton } from '../parts/confirm-button.tsx'
import { DialogForm } from '../parts/dialog.tsx'
import { ExpiryField, SelectField, TextField, utcOf } from '../parts/fields.tsx'
import { Keys } from '../parts/keys.tsx'
import { PagedTable } from '../parts/table.tsx'
import { Time } from '../parts/time.tsx'
import { SessionContext, useMay } from '../session.ts'
import { useAction } from '../use-action.ts'
import { usePages } from '../use-load.ts'

type Made = Token & { readonly token: string }

export function AccessPage() {
  const maySee = useMay('admin')
  return (
    <>
      <h1>Tokens and keys</h1>
      <section>
        <h2>Admin tokens</h2>
        {maySee ? <Tokens /> : <p class="empty">Only the role admin sees the admin tokens.</p>}
      </section>
      <section>
        <h2>Keys of the organization</h2>
        <p class="muted">They belong to no agent, so a kill does not revoke them.</p>
        <Keys path="/admin/keys" mayHaveMore ofOrganization />
      </section>
    </>
  )
}

function Tokens() {
  const tokens = usePages<Token>('/admin/tokens')
  const who = useContext(SessionContext)
  const [isMaking, setMaking] = useState(false)
  const [made, setMade] = useState<Made | null>(null)
  return (
    <>
      {made !== null && <SecretOnce label={`The token of ${made.email}.`} secret={made.token} />}
      <PagedTable
        pages={tokens}
        caption="Admin tokens"
        keyOf={({ token_id }) => token_id}
        empty="There is no token."
        columns={[
          { head: 'E-mail', cell: ({ email }) => email },
          { head: 'Role', cell: ({ role }) => role },
          { head: 'Name', cell: ({ name }) => name },
          { head: 'Ends in', cell: ({ last4 }) => <code>{last4 === '' ? '' : `…${last4}`}</code> },
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
            head: 'Do',
            cell: ({ token_id, email }) => (
              <ConfirmButton
                label="Delete"
                title={`Delete the token of ${email}?`}
                work={() => ask('DELETE', `/admin/tokens/${token_id}`)}
                onDone={tokens.reload}
              >
                <p>
                  It opens nothing from then on, and every session that it opened is over.
                  {who?.token_id === token_id && (
                    <strong> It is the one that you are signed in with.</strong>
                  )}
                </p>
              </ConfirmButton>
            ),
          },
        ]}
      />
      <p>
        <button type="button" onClick={() => setMaking(true)}>
          Make a token
        </button>
      </p>
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
      title="Make an admin token"
      submit="Make"
      {...make}
      onSubmit={make.run}
      onClose={onClose}
    >
      <TextField label="E-mail" type="email" value={email} onValue={setEmail} required autoFocus />
      <SelectField
        label="Role"
        value={role}
        onValue={(value) => setRole(value as Role)}
        options={[
          ['viewer', 'viewer: may look'],
          ['operator', 'operator: may also kill, acknowledge, test, replay'],
          ['admin', 'admin: may do all'],
        ]}
      />
      <TextField label="Name" value={name} onValue={setName} maxLength={200} />
      <ExpiryField value={expiry} onValue={setExpiry} />
    </DialogForm>
  )
}
