import { UPSTREAM_DEFAULTS } from '../../../core/catalogue/model.ts'
import type { Integration } from '../api-types.ts'
import { TextArea, TextField } from './fields.tsx'

/** The connection settings as they are typed in; an empty field is the default. */
export type Upstream = Readonly<Record<Member | 'client_key', string>>
type Member = keyof Integration['upstream']

/** Label and hint of each number. */
const NUMBERS = {
  connect_timeout_ms: ['Connect timeout in ms', 'Leave empty for 10 seconds.'],
  response_timeout_ms: [
    'Response timeout in ms',
    'Until the headers of the response, for each attempt. Leave empty for none.',
  ],
  retries: [
    'Retries',
    'Of calls that the API cannot have received, or that can be repeated safely. Leave empty for 1.',
  ],
  pool_idle_timeout_ms: [
    'Idle connection timeout in ms',
    'Leave empty for AGW_UPSTREAM_POOL_IDLE_TIMEOUT.',
  ],
} as const

export const upstreamOf = (of: Integration | null): Upstream => ({
  ...(Object.fromEntries(
    Object.entries(of?.upstream ?? UPSTREAM_DEFAULTS).map(([name, value]) => [
      name,
      String(value ?? ''),
    ]),
  ) as Record<Member, string>),
  client_key: '',
})

/** The member `upstream` of a request. A key that is left empty is kept. */
export function givenUpstream({ client_key, ...typed }: Upstream): Record<string, unknown> {
  const given = Object.entries(typed).map(([name, text]) => {
    if (text.trim() === '') return [name, null]
    return [name, name in NUMBERS ? Number(text) : text]
  })
  return {
    ...Object.fromEntries(given),
    ...(client_key.trim() === '' ? {} : { client_key }),
  }
}

export function UpstreamFields({
  upstream,
  onUpstream,
}: {
  upstream: Upstream
  onUpstream: (upstream: Upstream) => void
}) {
  const field = (name: keyof Upstream) => ({
    value: upstream[name],
    onValue: (value: string) => onUpstream({ ...upstream, [name]: value }),
  })
  return (
    <details open={Object.values(upstream).some((value) => value !== '')}>
      <summary>Connection to the API</summary>
      {Object.entries(NUMBERS).map(([name, [label, hint]]) => (
        <TextField
          key={name}
          type="number"
          min={0}
          label={label}
          hint={hint}
          {...field(name as keyof typeof NUMBERS)}
        />
      ))}
      <TextArea
        label="CA certificates"
        hint="PEM. Only these CAs are trusted for this API. Leave empty for the public ones."
        {...field('ca_certificates')}
      />
      <TextArea
        label="Client certificate"
        hint="PEM, with its chain, for an API that requires mutual TLS."
        {...field('client_certificate')}
      />
      <TextArea
        label="Private key of the client certificate"
        hint="PEM. Stored encrypted and never shown. Leave empty to keep the stored one."
        {...field('client_key')}
      />
    </details>
  )
}
