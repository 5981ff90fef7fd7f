import { useState } from 'preact/hooks'
import { ask, withQuery } from '../api.ts'
import type { Delivery, Webhook } from '../api-types.ts'
import { Facts, SecretOnce, Tag } from '../parts/bits.tsx'
import { ConfirmButton } from '../parts/confirm-button.tsx'
import { Attempts, DeliveryTable } from '../parts/deliveries.tsx'
import { DeliveryBars } from '../parts/delivery-bars.tsx'
import { DeliveryDrawer } from '../parts/delivery-drawer.tsx'
import { SelectField } from '../parts/fields.tsx'
import { Loaded, ProblemNotice, SaveWarnings } from '../parts/notices.tsx'
import { Replay } from '../parts/replay.tsx'
import { RoleNote } from '../parts/role-note.tsx'
import { Time } from '../parts/time.tsx'
import { WebhookForm } from '../parts/webhook-form.tsx'
import { isId } from '../is-id.ts'
import { goTo, linkTo } from '../place.ts'
import { useMay } from '../session.ts'
import { useAction } from '../use-action.ts'
import { useLoad, usePages } from '../use-load.ts'

export function WebhookPage({
  webhook_id,
  query,
}: {
  webhook_id: string
  query: Readonly<Record<string, string>>
}) {
  const { delivery } = query
  const path = `/webhooks/${encodeURIComponent(webhook_id)}`
  const webhook = useLoad<Webhook>(path)
  const [status, setStatus] = useState('')
  const deliveries = usePages<Delivery>(withQuery(`${path}/deliveries`, { status }))
  const reload = (): void => {
    webhook.reload()
    deliveries.reload()
  }
  return (
    <>
      <p>
        <a href={linkTo(['webhooks'])}>All webhooks</a>
      </p>
      <Loaded from={webhook} page="Webhook">
        {(value) => (
          <>
            <h1>
              {value.name} <Tag text={value.status} />
            </h1>
            <Deeds webhook={value} path={path} onChanged={reload} />
            <WebhookFacts webhook={value} />
          </>
        )}
      </Loaded>
      <section>
        <h2>Deliveries</h2>
        <div class="filter">
          <SelectField
            label="Status"
            value={status}
            onValue={setStatus}
            options={[
              ['', 'any'],
              ['pending', 'pending'],
              ['delivered', 'delivered'],
              ['failed', 'failed'],
            ]}
          />
          <button type="button" onClick={reload}>
            Refresh
          </button>
        </div>
        {status === '' && <DeliveryBars deliveries={deliveries.value ?? []} />}
        <DeliveryTable
          deliveries={deliveries}
          path={path}
          webhook_id={webhook_id}
          onChanged={reload}
        />
      </section>
      {delivery !== undefined && isId('deliveries', delivery) && (
        <DeliveryDrawer
          key={delivery}
          path={path}
          delivery_id={delivery}
          onChanged={reload}
          onClose={() => goTo(['webhooks', webhook_id])}
        />
      )}
    </>
  )
}

const RoleNotes = () => (
  <p>
    <RoleNote role="operator" to="test it and replay events" />{' '}
    <RoleNote role="admin" to="edit it" />
  </p>
)

function WebhookFacts({ webhook }: { webhook: Webhook }) {
  const { failing_since: failing, previous_secret_until: previous } = webhook
  const { missed_since: missed } = webhook
  return (
    <>
      <RoleNotes />
      <Facts
        facts={[
          ['URL', <code key="url">{webhook.url}</code>],
          ['events', webhook.events.join(', ')],
          ['format', webhook.format],
          ['secret', webhook.has_secret ? 'stored' : 'none: receivers cannot verify the sender'],
          ...(previous === null
            ? []
            : [
                [
                  'previous secret also signs until',
                  <Time key="p" at={previous} isFull />,
                ] as const,
              ]),
          ...(missed === null
            ? []
            : [['missed events since', <Time key="m" at={missed} isFull />] as const]),
          ...(failing === null
            ? []
            : [['failing since', <Time key="f" at={failing} isFull />] as const]),
          ['attempts', `${webhook.success_count} delivered, ${webhook.failure_count} failed`],
          ['waiting', webhook.pending_count],
          ['last attempt', <Time key="l" at={webhook.last_triggered_at} isFull />],
        ]}
      />
    </>
  )
}

function Deeds({
  webhook,
  path,
  onChanged,
}: {
  webhook: Webhook
  path: string
  onChanged: () => void
}) {
  const mayTest = useMay('operator')
  const mayChange = useMay('admin')
  const [isEditing, setEditing] = useState(false)
  const [secret, setSecret] = useState<string | null>(null)
  const [tested, setTested] = useState<Delivery | null>(null)
  const [saved, setSaved] = useState<Webhook | null>(null)
  const test = useAction(
    () => ask<Delivery>('POST', `${path}/test`),
    (delivery) => {
      setTested(delivery)
      onChanged()
    },
  )
  return (
    <>
      <div class="buttons">
        {mayTest && (
          <button type="button" disabled={test.isBusy} onClick={() => test.run()}>
            {test.isBusy ? 'Testing …' : 'Send a test'}
          </button>
        )}
        {mayTest && <Replay path={path} missed_since={webhook.missed_since} onDone={onChanged} />}
        {mayChange && (
          <>
            <button type="button" onClick={() => setEditing(true)}>
              Edit
            </button>
            <ConfirmButton
              label="Rotate secret"
              title="Generate a new secret?"
              isDanger={false}
              work={() => ask<{ secret: string }>('POST', `${path}/rotate-secret`, { body: {} })}
              onDone={(rotated) => {
                setSecret(rotated.secret)
                onChanged()
              }}
            >
              <p>The previous secret also signs for another day.</p>
            </ConfirmButton>
            <Delete webhook={webhook} path={path} />
          </>
        )}
      </div>
      <ProblemNotice problem={test.problem} />
      <SaveWarnings of={saved} />
      {tested !== null && <TestResult delivery={tested} />}
      {secret !== null && <SecretOnce label="New secret." secret={secret} />}
      {isEditing && (
        <WebhookForm
          of={webhook}
          onClose={() => setEditing(false)}
          onDone={(webhook) => {
            setEditing(false)
            setSaved(webhook)
            onChanged()
          }}
        />
      )}
    </>
  )
}

const Delete = ({ webhook, path }: { webhook: Webhook; path: string }) => (
  <ConfirmButton
    label="Delete"
    title={`Delete ${webhook.name}?`}
    work={() => ask('DELETE', path)}
    onDone={() => goTo(['webhooks'])}
  >
    <p>Pending deliveries are deleted too.</p>
  </ConfirmButton>
)

const TestResult = ({ delivery }: { delivery: Delivery }) => (
  <section class={`notice ${delivery.status === 'delivered' ? 'good' : 'bad'}`} role="status">
    <p>
      <strong>Test {delivery.status}.</strong>
    </p>
    <Attempts delivery={delivery} />
  </section>
)
