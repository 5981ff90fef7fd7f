import { useState } from 'preact/hooks'
import type { Page, Pattern } from '../api-types.ts'
import { countOf } from '../count-of.ts'
import { useLoad } from '../use-load.ts'
import { Tag } from './bits.tsx'
import { SelectField, TextField } from './fields.tsx'
import { Loaded } from './notices.tsx'
import { Table } from './table.tsx'

const ANY = ''
const SEVERITIES = ['critical', 'high', 'medium'] as const

/** The built-in patterns, filtered as one types. */
export function PatternList() {
  const patterns = useLoad<Page<Pattern>>('/admin/patterns')
  const [text, setText] = useState('')
  const [severity, setSeverity] = useState(ANY)
  const wanted = text.trim().toLowerCase()
  return (
    <>
      <form class="filter" role="search" onSubmit={(event) => event.preventDefault()}>
        <TextField label="Name, category or text" type="search" value={text} onValue={setText} />
        <SelectField
          label="Severity"
          value={severity}
          onValue={setSeverity}
          options={[[ANY, 'any'], ...SEVERITIES.map((one) => [one, one] as const)]}
        />
      </form>
      <Loaded from={patterns}>
        {({ data }) => {
          const rows = data.filter(
            (one) =>
              (severity === ANY || one.severity === severity) &&
              [one.name, one.category, one.description].some((value) =>
                value.toLowerCase().includes(wanted),
              ),
          )
          return (
            <>
              <p class="muted" role="status">
                {rows.length} of {countOf(data.length, 'pattern')}
              </p>
              <Table
                caption="Patterns"
                rows={rows}
                keyOf={({ name }) => name}
                empty="No matching patterns."
                columns={[
                  { head: 'Pattern', cell: ({ name }) => <code>{name}</code> },
                  { head: 'Category', cell: ({ category }) => category.replaceAll('_', ' ') },
                  { head: 'Severity', cell: (one) => <Tag text={one.severity} /> },
                  { head: 'Detects', cell: ({ description }) => description },
                ]}
              />
            </>
          )
        }}
      </Loaded>
    </>
  )
}
