import { useState } from 'preact/hooks'
import type { Problem } from '../api.ts'
import { resolveId } from '../resolve-id.ts'
import { ProblemNotice } from './notices.tsx'
import { Picker } from './picker.tsx'

/** A list of agents, each added by name or id. */
export function AgentsField({
  legend,
  ids,
  onIds,
  nameOf,
}: {
  legend: string
  ids: readonly string[]
  onIds: (ids: readonly string[]) => void
  nameOf: (agent_id: string) => string
}) {
  const [typed, setTyped] = useState('')
  const [problem, setProblem] = useState<Problem | null>(null)
  const add = async (): Promise<void> => {
    const found = await resolveId('agents', typed)
    setProblem(found.ok ? null : found.problem)
    if (!found.ok || found.id === '') return
    onIds([...ids.filter((id) => id !== found.id), found.id])
    setTyped('')
  }
  return (
    <fieldset
      onKeyDown={(event) => {
        if (event.key !== 'Enter' || !(event.target instanceof HTMLInputElement)) return
        // Enter would submit the form around it, without the agent that is typed.
        event.preventDefault()
        void add()
      }}
    >
      <legend>{legend}</legend>
      {ids.length === 0 ? (
        <p class="muted">All agents.</p>
      ) : (
        <ul class="plain">
          {ids.map((id) => (
            <li key={id} class="buttons">
              <span title={id}>{nameOf(id)}</span>
              <button
                type="button"
                aria-label={`Remove ${nameOf(id)}`}
                onClick={() => onIds(ids.filter((other) => other !== id))}
              >
                Remove
              </button>
            </li>
          ))}
        </ul>
      )}
      <Picker kind="agents" value={typed} onValue={setTyped} />
      <ProblemNotice problem={problem} />
      <button type="button" onClick={() => void add()}>
        Add agent
      </button>
    </fieldset>
  )
}
