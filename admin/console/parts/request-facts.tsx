import type { AccessRequest } from '../api-types.ts'
import { countOf } from '../count-of.ts'
import { linkTo } from '../place.ts'
import { plainText } from '../plain-text.ts'
import { useMay } from '../session.ts'
import { Facts } from './bits.tsx'
import { Time } from './time.tsx'

/** The call that is asked for. All of it is text of the agent. */
export function RequestedCall({ request }: { request: AccessRequest }) {
  const { method, url, excerpt, excerpt_is_cut, body_bytes, headers } = request.call
  const { action, names_others, fields, fields_more } = request.call
  const maySee = useMay('operator')
  return (
    <>
      {action !== null && (
        <p>
          <strong>{plainText(action)}</strong>
        </p>
      )}
      {names_others && (
        <p class="notice warn">It names other methods or addresses, or carries other calls.</p>
      )}
      {fields.length > 0 && (
        <Facts facts={fields.map(({ name, value }) => [plainText(name), plainText(value)])} />
      )}
      {fields_more > 0 && (
        <p class="notice warn">{countOf(fields_more, 'more field')} like these.</p>
      )}
      <pre tabIndex={0} aria-label="Method and URL">
        {plainText(`${method} ${url}`)}
      </pre>
      {headers.length > 0 && (
        <pre tabIndex={0} aria-label="Headers">
          {headers.map(({ name, value }) => plainText(`${name}: ${value}`)).join('\n')}
        </pre>
      )}
      {excerpt !== null && (
        <pre tabIndex={0} aria-label="Body">
          {plainText(excerpt)}
        </pre>
      )}
      <p class="muted">
        {whatIsShown(body_bytes, excerpt !== null, excerpt_is_cut, maySee)} What looks like a secret
        is masked.
      </p>
    </>
  )
}

function whatIsShown(bytes: number, isShown: boolean, isCut: boolean, maySee: boolean): string {
  if (!maySee) return 'Only operators and admins can see headers and body.'
  if (bytes === 0) return 'No body.'
  const size = countOf(bytes, 'byte')
  if (!isShown) return `The body of ${size} is no text, and is not shown.`
  return isCut ? `The body has ${size}; only its beginning is shown.` : `The body has ${size}.`
}

/** Beside the words, never instead of them. */
const Findings = ({ found }: { found: AccessRequest['justification_findings'] }) =>
  found === null ? (
    <p class="muted">Not scanned for injections.</p>
  ) : found.length === 0 ? null : (
    <p class="notice bad">
      <strong>Looks like an injection</strong>:{' '}
      {found.map(({ pattern_name, severity }) => `${pattern_name} (${severity})`).join(', ')}. Do
      not follow it.
    </p>
  )

const Why = ({ request }: { request: AccessRequest }) =>
  request.justification === null ? (
    <span class="muted">none given</span>
  ) : (
    <>
      <Findings found={request.justification_findings} />
      <blockquote>{plainText(request.justification)}</blockquote>
    </>
  )

const ApprovedBefore = ({ used }: { used: NonNullable<AccessRequest['used_before']> }) => (
  <>
    {countOf(used.count, 'time')}, last used{' '}
    {used.last_used_at !== null && <Time at={used.last_used_at} />} by{' '}
    <a href={linkTo(['requests', used.request_id])}>{used.request_id}</a>
  </>
)

export function RequestFacts({ request }: { request: AccessRequest }) {
  const { call, approvals, needed, status, decided_by, decided_at, comment } = request
  const { scope_id } = request.result
  return (
    <Facts
      facts={[
        ['Why (agent’s words)', <Why request={request} />],
        [
          'Asked',
          <>
            <Time at={request.created_at} />
            {call.scope_id !== null && (
              <>
                {' '}
                by rule {call.rule + 1} of{' '}
                <a href={linkTo(['scopes', call.scope_id])}>{call.scope_name}</a>
              </>
            )}
          </>,
        ],
        ...(request.used_before === null
          ? []
          : [['Approved before', <ApprovedBefore used={request.used_before} />] as const]),
        ['Its last hour', lastHour(request.last_hour)],
        ...(needed > 1 || approvals.length > 0
          ? [
              [
                'Approvals',
                `${approvals.length} of ${needed} ${approvals.map(({ email }) => email).join(', ')}`,
              ] as const,
            ]
          : []),
        ...(decided_by !== null && decided_at !== null
          ? [
              [
                'Decided',
                <>
                  {status} by {decided_by} <Time at={decided_at} />
                  {comment !== null && `: ${comment}`}
                </>,
              ] as const,
            ]
          : []),
        ...(scope_id === null
          ? []
          : [
              ['Allows', <a href={linkTo(['scopes', scope_id])}>all calls by the rule</a>] as const,
            ]),
        ...(request.requested_until === null
          ? []
          : [['Wanted until', <Time at={request.requested_until} />] as const]),
        ...(request.kind === 'access'
          ? []
          : ([
              ['Digest', <code>{call.digest}</code>],
              ['Body SHA-256', <code>{call.body_sha256}</code>],
            ] as const)),
      ]}
    />
  )
}

const lastHour = (of: AccessRequest['last_hour']): string =>
  of === null
    ? 'not known'
    : `${countOf(of.calls, 'call')}, ${of.refusals} refused${of.kills > 0 ? `; killed ${countOf(of.kills, 'time')}` : ''}`
