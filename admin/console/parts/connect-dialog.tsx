import { useState } from 'preact/hooks'
import { ask } from '../api.ts'
import type { Connection, Integration } from '../api-types.ts'
import { subjectWords } from '../connection-words.ts'
import { useAction } from '../use-action.ts'
import { useNames } from '../use-names.ts'
import { Facts } from './bits.tsx'
import { DialogForm } from './dialog.tsx'

/** Of a new API whose calls are refused until somebody consents. */
export function ConnectButton({
  connection,
  integration,
}: {
  connection: Connection
  integration: Pick<Integration, 'name' | 'base_url'>
}) {
  const [isOpen, setOpen] = useState(false)
  const { integration_id, connection_id } = connection
  return (
    <>
      <p>
        Its calls are refused until somebody consents at the provider.{' '}
        <button type="button" onClick={() => setOpen(true)}>
          Connect {integration.name}
        </button>
      </p>
      {isOpen && (
        <ConnectDialog
          connection={connection}
          path={`/admin/integrations/${integration_id}/connections/${connection_id}`}
          integration={integration}
          onClose={() => setOpen(false)}
        />
      )}
    </>
  )
}

/** What is going to be asked of the provider, before anything is. Then the browser goes there. */
export function ConnectDialog({
  connection,
  path,
  integration,
  onClose,
}: {
  connection: Connection
  path: string
  integration: Pick<Integration, 'name' | 'base_url'>
  onClose: () => void
}) {
  const agentName = useNames('agents')
  const consent = useAction(
    () => ask<{ readonly authorize_url: string }>('POST', `${path}/authorize`, { body: {} }),
    ({ authorize_url }) => openProvider(authorize_url),
  )
  return (
    <DialogForm
      title={`Connect ${connection.name}?`}
      submit="Continue to the provider"
      {...consent}
      onSubmit={consent.run}
      onClose={onClose}
    >
      <ConsentFacts
        connection={connection}
        integration={integration}
        whose={subjectWords(connection.subject, agentName)}
      />
      <p class="muted">
        Sign in there as the account that the calls are to act for. You have ten minutes, in this
        browser.
      </p>
    </DialogForm>
  )
}

/** @param whose whose calls will get the tokens */
const ConsentFacts = ({
  connection: { auth },
  integration: { name, base_url },
  whose,
}: {
  connection: Connection
  integration: Pick<Integration, 'name' | 'base_url'>
  whose: string
}) => (
  <Facts
    facts={[
      ['API', name],
      ['base URL', <code key="u">{base_url}</code>],
      ['for', whose],
      [
        'rights',
        // Some providers separate by commas alone, where no line ends.
        textOf(auth, 'scope')?.replaceAll(/,(?=\S)/g, ', ') ??
          'those that the provider gives by default',
      ],
      ['provider', <code key="p">{textOf(auth, 'authorization_url') ?? ''}</code>],
      ['as the client', <code key="c">{textOf(auth, 'client_id') ?? ''}</code>],
    ]}
  />
)

function textOf(auth: Connection['auth'], member: string): string | null {
  const value = (auth as Readonly<Record<string, unknown>>)[member]
  return typeof value === 'string' && value !== '' ? value : null
}

/** Only a web address: others would run in this page. */
export function openProvider(url: string): void {
  if (/^https?:$/.test(new URL(url).protocol)) location.assign(url)
}
