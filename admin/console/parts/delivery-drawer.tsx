import { useState } from 'preact/hooks'
import { ask } from '../api.ts'
import type { DeliveryFull } from '../api-types.ts'
import { isId } from '../is-id.ts'
import { linkTo } from '../place.ts'
import { useMay } from '../session.ts'
import { useAction } from '../use-action.ts'
import { useLoad } from '../use-load.ts'
import { Tag } from './bits.tsx'
import { CopyButton } from './copy-button.tsx'
import { Dialog } from './dialog.tsx'
import { Loaded, ProblemNotice } from './notices.tsx'
import { Time } from './time.tsx'

/** One delivery: what was sent and what came back, side by side, for each attempt. */
export function DeliveryDrawer({
  path,
  delivery_id,
  onClose,
  onChanged,
}: {
  /** Of the webhook. */
  path: string
  delivery_id: string
  onClose: () => void
  onChanged: () => void
}) {
  const own = `${path}/deliveries/${encodeURIComponent(delivery_id)}`
  const delivery = useLoad<DeliveryFull>(own)
  return (
    <Dialog title={delivery.value?.event ?? 'Delivery'} kind="wide drawer" onClose={onClose}>
      <Loaded from={delivery}>
        {(value) => (
          <>
            <Head
              delivery={value}
              path={own}
              onRetried={() => {
                delivery.reload()
                onChanged()
              }}
            />
            <Exchange key={value.attempt_count} delivery={value} />
          </>
        )}
      </Loaded>
    </Dialog>
  )
}

function Head({
  delivery,
  path,
  onRetried,
}: {
  delivery: DeliveryFull
  path: string
  onRetried: () => void
}) {
  const { status, created_at, event_id, is_replay, is_test, next_attempt_at } = delivery
  const retry = useAction(() => ask('POST', `${path}/retry`), onRetried)
  const mayRetry = useMay('operator')
  return (
    <>
      <p>
        <Tag text={status} /> {is_replay && 'replayed, '}created <Time at={created_at} />
        {next_attempt_at !== null && (
          <>
            , next attempt <Time at={next_attempt_at} />
          </>
        )}
      </p>
      <p class="buttons">
        {mayRetry && !is_test && (
          <button type="button" disabled={retry.isBusy} onClick={() => retry.run()}>
            Retry now
          </button>
        )}
        {!is_test && isId('activity', event_id) && (
          <a href={linkTo(['activity', event_id])}>View in activity</a>
        )}
      </p>
      <ProblemNotice problem={retry.problem} />
    </>
  )
}

function Exchange({ delivery }: { delivery: DeliveryFull }) {
  const { attempts, payload } = delivery
  const [at, setAt] = useState(Math.max(0, attempts.length - 1))
  const attempt = attempts[at]
  return (
    <>
      {attempts.length > 1 && (
        <div class="buttons" role="group" aria-label="Attempts">
          {attempts.map(({ number, status, error }, i) => (
            <button
              key={number}
              type="button"
              aria-pressed={i === at}
              onClick={() => setAt(i)}
            >{`${number}: ${status === null ? (error ?? 'no answer') : `HTTP ${status}`}`}</button>
          ))}
        </div>
      )}
      <div class="sides">
        <section>
          <h3>Request</h3>
          {attempt !== undefined && <Headers headers={attempt.request_headers} />}
          {payload === null ? (
            <p class="muted">The body is no longer stored.</p>
          ) : (
            <>
              <pre tabIndex={0} aria-label="Body of the request">
                {indented(payload)}
              </pre>
              <CopyButton label="Copy body" text={payload} />
            </>
          )}
        </section>
        <section>
          <h3>Response</h3>
          {attempt === undefined ? (
            <p class="muted">No attempt yet.</p>
          ) : (
            <>
              <p>
                <Tag text={attempt.is_success ? 'delivered' : 'failed'} />{' '}
                {attempt.status !== null && `HTTP ${attempt.status}`} {attempt.error} in{' '}
                {attempt.duration_ms} ms, <Time at={attempt.started_at} />
              </p>
              {attempt.response_excerpt === null || attempt.response_excerpt === '' ? (
                <p class="muted">No body that can be shown.</p>
              ) : (
                <pre tabIndex={0} aria-label="Body of the response">
                  {attempt.response_excerpt}
                </pre>
              )}
            </>
          )}
        </section>
      </div>
    </>
  )
}

function Headers({ headers }: { headers: DeliveryFull['attempts'][number]['request_headers'] }) {
  const mayChange = useMay('admin')
  if (headers === null) return <p class="muted">The headers are no longer known.</p>
  const hidden = mayChange ? 'not known: the secret has changed since' : 'shown to admins'
  return (
    <dl class="headers">
      {Object.entries(headers).map(([name, value]) => (
        <div key={name}>
          <dt>
            <code>{name}</code>
          </dt>
          <dd>{value === null ? <span class="muted">{hidden}</span> : <code>{value}</code>}</dd>
        </div>
      ))}
    </dl>
  )
}

/** As it is sent, but for white space between its members. */
function indented(payload: string): string {
  try {
    return JSON.stringify(JSON.parse(payload), null, 2)
  } catch {
    return payload
  }
}
