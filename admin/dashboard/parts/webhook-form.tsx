import { useState } from 'preact/hooks'
import { DELIVERED_EVENTS } from '../../../core/events.ts'
import { ask } from '../api.ts'
import type { Webhook } from '../api-types.ts'
import { useAction } from '../use-action.ts'
import { DialogForm } from './dialog.tsx'
import { CheckField, TextField } from './fields.tsx'

export function WebhookForm({
  of,
  onClose,
  onDone,
}: {
  of: Webhook | null
  onClose: () => void
  onDone: (saved: Webhook) => void
}) {
  const [name, setName] = useState(of?.name ?? '')
  const [url, setUrl] = useState(of?.url ?? '')
  const [secret, setSecret] = useState('')
  const [events, setEvents] = useState<Webhook['events']>(of?.events ?? ['agent_killed'])
  const save = useAction(() => {
    const body = { name, url, events, ...(secret === '' ? {} : { secret }) }
    return of === null
      ? ask<Webhook>('POST', '/webhooks', { body })
      : ask<Webhook>('PATCH', `/webhooks/${of.webhook_id}`, { body })
  }, onDone)
  return (
    <DialogForm
      title={of === null ? 'Add a webhook' : `Edit ${of.name}`}
      submit="Save"
      {...save}
      isReady={events.length > 0}
      onSubmit={save.run}
      onClose={onClose}
    >
      <TextField label="Name" value={name} onValue={setName} required autoFocus maxLength={200} />
      <TextField label="URL" type="url" value={url} onValue={setUrl} required />
      {of === null && (
        <TextField
          label="Secret"
          type="password"
          hint="Signs deliveries. Leave empty for none; you can add one later."
          value={secret}
          onValue={setSecret}
        />
      )}
      <fieldset>
        <legend>Events</legend>
        {DELIVERED_EVENTS.map((event) => (
          <CheckField
            key={event}
            label={event}
            value={events.includes(event)}
            onValue={(is) =>
              setEvents(is ? [...events, event] : events.filter((other) => other !== event))
            }
          />
        ))}
      </fieldset>
    </DialogForm>
  )
}
