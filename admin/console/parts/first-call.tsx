import { useContext, useEffect, useRef, useState } from 'preact/hooks'
import {
  type Client,
  CLIENTS,
  clientFor,
  reachableProxy,
  snippetsOf,
} from '../../../core/catalogue/templates/snippets.ts'
import { withQuery } from '../api.ts'
import type { ActivityEntry, Page } from '../api-types.ts'
import { linkTo } from '../place.ts'
import { reasonTitle } from '../reason-title.ts'
import { SessionContext } from '../session.ts'
import { useLoad } from '../use-load.ts'
import { type AddedApi, AddApiButtons } from './add-template.tsx'
import { SecretOnce, Tag } from './bits.tsx'
import { ConnectButton } from './connect-dialog.tsx'
import { CopyButton } from './copy-button.tsx'
import { Tabs } from './tabs.tsx'

const EVERY_MS = 1000
/** More than an agent calls between two reads. */
const ENTRIES = '10'

/** A new agent, or one with a new API: its key, how each client calls with it, and whether it has. */
export function FirstCall({ of }: { of: AddedApi }) {
  const [added, setAdded] = useState<AddedApi>(of)
  const { agent_id, agent_name, api_key, base_url, path, template, consent = null } = added
  const [client, setClient] = useState<Client>(clientFor(template))
  const who = useContext(SessionContext)
  const snippets = snippetsOf({
    proxy_url: reachableProxy(who?.proxy_url ?? '', location.hostname),
    api_key: api_key ?? `the key of ${agent_name}`,
    agent_name,
    base_url,
    path,
    template,
  })
  return (
    <section class="first-call" aria-label="First call">
      {api_key !== null && <SecretOnce label={`Key of ${agent_name}.`} secret={api_key} />}
      {base_url === null ? (
        <>
          <p>
            <strong>{agent_name}</strong> cannot call anything yet. Let it call:
          </p>
          <AddApiButtons
            agent={{ agent_id, agent_name }}
            onAdded={(next) => {
              setAdded({ ...next, api_key })
              setClient(clientFor(next.template))
            }}
          />
          <p class="muted">
            Or <a href={linkTo(['scopes', 'new'], { agent_id })}>add a scope</a> for another API.
          </p>
        </>
      ) : (
        <p>
          <strong>{agent_name}</strong> may call <code>{base_url}</code>.
        </p>
      )}
      {consent !== null && <ConnectButton {...consent} />}
      <Tabs label="Clients" names={CLIENTS} value={client} onValue={setClient}>
        <pre tabIndex={0}>{snippets[client]}</pre>
        <CopyButton label="Copy" text={snippets[client]} />
      </Tabs>
      <Received agent_id={agent_id} agent_name={agent_name} isNew={of.api_key !== null} />
    </section>
  )
}

/** The newest call of the agent since this was opened. */
function Received({
  agent_id,
  agent_name,
  isNew,
}: {
  agent_id: string
  agent_name: string
  /** Then no call is older than this. */
  isNew: boolean
}) {
  const entries = useLoad<Page<ActivityEntry>>(
    withQuery('/admin/activity', { agent_id, limit: ENTRIES }),
    EVERY_MS,
  ).value
  const before = useRef<ReadonlySet<string> | null>(isNew ? new Set() : null)
  useEffect(() => {
    if (before.current === null && entries !== null)
      before.current = new Set(entries.data.map(({ id }) => id))
  }, [entries])
  const calls = (entries?.data ?? []).filter(
    ({ id, decision }) => decision !== null && before.current?.has(id) === false,
  )
  const call = calls.find(({ decision }) => decision === 'allowed') ?? calls[0]
  if (call === undefined)
    return (
      <p role="status" class="waiting">
        Waiting for the first call of {agent_name} …
      </p>
    )
  const { id, decision, method, endpoint, status, reason } = call
  return (
    <p role="status">
      <Tag text={decision === 'allowed' ? 'ok' : 'refused'} />{' '}
      {decision === 'allowed' ? 'Received' : 'Refused'}: {method} <code>{endpoint}</code>, {status}
      {reason !== null && `, ${reasonTitle(reason)}`}. <a href={linkTo(['activity', id])}>View</a>
    </p>
  )
}
