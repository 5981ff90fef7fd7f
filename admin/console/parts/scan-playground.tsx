import { useState } from 'preact/hooks'
import { type ApiAnswer, ask } from '../api.ts'
import type { ScanReport, Scope } from '../api-types.ts'
import { linkTo } from '../place.ts'
import { resolveId } from '../resolve-id.ts'
import { markRanges } from '../mark-ranges.ts'
import { useAction } from '../use-action.ts'
import { Tag } from './bits.tsx'
import { SelectField, TextArea } from './fields.tsx'
import { ProblemNotice } from './notices.tsx'
import { Picker } from './picker.tsx'
import { Table } from './table.tsx'

/** A report with the text that it is about; the field may have changed since. */
interface Scanned {
  readonly text: string
  readonly report: ScanReport
  /** The scope whose settings were used. */
  readonly scope: Scope | null
}

/** Shows what the scanner finds in a text, and where: with the settings of a scope, or with those of a new one. */
export function ScanPlayground({ of }: { of: string }) {
  const [body, setBody] = useState('')
  const [chosen, setChosen] = useState(of)
  const [sensitivity, setSensitivity] = useState('medium')
  const [content_type, setType] = useState('text/plain')
  const [scanned, setScanned] = useState<Scanned | null>(null)
  const scan = useAction(
    async (text: string) => {
      const scope = await scopeNamed(chosen)
      if (!scope.ok) return scope
      const injection_detection = scope.value?.injection_detection ?? { sensitivity }
      const answer = await ask<ScanReport>('POST', '/admin/scan', {
        body: { body: text, content_type, injection_detection },
      })
      return answer.ok
        ? { ...answer, value: { text, report: answer.value, scope: scope.value } }
        : answer
    },
    (value: Scanned) => setScanned(value),
  )
  return (
    <>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          setScanned(null)
          scan.run(body)
        }}
      >
        <TextArea label="Body" rows={6} value={body} onValue={setBody} required />
        <SelectField
          label="Content type"
          value={content_type}
          onValue={setType}
          options={[
            ['text/plain', 'plain text'],
            ['application/json', 'JSON'],
            ['application/x-www-form-urlencoded', 'a form'],
          ]}
        />
        <Picker kind="scopes" value={chosen} onValue={setChosen} />
        {chosen.trim() === '' && (
          <SelectField
            label="Sensitivity"
            hint="With a scope, its own sensitivity, patterns and exceptions apply."
            value={sensitivity}
            onValue={setSensitivity}
            options={[
              ['low', 'low'],
              ['medium', 'medium'],
              ['high', 'high'],
            ]}
          />
        )}
        <ProblemNotice problem={scan.problem} />
        <button type="submit" class="main" disabled={scan.isBusy}>
          {scan.isBusy ? 'Scanning …' : 'Scan'}
        </button>
      </form>
      {scanned !== null && <Findings {...scanned} />}
    </>
  )
}

/** The scope that a name or an id stands for; null for neither. */
async function scopeNamed(text: string): Promise<ApiAnswer<Scope | null>> {
  const found = await resolveId('scopes', text)
  if (!found.ok) return found
  if (found.id === '') return { ok: true, value: null, etag: null }
  return await ask<Scope>('GET', `/admin/scopes/${encodeURIComponent(found.id)}`)
}

/** The learned model finds a section of the text; where a pattern says which words of it, these are enough. */
const precise = (detections: Scanned['report']['detections']): Scanned['report']['detections'] =>
  detections.filter(
    (one) =>
      one.category !== 'learned' ||
      !detections.some((other) => other !== one && other.start < one.end && other.end > one.start),
  )

const Findings = ({ text, report: { blocked, detections }, scope }: Scanned) => (
  <>
    <div class={`notice ${blocked ? 'bad' : 'good'}`} role="status">
      <p>
        <strong>{blocked ? 'It would be blocked.' : 'It would be allowed.'}</strong>
        {scope !== null && (
          <>
            {' '}
            Scanned with the settings of{' '}
            <a href={linkTo(['scopes', scope.scope_id])}>{scope.name}</a>
            {scope.injection_detection.enabled ? '.' : ', which does not scan requests.'}
          </>
        )}
      </p>
    </div>
    {detections.length > 0 && (
      <pre tabIndex={0} role="region" aria-label="Body with findings marked">
        {markRanges(text, precise(detections)).map(({ part, isMarked }) =>
          isMarked ? <mark>{part}</mark> : part,
        )}
      </pre>
    )}
    <Table
      caption="Findings"
      rows={detections}
      keyOf={({ pattern_name, location, start }) => `${pattern_name} ${location} ${start}`}
      empty="No findings."
      columns={[
        { head: 'Pattern', cell: ({ pattern_name, category }) => `${pattern_name} (${category})` },
        { head: 'Severity', cell: ({ severity }) => <Tag text={severity} /> },
        { head: 'Where', cell: ({ location }) => <code>{location}</code> },
        { head: 'Text', cell: ({ matched_text }) => matched_text },
      ]}
    />
  </>
)
