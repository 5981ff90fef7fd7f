import { ask } from '../api.ts'
import type { Delivery } from '../api-types.ts'
import { countOf } from '../count-of.ts'
import { linkTo } from '../place.ts'
import { useMay } from '../session.ts'
import { useAction } from '../use-action.ts'
import type { Paged } from '../use-load.ts'
import { Tag } from './bits.tsx'
import { ProblemNotice } from './notices.tsx'
import { PagedTable } from './table.tsx'
import { Time } from './time.tsx'

export function DeliveryTable({
  deliveries,
  path,
  webhook_id,
  onChanged,
}: {
  deliveries: Paged<Delivery>
  path: string
  webhook_id: string
  onChanged: () => void
}) {
  const mayRetry = useMay('operator')
  const retry = useAction(
    (delivery_id: string) => ask('POST', `${path}/deliveries/${delivery_id}/retry`),
    onChanged,
  )
  return (
    <>
      <ProblemNotice problem={retry.problem} />
      <PagedTable
        pages={deliveries}
        caption="Deliveries"
        keyOf={({ delivery_id }) => delivery_id}
        empty="No deliveries yet."
        columns={[
          { head: 'Created', cell: ({ created_at }) => <Time at={created_at} /> },
          {
            head: 'Event',
            cell: ({ delivery_id, event, is_replay }) => (
              <a href={linkTo(['webhooks', webhook_id], { delivery: delivery_id })}>
                {is_replay ? `${event} (replayed)` : event}
              </a>
            ),
          },
          { head: 'Status', cell: ({ status }) => <Tag text={status} /> },
          { head: 'Attempts', cell: (delivery) => <Attempts delivery={delivery} /> },
          {
            head: 'Next attempt',
            cell: ({ next_attempt_at }) => <Time at={next_attempt_at} none="none" />,
          },
          ...(mayRetry
            ? [
                {
                  head: 'Actions',
                  cell: ({ delivery_id, is_test }: Delivery) =>
                    !is_test && (
                      <button
                        type="button"
                        disabled={retry.isBusy}
                        onClick={() => retry.run(delivery_id)}
                      >
                        Retry now
                      </button>
                    ),
                },
              ]
            : []),
        ]}
      />
    </>
  )
}

/** The result of each attempt. The response of the receiver is untrusted text. */
export function Attempts({ delivery: { attempts, attempt_count } }: { delivery: Delivery }) {
  if (attempts.length === 0) return <span class="muted">none yet</span>
  const last = attempts.at(-1)
  return (
    <details>
      <summary>
        {countOf(attempt_count, 'attempt')}, last{' '}
        {last?.status != null ? `HTTP ${last.status}` : (last?.error ?? 'no answer')}
      </summary>
      <ol class="plain">
        {attempts.map(({ number, started_at, status, error, duration_ms, response_excerpt }) => (
          <li key={number}>
            {number}. <Time at={started_at} />: {status ?? ''} {error ?? ''} in {duration_ms} ms
            {response_excerpt !== null && response_excerpt !== '' && (
              <pre tabIndex={0}>{response_excerpt}</pre>
            )}
          </li>
        ))}
      </ol>
    </details>
  )
}
