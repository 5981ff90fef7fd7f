import { useState } from 'preact/hooks'
import { linesOf, TextArea } from './fields.tsx'

/** A list with one entry per line. The text stays as typed while it is parsed as a list. */
export function ListArea({
  label,
  hint,
  member,
  list,
  onList,
  rows = 2,
  required = false,
}: {
  label: string
  hint?: string
  member?: string
  list: readonly string[]
  onList: (list: readonly string[]) => void
  rows?: number
  required?: boolean
}) {
  const [text, setText] = useState(list.join('\n'))
  return (
    <TextArea
      label={label}
      hint={hint}
      member={member}
      rows={Math.max(rows, Math.min(list.length + 1, 12))}
      required={required}
      value={text}
      onValue={(value) => {
        setText(value)
        onList(linesOf(value))
      }}
    />
  )
}
