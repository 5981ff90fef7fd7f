import { useId } from 'preact/hooks'
import { withQuery } from '../api.ts'
import type { Agent, Integration, Page, Scope } from '../api-types.ts'
import { NAMED_KINDS, type NamedKind } from '../named-kinds.ts'
import { useLoad } from '../use-load.ts'
import { useSettled } from '../use-settled.ts'
import { TextField } from './fields.tsx'

const SHOWN = '20'

/** Selects an agent, integration or scope by name or id; matching names are suggested. `resolveId` finds the id of a name. */
export function Picker({
  kind,
  value,
  onValue,
  required = false,
}: {
  kind: NamedKind
  value: string
  onValue: (id: string) => void
  required?: boolean
}) {
  const { label, id, name } = NAMED_KINDS[kind]
  const list = useId()
  const settled = useSettled(value.trim())
  const { value: page } = useLoad<Page<Partial<Agent & Integration & Scope>>>(
    withQuery(`/admin/${kind}`, { q: settled, limit: SHOWN }),
  )
  const chosen = page?.data.find((one) => value !== '' && one[id] === value)
  return (
    <>
      <TextField
        label={label}
        hint={chosen?.[name]}
        value={value}
        onValue={onValue}
        required={required}
        list={list}
        placeholder="Name or id"
        maxLength={128}
      />
      <datalist id={list}>
        {(page?.data ?? []).map((one) => (
          <option key={one[id]} value={one[id]}>
            {[one[name], one.base_url].filter(Boolean).join(' · ')}
          </option>
        ))}
      </datalist>
    </>
  )
}
