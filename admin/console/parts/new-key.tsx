import { useState } from 'preact/hooks'
import { type ApiAnswer, ask } from '../api.ts'
import { liveEdges } from '../live-edges.ts'
import { resolveId } from '../resolve-id.ts'
import { useAction } from '../use-action.ts'
import { DialogForm } from './dialog.tsx'
import { InForce } from './in-force.tsx'
import { Picker } from './picker.tsx'

interface Made {
  readonly key: string
  readonly edges: number
}

/** A new key for an agent. A key that a caller has presented is never accepted: who knows it need not be the agent. */
export function NewKey({
  agent_id,
  agent_name,
  onClose,
}: {
  agent_id: string | null
  agent_name: string | null
  onClose: () => void
}) {
  const [agent, setAgent] = useState(agent_id ?? '')
  const [made, setMade] = useState<Made | null>(null)
  const create = useAction(() => createKey(agent), setMade)
  if (made !== null)
    return <InForce title="Key created" new_key={made.key} edges={made.edges} onClose={onClose} />
  return (
    <DialogForm
      title="Create a key"
      submit="Create the key"
      {...create}
      isReady={agent.trim() !== ''}
      onSubmit={create.run}
      onClose={onClose}
    >
      {agent_id === null ? (
        <Picker kind="agents" value={agent} onValue={setAgent} required />
      ) : (
        <p>
          A new key for <strong>{agent_name ?? agent_id}</strong>.
        </p>
      )}
      <p class="muted">The key that the caller has presented stays refused.</p>
    </DialogForm>
  )
}

async function createKey(agent: string): Promise<ApiAnswer<Made>> {
  const found = await resolveId('agents', agent.trim())
  if (!found.ok) return found
  const path = `/admin/agents/${encodeURIComponent(found.id)}/keys`
  const made = await ask<{ readonly key: string }>('POST', path, { body: {} })
  if (!made.ok) return made
  const edges = await liveEdges()
  // The key is shown in any case: it is not stored.
  return { ok: true, value: { key: made.value.key, edges: edges.ok ? edges.value : 0 }, etag: null }
}
