import { useState } from 'preact/hooks'
import { DELIVERED_EVENTS } from '../../../core/catalogue/events.ts'
import { ask } from '../api.ts'
import type { Webhook } from '../api-types.ts'
import { useAction } from '../use-action.ts'
import { DialogForm } from './dialog.tsx'
import { CheckField, NameField, TextField, RadioField } from './fields.tsx'

export function WebhookForm({
  of,
  onClose,
  onDone,
}: {
  of: Webhook | null
  onClose: () => void
  /** With the secret that was generated, which is shown once. */
  onDone: (saved: Webhook, secret: string | null) => void
}) {
  const [name, setName] = useState(of?.name ?? '')
  const [url, setUrl] = useState(of?.url ?? '')
  const [signing, setSigning] = useState<Signing>('generated')
  const [own, setOwn] = useState('')
  const [generated] = useState(mintSecret)
  const secret = { generated, own, none: '' }[signing]
  const [events, setEvents] = useState<Webhook['events']>(of?.events ?? ['agent_killed'])
  const save = useAction(
    () => {
      const body = { name, url, events }
      return of === null
        ? ask<Webhook>('POST', '/webhooks', { body: secret === '' ? body : { ...body, secret } })
        : ask<Webhook>('PATCH', `/webhooks/${of.webhook_id}`, { body })
    },
    (saved) => onDone(saved, of === null && signing === 'generated' ? generated : null),
  )
  return (
    <DialogForm
      title={of === null ? 'Add a webhook' : `Edit ${of.name}`}
      submit="Save"
      {...save}
      isReady={events.length > 0}
      onSubmit={save.run}
      onClose={onClose}
    >
      <NameField member="/name" value={name} onValue={setName} />
      <TextField label="URL" member="/url" type="url" value={url} onValue={setUrl} required />
      {of === null && (
        <SigningFields signing={signing} onSigning={setSigning} own={own} onOwn={setOwn} />
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

type Signing = 'generated' | 'own' | 'none'

const SIGNING_TEXTS: Readonly<Record<Signing, string>> = {
  generated: 'with a secret that is generated now and shown once',
  own: 'with a secret of your own',
  none: 'not at all: receivers cannot verify the sender',
}

function SigningFields({
  signing,
  onSigning,
  own,
  onOwn,
}: {
  signing: Signing
  onSigning: (signing: Signing) => void
  own: string
  onOwn: (secret: string) => void
}) {
  return (
    <>
      <RadioField
        label="Deliveries are signed"
        value={signing}
        onValue={onSigning}
        choices={SIGNING_TEXTS}
      />
      {signing === 'own' && (
        <TextField
          label="Secret"
          member="/secret"
          type="password"
          value={own}
          onValue={onOwn}
          required
        />
      )}
    </>
  )
}

const SECRET_BYTES = 32

/** `whsec_` and random bytes in Base64, the form of the Standard Webhooks specification. */
const mintSecret = (): string =>
  `whsec_${btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(SECRET_BYTES))))}`
