import { SelectField, TextField } from './fields.tsx'

/** By kind of credential: its members, those that are secret, and those that may be left out. */
const KINDS: Readonly<Record<string, { text: string; members: readonly string[] }>> = {
  bearer: { text: 'Bearer token', members: ['token'] },
  header: { text: 'A header', members: ['name', 'value'] },
  basic: { text: 'Basic: user and password', members: ['username', 'password'] },
  query: { text: 'A query parameter', members: ['name', 'value'] },
  none: { text: 'None', members: [] },
  oauth2_client_credentials: {
    text: 'OAuth 2 client credentials',
    members: ['token_url', 'client_id', 'client_secret', 'scope'],
  },
  aws_sigv4: {
    text: 'AWS Signature 4',
    members: ['access_key_id', 'secret_access_key', 'session_token', 'region', 'service'],
  },
}
const SECRET = ['token', 'value', 'password', 'client_secret', 'secret_access_key', 'session_token']
const OPTIONAL = ['scope', 'session_token', 'password']

export type Auth = Readonly<Record<string, string>> & { readonly type: string }

/** A credential to be stored. It is never read back. */
export function AuthFields({ auth, onAuth }: { auth: Auth; onAuth: (auth: Auth) => void }) {
  return (
    <fieldset>
      <legend>Credential</legend>
      <SelectField
        label="Kind"
        value={auth.type}
        onValue={(type) => onAuth({ type })}
        options={Object.entries(KINDS).map(([kind, { text }]) => [kind, text] as const)}
      />
      {(KINDS[auth.type]?.members ?? []).map((member) => (
        <TextField
          key={`${auth.type} ${member}`}
          label={member.replaceAll('_', ' ')}
          type={SECRET.includes(member) ? 'password' : 'text'}
          value={auth[member] ?? ''}
          onValue={(value) => onAuth({ ...auth, [member]: value })}
          required={!OPTIONAL.includes(member)}
        />
      ))}
    </fieldset>
  )
}

/** Without the optional members that were left empty. */
export const givenAuth = (auth: Auth): object =>
  Object.fromEntries(
    Object.entries(auth).filter(([name, value]) => value !== '' || name === 'password'),
  )

/** What a read shows of a stored credential. */
export function describeAuth(auth: Auth): string {
  const shown = Object.entries(auth)
    .filter(([name]) => name !== 'type')
    .map(([name, value]) =>
      name.endsWith('_last4')
        ? `${name.slice(0, -6)} ${value ? `…${value}` : 'stored'}`
        : `${name} ${value}`,
    )
  return [auth.type, ...shown].join(' · ')
}
