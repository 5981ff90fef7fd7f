import { useId } from 'preact/hooks'
import { withQuery } from '../api.ts'
import type { Agent, Integration, Page } from '../api-types.ts'
import { useLoad } from '../use-load.ts'
import { useSettled } from '../use-settled.ts'
import { TextField } from './fields.tsx'

const SHOWN = '20'
const LABELS = { agents: 'Agent', integrations: 'Integration' } as const

/** Selects an agent or integration by name or id; matching names are suggested. `resolveId` finds the id of a name. */
export function Picker({
  kind,
  value,
  onValue,
  required = false,
}: {
  kind: keyof typeof LABELS
  value: string
  onValue: (id: string) => void
  required?: boolean
}) {
  const list = useId()
  const settled = useSettled(value.trim())
  const { value: page } = useLoad<Page<Partial<Agent & Integration>>>(
    withQuery(`/admin/${kind}`, { q: settled, limit: SHOWN }),
  )
  const chosen = page?.data.find(
    (one) => value !== '' && (one.agent_id ?? one.integration_id) === value,
  )
  return (
    <>
      <TextField
        label={LABELS[kind]}
        hint={chosen?.agent_name ?? chosen?.name}
        value={value}
        onValue={onValue}
        required={required}
        list={list}
        placeholder="Name or id"
        maxLength={128}
      />
      <datalist id={list}>
        {(page?.data ?? []).map((one) => {
          const id = one.agent_id ?? one.integration_id
          return (
            <option key={id} value={id}>
              {one.agent_name ?? `${one.name} · ${one.base_url}`}
            </option>
          )
        })}
      </datalist>
    </>
  )
}
