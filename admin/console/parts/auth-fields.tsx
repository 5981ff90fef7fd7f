import type { CredentialType, Integration, Page } from '../api-types.ts'
import { useLoad } from '../use-load.ts'
import { SelectField, TextField } from './fields.tsx'

export type Auth = Readonly<Record<string, string>> & { readonly type: string }

type Types = readonly CredentialType[]

const membersOf = (types: Types, auth: Auth): CredentialType['members'] =>
  types.find(({ type }) => type === auth.type)?.members ?? []

/** A credential to be stored; it can never be read back. `types` are those of /admin/credential-types. */
export function AuthFields({
  types,
  auth,
  onAuth,
}: {
  types: Types
  auth: Auth
  onAuth: (auth: Auth) => void
}) {
  return (
    <fieldset>
      <legend>Credential</legend>
      <SelectField
        label="Kind"
        value={auth.type}
        onValue={(type) => onAuth({ type })}
        options={types.map(({ type, label }) => [type, label] as const)}
      />
      {membersOf(types, auth).map(({ name, is_secret, is_required, may_be_empty }) => (
        <TextField
          key={`${auth.type} ${name}`}
          label={name.replaceAll('_', ' ')}
          member={`/auth/${name}`}
          type={is_secret ? 'password' : 'text'}
          value={auth[name] ?? ''}
          onValue={(value) => onAuth({ ...auth, [name]: value })}
          required={is_required && !may_be_empty}
        />
      ))}
    </fieldset>
  )
}

export const useCredentialTypes = (): Types =>
  useLoad<Page<CredentialType>>('/admin/credential-types').value?.data ?? []

/** The value for the API: an empty optional member is omitted unless it may be empty. */
export function givenAuth(types: Types, auth: Auth): object {
  const given = membersOf(types, auth).flatMap(({ name, is_required }) => {
    const value = auth[name] ?? ''
    return is_required || value !== '' ? [[name, value] as const] : []
  })
  return { type: auth.type, ...Object.fromEntries(given) }
}

/** A stored credential as the API shows it. */
export function describeAuth(auth: Integration['auth']): string {
  const shown = Object.entries(auth)
    .filter(([name]) => name !== 'type')
    .map(([name, value]) => {
      if (value !== null && typeof value === 'object') return `${name} ${value.ref}`
      return name.endsWith('_last4')
        ? `${name.slice(0, -6)} ${value ? `…${value}` : 'stored'}`
        : `${name} ${value}`
    })
  return [auth.type, ...shown].join(' · ')
}
