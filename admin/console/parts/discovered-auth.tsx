import { useState } from 'preact/hooks'
import { ask } from '../api.ts'
import type { CredentialType } from '../api-types.ts'
import { useMay } from '../session.ts'
import { useAction } from '../use-action.ts'
import { type Auth, AuthFields } from './auth-fields.tsx'
import { TextField } from './fields.tsx'
import { ProblemNotice } from './notices.tsx'

interface Proposal {
  readonly auth: Readonly<Record<string, string>>
  readonly warnings: readonly string[]
}

/** A credential; the endpoints of an OAuth provider can be read from it, and are shown to be confirmed. */
export function DiscoveredAuth({
  types,
  auth,
  onAuth,
}: {
  types: readonly CredentialType[]
  auth: Auth
  onAuth: (auth: Auth) => void
}) {
  const [url, setUrl] = useState('')
  const [warnings, setWarnings] = useState<readonly string[]>([])
  const mayDiscover = useMay('admin')
  const read = useAction(
    () => ask<Proposal>('POST', '/admin/oauth/discover', { body: { url } }),
    (proposal) => {
      setWarnings(proposal.warnings)
      onAuth({ ...auth, ...proposal.auth, type: auth.type })
    },
  )
  return (
    <>
      {mayDiscover && auth.type === 'oauth2_authorization_code' && (
        <fieldset>
          <legend>Provider</legend>
          <TextField
            label="Issuer"
            hint="Its endpoints are read and filled in below. Check them: the client secret goes there."
            type="url"
            value={url}
            onValue={setUrl}
          />
          <button type="button" disabled={read.isBusy || url === ''} onClick={() => read.run()}>
            {read.isBusy ? 'Working …' : 'Read the endpoints'}
          </button>
          <ProblemNotice problem={read.problem} />
          {warnings.map((warning) => (
            <p key={warning} class="notice warn">
              {warning}
            </p>
          ))}
        </fieldset>
      )}
      <AuthFields types={types} auth={auth} onAuth={onAuth} />
    </>
  )
}
