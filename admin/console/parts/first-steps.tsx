import { useState } from 'preact/hooks'
import type { Stats } from '../api-types.ts'
import { linkTo } from '../place.ts'
import { useMay } from '../session.ts'
import { type AddedApi, AddApiButtons } from './add-template.tsx'
import { FirstCall } from './first-call.tsx'
import { RoleNote } from './role-note.tsx'

/** Until the first call has passed: one dialog makes an API, an agent and its scope, and shows how to call. */
export function FirstSteps({ stats: { activity } }: { stats: Stats }) {
  const [added, setAdded] = useState<AddedApi | null>(null)
  const mayChange = useMay('admin')
  if (added !== null) return <FirstCall of={added} />
  if ((activity.by_decision['allowed'] ?? 0) > 0) return null
  return (
    <section>
      <h2>First steps</h2>
      {mayChange ? (
        <>
          <p>Let an agent call an API. It gets a key of the gateway instead of that of the API.</p>
          <AddApiButtons onAdded={setAdded} />
          <p class="muted">
            Another API: <a href={linkTo(['integrations'], { do: 'create' })}>add an integration</a>
            , then <a href={linkTo(['agents'], { do: 'create' })}>create an agent</a>. From a
            terminal: <code>agw quickstart</code>
          </p>
        </>
      ) : (
        <p>
          No call has passed yet. <RoleNote role="admin" to="add APIs and agents" />
        </p>
      )}
    </section>
  )
}
