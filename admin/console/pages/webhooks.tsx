import { useState } from 'preact/hooks'
import type { Webhook } from '../api-types.ts'
import { SecretOnce, Tag } from '../parts/bits.tsx'
import { SuccessShare } from '../parts/delivery-bars.tsx'
import { SaveWarnings } from '../parts/notices.tsx'
import { PagedTable } from '../parts/table.tsx'
import { Time } from '../parts/time.tsx'
import { WebhookForm } from '../parts/webhook-form.tsx'
import { linkTo } from '../place.ts'
import { useMay } from '../session.ts'
import { usePages } from '../use-load.ts'

export function WebhooksPage({ query }: { query: Readonly<Record<string, string>> }) {
  const webhooks = usePages<Webhook>('/webhooks')
  const mayChange = useMay('admin')
  const [isCreating, setCreating] = useState(mayChange && query['do'] === 'create')
  const [secret, setSecret] = useState<string | null>(null)
  const [saved, setSaved] = useState<Webhook | null>(null)
  return (
    <>
      <div class="head">
        <h1>Webhooks</h1>
        {mayChange && (
          <button type="button" class="main" onClick={() => setCreating(true)}>
            Add a webhook
          </button>
        )}
      </div>
      <SaveWarnings of={saved} />
      {secret !== null && (
        <SecretOnce label={`Secret of ${saved?.name}, for its receiver.`} secret={secret} />
      )}
      <PagedTable
        pages={webhooks}
        caption="Webhooks"
        keyOf={({ webhook_id }) => webhook_id}
        empty="No webhooks yet. Webhooks receive events for refusals, kills and detections."
        columns={[
          {
            head: 'Name',
            cell: ({ webhook_id, name }) => <a href={linkTo(['webhooks', webhook_id])}>{name}</a>,
          },
          { head: 'Status', cell: ({ status }) => <Tag text={status} /> },
          { head: 'URL', cell: ({ url }) => <code>{url}</code> },
          { head: 'Events', isExtra: true, cell: ({ events }) => events.join(', ') },
          { head: 'Attempts delivered', cell: (webhook) => <SuccessShare webhook={webhook} /> },
          { head: 'Pending', isNumber: true, cell: ({ pending_count: count }) => count },
          { head: 'Last attempt', cell: ({ last_triggered_at: at }) => <Time at={at} /> },
        ]}
      />
      {isCreating && (
        <WebhookForm
          of={null}
          onClose={() => setCreating(false)}
          onDone={(webhook, generated) => {
            setCreating(false)
            setSaved(webhook)
            setSecret(generated)
            webhooks.reload()
          }}
        />
      )}
    </>
  )
}
