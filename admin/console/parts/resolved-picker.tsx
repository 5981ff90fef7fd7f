import { useEffect, useState } from 'preact/hooks'
import type { Problem } from '../api.ts'
import type { NamedKind } from '../named-kinds.ts'
import { resolveId } from '../resolve-id.ts'
import { useSettled } from '../use-settled.ts'
import { ProblemNotice } from './notices.tsx'
import { Picker } from './picker.tsx'

/** By name or id: what is typed counts when it names one. */
export function ResolvedPicker({
  kind,
  onId,
}: {
  kind: NamedKind
  /** Null while nothing is named. */
  onId: (id: string | null) => void
}) {
  const [typed, setTyped] = useState('')
  const [problem, setProblem] = useState<Problem | null>(null)
  const settled = useSettled(typed.trim())
  useEffect(() => {
    let isWanted = true
    onId(null)
    setProblem(null)
    if (settled !== '')
      void resolveId(kind, settled).then((found) => {
        if (!isWanted) return
        if (found.ok) onId(found.id)
        else setProblem(found.problem)
      })
    return () => void (isWanted = false)
  }, [kind, settled])
  return (
    <>
      <Picker
        kind={kind}
        value={typed}
        onValue={(text) => {
          // What is typed next is no longer what the id was resolved from.
          onId(null)
          setTyped(text)
        }}
        required
      />
      <ProblemNotice problem={problem} isOfAction={false} />
    </>
  )
}
