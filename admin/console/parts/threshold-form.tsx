import { useState } from 'preact/hooks'
import { ask } from '../api.ts'
import type { AnomalyReplay, Scope } from '../api-types.ts'
import { countOf } from '../count-of.ts'
import { isId } from '../is-id.ts'
import { linkTo } from '../place.ts'
import { anomalyWords } from '../scope-words.ts'
import { liveEdges } from '../live-edges.ts'
import { useMay } from '../session.ts'
import { useAction } from '../use-action.ts'
import { useLoad } from '../use-load.ts'
import { AnomalyChart } from './anomaly-chart.tsx'
import { RangeField } from './range-field.tsx'
import { Loaded, ProblemNotice } from './notices.tsx'
import { RoleNote } from './role-note.tsx'

type ReplayedScope = AnomalyReplay['scopes'][number]

/** The score of one scope over time, and its thresholds with what each value would have done. */
export function ThresholdForm({ replay, scope }: { replay: AnomalyReplay; scope: ReplayedScope }) {
  const { scope_id, name } = scope
  const isStored = name !== null && isId('scopes', scope_id)
  const path = `/admin/scopes/${encodeURIComponent(scope_id)}`
  const stored = useLoad<Scope>(isStored ? path : null)
  if (!isStored) return null
  return (
    <section aria-label={name}>
      <h2>
        <a href={linkTo(['scopes', scope_id])}>{name}</a>
      </h2>
      <Loaded from={stored}>
        {(value) => (
          <Thresholds
            key={stored.etag}
            replay={replay}
            scope={scope}
            path={path}
            etag={stored.etag}
            anomaly={value.anomaly_detection}
            onSaved={stored.reload}
          />
        )}
      </Loaded>
    </section>
  )
}

function Thresholds({
  replay,
  scope,
  path,
  etag,
  anomaly,
  onSaved,
}: {
  replay: AnomalyReplay
  scope: ReplayedScope
  path: string
  etag: string | null
  anomaly: Scope['anomaly_detection']
  onSaved: () => void
}) {
  const [alert, setAlert] = useState(anomaly.alert_threshold)
  const [kill, setKill] = useState(anomaly.auto_kill_threshold)
  const mayChange = useMay('admin')
  const chosen = { enabled: true, alert_threshold: alert, auto_kill_threshold: kill }
  const save = useAction(async () => {
    const headers = etag === null ? {} : { 'if-match': etag }
    const answer = await ask('PUT', path, { body: { anomaly_detection: chosen }, headers })
    return answer.ok ? await liveEdges() : answer
  }, onSaved)
  return (
    <>
      <p class="muted">
        {anomaly.enabled ? 'In force: ' : ''}
        {anomalyWords(anomaly)}
      </p>
      <AnomalyChart replay={replay} scope={scope} alert={alert} kill={kill} />
      {scope.learning && (
        <p class="notice warn">
          These calls are too few, or of too few days, to say what is usual. No score would be
          meaningful yet.
        </p>
      )}
      <form
        class="thresholds"
        onSubmit={(event) => {
          event.preventDefault()
          save.run()
        }}
      >
        <Sliders scope={scope} alert={alert} kill={kill} onAlert={setAlert} onKill={setKill} />
        <ProblemNotice problem={save.problem} />
        {mayChange && (
          <button type="submit" class="main" disabled={save.isBusy}>
            {anomaly.enabled ? 'Set thresholds' : 'Enable with these thresholds'}
          </button>
        )}
        <RoleNote role="admin" to="set thresholds" />
      </form>
    </>
  )
}

const Sliders = ({
  scope: { alerts_at },
  alert,
  kill,
  onAlert,
  onKill,
}: {
  scope: ReplayedScope
  alert: number
  kill: number
  onAlert: (value: number) => void
  onKill: (value: number) => void
}) => (
  <div class="pair">
    <RangeField
      label="Alert at score"
      counts={alerts_at}
      words={(count) => countOf(count, 'alert')}
      value={alert}
      onValue={onAlert}
    />
    <RangeField
      label="Kill at score"
      counts={alerts_at}
      words={(count) => countOf(count, 'kill')}
      value={kill}
      onValue={onKill}
    />
  </div>
)
