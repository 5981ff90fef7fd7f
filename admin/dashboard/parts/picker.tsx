import { useId } from 'preact/hooks'
import { withQuery } from '../api.ts'
import type { Agent, Integration, Page } from '../api-types.ts'
import { useLoad } from '../use-load.ts'
import { useSettled } from '../use-settled.ts'
import { TextField } from './fields.tsx'

const SHOWN = '20'
const LABELS = { agents: 'Agent', integrations: 'Integration' } as const

/** Selects an agent or integration by id; matching names are suggested. */
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
  const { value: page } = useLoad<Page<Partial<Agent & Integration>>>(
    withQuery(`/admin/${kind}`, { q: useSettled(value.trim()), limit: SHOWN }),
  )
  return (
    <>
      <TextField
        label={LABELS[kind]}
        value={value}
        onValue={onValue}
        required={required}
        list={list}
        placeholder="id, or type a name"
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
