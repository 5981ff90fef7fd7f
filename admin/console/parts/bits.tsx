import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { linkTo } from '../place.ts'

const TONES: Readonly<Record<string, string>> = {
  active: 'good',
  allowed: 'good',
  approved: 'good',
  ok: 'good',
  complete: 'good',
  incomplete: 'warn',
  delivered: 'good',
  pass: 'good',
  killed: 'bad',
  blocked: 'bad',
  refused: 'bad',
  denied: 'bad',
  terminated: 'bad',
  failing: 'bad',
  failed: 'bad',
  deny: 'bad',
  fault: 'bad',
  critical: 'bad',
  revoked: 'bad',
  expired: 'bad',
  high: 'warn',
  medium: 'warn',
  draining: 'warn',
  above: 'warn',
  below: 'warn',
  pending: 'warn',
  open: 'warn',
}

/** A state as one word; its colour adds no information. */
export function Tag({ text }: { text: string }) {
  return <span class={`tag ${TONES[text] ?? ''}`}>{text}</span>
}

export const AgentLink = ({ id, name }: { id: string | null; name?: string | null }) =>
  id === null ? (
    <span class="muted">none</span>
  ) : (
    <a href={linkTo(['agents', id])}>{name ?? <code>{id}</code>}</a>
  )

/** A key or secret that is shown once. */
export function SecretOnce({ label, secret }: { label: string; secret: string }) {
  const [isCopied, setCopied] = useState(false)
  const copy = (): void => {
    // The clipboard is available only with https and on loopback; elsewhere a click selects the text.
    navigator.clipboard?.writeText(secret).then(
      () => setCopied(true),
      () => setCopied(false),
    )
  }
  return (
    <div class="notice good" role="status">
      <p>
        <strong>{label}</strong> Copy it now. It is not stored and will not be shown again.
      </p>
      <p class="secret">
        <code>{secret}</code>{' '}
        <button type="button" onClick={copy}>
          {isCopied ? 'Copied' : 'Copy'}
        </button>
      </p>
    </div>
  )
}

export const Json = ({ value }: { value: unknown }) => (
  <pre tabIndex={0}>{JSON.stringify(value, null, 2)}</pre>
)

/** Names and values of a resource. */
export function Facts({ facts }: { facts: readonly (readonly [string, ComponentChildren])[] }) {
  return (
    <dl>
      {facts.map(([name, value], at) => (
        <div key={`${name} ${at}`}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}
