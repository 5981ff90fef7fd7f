import { useState } from 'preact/hooks'
import { ask } from '../api.ts'
import type { ScanReport } from '../api-types.ts'
import { markRanges } from '../mark-ranges.ts'
import { useAction } from '../use-action.ts'
import { Tag } from './bits.tsx'
import { SelectField, TextArea } from './fields.tsx'
import { ProblemNotice } from './notices.tsx'
import { Table } from './table.tsx'

/** A report with the text that it is about; the field may have changed since. */
interface Scanned {
  readonly text: string
  readonly report: ScanReport
}

/** Shows what the scanner finds in a text, and where. */
export function ScanPlayground() {
  const [body, setBody] = useState('')
  const [sensitivity, setSensitivity] = useState('medium')
  const [content_type, setType] = useState('text/plain')
  const [scanned, setScanned] = useState<Scanned | null>(null)
  const scan = useAction(
    (text: string) =>
      ask<ScanReport>('POST', '/admin/scan', {
        body: { body: text, content_type, injection_detection: { sensitivity } },
      }),
    (report, text) => setScanned({ text, report }),
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
        <SelectField
          label="Sensitivity"
          value={sensitivity}
          onValue={setSensitivity}
          options={[
            ['low', 'low'],
            ['medium', 'medium'],
            ['high', 'high'],
          ]}
        />
        <ProblemNotice problem={scan.problem} />
        <button type="submit" class="main" disabled={scan.isBusy}>
          {scan.isBusy ? 'Scanning …' : 'Scan'}
        </button>
      </form>
      {scanned !== null && <Findings {...scanned} />}
    </>
  )
}

const Findings = ({ text, report: { blocked, detections } }: Scanned) => (
  <>
    <div class={`notice ${blocked ? 'bad' : 'good'}`} role="status">
      <p>
        <strong>{blocked ? 'It would be blocked.' : 'It would be allowed.'}</strong>
      </p>
    </div>
    {detections.length > 0 && (
      <pre tabIndex={0} role="region" aria-label="Body with findings marked">
        {markRanges(text, detections).map(({ part, isMarked }) =>
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
