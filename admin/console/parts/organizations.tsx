import { useContext, useState } from 'preact/hooks'
import { ask, withQuery } from '../api.ts'
import type { Agent, Organization } from '../api-types.ts'
import { SessionContext } from '../session.ts'
import { useAction } from '../use-action.ts'
import { type Paged, usePages } from '../use-load.ts'
import { SecretOnce, Tag } from './bits.tsx'
import { DialogForm } from './dialog.tsx'
import { CheckField, NameField, TextField } from './fields.tsx'
import { LockButton } from './stop-dialog.tsx'
import { PagedTable } from './table.tsx'
import { Time } from './time.tsx'
import { UnlistedField } from './unlisted-field.tsx'

type Made = Organization & { readonly admin_token: string }
type Open =
  | { readonly kind: 'create' }
  | { readonly kind: 'edit' | 'delete'; readonly organization: Organization }

/** The tenants of the deployment; only admins of the default organization see them. */
export function Organizations() {
  const organizations = usePages<Organization>('/admin/organizations')
  const [open, setOpen] = useState<Open | null>(null)
  const [made, setMade] = useState<Made | null>(null)
  if (organizations.problem?.status === 403)
    return <p class="empty">Only the default organization sees the others.</p>
  const done = (): void => {
    setOpen(null)
    organizations.reload()
  }
  return (
    <>
      <p>
        <button type="button" onClick={() => setOpen({ kind: 'create' })}>
          Create organization
        </button>
      </p>
      {made !== null && (
        <SecretOnce label={`First admin token of ${made.name}.`} secret={made.admin_token} />
      )}
      <OrganizationTable organizations={organizations} onOpen={setOpen} />
      {open?.kind === 'create' && (
        <CreateOrganization
          onClose={() => setOpen(null)}
          onDone={(organization) => {
            setMade(organization)
            done()
          }}
        />
      )}
      {open?.kind === 'edit' && (
        <EditOrganization of={open.organization} onClose={() => setOpen(null)} onDone={done} />
      )}
      {open?.kind === 'delete' && (
        <DeleteOrganization of={open.organization} onClose={() => setOpen(null)} onDone={done} />
      )}
    </>
  )
}

function OrganizationTable({
  organizations,
  onOpen,
}: {
  organizations: Paged<Organization>
  onOpen: (open: Open) => void
}) {
  const who = useContext(SessionContext)
  const isOwn = ({ organization_id }: Organization): boolean =>
    organization_id === who?.organization_id
  return (
    <PagedTable
      pages={organizations}
      caption="Organizations"
      keyOf={({ organization_id }) => organization_id}
      empty="No organizations."
      columns={[
        {
          head: 'Name',
          cell: (organization) => (
            <>
              {organization.name} {isOwn(organization) && <Tag text="yours" />}
            </>
          ),
        },
        { head: 'Id', cell: ({ organization_id }) => <code>{organization_id}</code> },
        { head: 'Created', cell: ({ created_at }) => <Time at={created_at} /> },
        {
          head: 'Actions',
          cell: (organization) => (
            <span class="buttons">
              <button type="button" onClick={() => onOpen({ kind: 'edit', organization })}>
                Edit
              </button>
              <LockButton
                about={`the organization ${organization.name}`}
                target={{ organization_id: organization.organization_id }}
              />
              {!isOwn(organization) && (
                <button
                  type="button"
                  class="danger quiet"
                  onClick={() => onOpen({ kind: 'delete', organization })}
                >
                  Delete
                </button>
              )}
            </span>
          ),
        },
      ]}
    />
  )
}

function CreateOrganization({
  onClose,
  onDone,
}: {
  onClose: () => void
  onDone: (made: Made) => void
}) {
  const [name, setName] = useState('')
  const [email, setEmail] = useState('')
  const body = { name, ...(email === '' ? {} : { admin_email: email }) }
  const create = useAction(() => ask<Made>('POST', '/admin/organizations', { body }), onDone)
  return (
    <DialogForm
      title="Create an organization"
      submit="Create"
      {...create}
      onSubmit={create.run}
      onClose={onClose}
    >
      <NameField member="/name" value={name} onValue={setName} />
      <TextField
        label="E-mail of its first admin"
        member="/admin_email"
        type="email"
        value={email}
        onValue={setEmail}
      />
      <p class="muted">
        Its agents, integrations, keys and log are separate. Its first admin token is shown once.
      </p>
    </DialogForm>
  )
}

interface Changing {
  readonly of: Organization
  readonly onClose: () => void
  readonly onDone: () => void
}

function EditOrganization({ of, onClose, onDone }: Changing) {
  const [name, setName] = useState(of.name)
  const [unlisted_hosts, setUnlisted] = useState<Agent['unlisted_hosts']>(of.unlisted_hosts)
  const path = `/admin/organizations/${of.organization_id}`
  const body = { name, unlisted_hosts }
  const save = useAction(() => ask('PATCH', path, { body }), onDone)
  return (
    <DialogForm
      title={`Edit ${of.name}`}
      submit="Save"
      {...save}
      onSubmit={save.run}
      onClose={onClose}
    >
      <NameField member="/name" value={name} onValue={setName} />
      <UnlistedField value={unlisted_hosts} onValue={setUnlisted} />
    </DialogForm>
  )
}

function DeleteOrganization({ of, onClose, onDone }: Changing) {
  const [name, setName] = useState('')
  const [isWhole, setWhole] = useState(false)
  const path = withQuery(`/admin/organizations/${of.organization_id}`, {
    cascade: isWhole ? 'true' : undefined,
  })
  const remove = useAction(() => ask('DELETE', path), onDone)
  return (
    <DialogForm
      title={`Delete ${of.name}?`}
      submit="Delete"
      {...remove}
      isReady={name === of.name}
      isDanger
      onSubmit={remove.run}
      onClose={onClose}
    >
      <p>Its tokens and keys stop working immediately. This cannot be undone.</p>
      <CheckField
        label="Also delete its agents and integrations"
        value={isWhole}
        onValue={setWhole}
      />
      <TextField label={`Type “${of.name}” to confirm`} value={name} onValue={setName} required />
    </DialogForm>
  )
}
