import { useState } from 'preact/hooks'
import { ask } from '../api.ts'
import type { ArchiveEnd, Verification } from '../api-types.ts'
import { countOf } from '../count-of.ts'
import { useMay } from '../session.ts'
import { useAction } from '../use-action.ts'
import { useLoad } from '../use-load.ts'
import { Facts } from './bits.tsx'
import { CopyButton } from './copy-button.tsx'
import { Loaded, ProblemNotice } from './notices.tsx'
import { RoleNote } from './role-note.tsx'
import { Table } from './table.tsx'

const COMMAND = 'agw audit verify'

/** The end of the archive, and a check of its chain of hashes. */
export function ArchiveCheck() {
  const head = useLoad<ArchiveEnd>('/admin/audit/head')
  const mayVerify = useMay('operator')
  const [result, setResult] = useState<Verification | null>(null)
  const verify = useAction(() => ask<Verification>('POST', '/admin/audit/verify'), setResult)
  return (
    <Loaded from={head}>
      {({ archive_id, n, mac }) =>
        archive_id === null ? (
          <p class="empty">
            This service keeps no archive. Set <code>AGW_ARCHIVE_DIR</code> to keep one.
          </p>
        ) : (
          <>
            <p class="muted">
              Each line of the archive is signed with the one before it, so that a line that was
              changed, removed or moved is found.
            </p>
            <Facts
              facts={[
                ['Archive', <code>{archive_id}</code>],
                ['Archived entries', n.toLocaleString()],
                ['Hash of the last', mac === null ? 'none' : <code>{mac}</code>],
              ]}
            />
            <p class="buttons">
              {mayVerify && (
                <button
                  type="button"
                  class="main"
                  disabled={verify.isBusy}
                  onClick={() => {
                    setResult(null)
                    verify.run()
                  }}
                >
                  {verify.isBusy ? 'Verifying …' : 'Verify now'}
                </button>
              )}
              <CopyButton label={`Copy ${COMMAND}`} text={COMMAND} />
              <RoleNote role="operator" to="verify the archive here" />
            </p>
            <ProblemNotice problem={verify.problem} />
            {result !== null && <Verified result={result} />}
          </>
        )
      }
    </Loaded>
  )
}

function Verified({
  result: { lines, files, missed, complete, problems },
}: {
  result: Verification
}) {
  const what = `${countOf(lines, 'line')} in ${countOf(files, 'file')}`
  const tone = problems.length > 0 ? 'bad' : complete ? 'good' : 'warn'
  return (
    <>
      <div class={`notice ${tone}`} role="status">
        <p>
          <strong>
            {problems.length > 0
              ? `${countOf(problems.length, 'problem')} found.`
              : complete
                ? 'The chain is intact, up to the end known to the store.'
                : 'No problem found so far, but the archive is too long to verify here.'}
          </strong>{' '}
          Verified: {what}
          {complete ? '' : ', from the oldest on'}.{' '}
          {!complete && `Run ${COMMAND} to verify all of it.`}
        </p>
        {missed > 0 && (
          <p>
            {countOf(missed, 'entry was trimmed before it', 'entries were trimmed before they')}{' '}
            could be archived.
          </p>
        )}
      </div>
      {problems.length > 0 && (
        <Table
          caption="Problems"
          rows={problems}
          keyOf={({ file, line, problem }) => `${file} ${line} ${problem}`}
          empty=""
          columns={[
            { head: 'File', cell: ({ file }) => <code>{file}</code> },
            { head: 'Line', isNumber: true, cell: ({ line }) => line },
            { head: 'Problem', cell: ({ problem }) => problem },
          ]}
        />
      )}
    </>
  )
}
