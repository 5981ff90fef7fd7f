import { findCredentialType } from '../../core/credential/catalogue.ts'
import { SecretReference } from '../../core/credential/secret-reference.ts'
import {
  type Integration,
  UPSTREAM_DEFAULTS,
  type UpstreamSettings,
} from '../../core/catalogue/model.ts'
import type { KeyRing } from '../../core/keys/seal.ts'
import { Secret } from '../../core/keys/secret.ts'
import { type CredentialOwner, openAuth } from '../../core/store/credential-binding.ts'

/** Four characters of a shorter secret would be too large a part of it. */
const SHOWN_FROM_LENGTH = 16

/** An integration as the API shows it: of each secret at most the last four characters. */
export function integrationView(ring: KeyRing, integration: Integration): Record<string, unknown> {
  const { integration_id, name, base_url, strip_agent_id, allow_empty_segments, created_at } =
    integration
  return {
    integration_id,
    name,
    base_url,
    strip_agent_id,
    allow_empty_segments,
    allow_encoded_slashes: integration.allow_encoded_slashes ?? false,
    also_hosts: integration.also_hosts ?? [],
    rewrite_headers: integration.rewrite_headers ?? [],
    echo_guard: integration.echo_guard ?? 'off',
    error_format: integration.error_format ?? 'gateway',
    upstream: upstreamView(integration),
    labels: integration.labels ?? {},
    auth: authView(ring, integration),
    created_at,
  }
}

/** Without the private key; there is one if there is a client certificate. */
function upstreamView({ upstream = UPSTREAM_DEFAULTS }: Integration): Record<string, unknown> {
  const { client_key: _key, ...shown }: UpstreamSettings = upstream
  return shown
}

/** Of each secret at most the last four characters, or the reference to it. */
export function authView(ring: KeyRing, owner: CredentialOwner): Record<string, unknown> {
  const { auth } = owner
  const opened = openAuth(ring, owner) as Readonly<Record<string, unknown>> | null
  const stored = auth as Readonly<Record<string, unknown>>
  const view: Record<string, unknown> = { type: auth.type }
  for (const [member, { visibility }] of Object.entries(
    findCredentialType(auth.type)?.members ?? {},
  )) {
    if (!Object.hasOwn(stored, member)) continue
    const secret = opened?.[member]
    if (visibility === 'public') view[member] = stored[member]
    else if (secret instanceof SecretReference) view[member] = { ref: secret.ref }
    else view[`${member}_last4`] = secret instanceof Secret ? shownOf(secret.reveal()) : null
  }
  return view
}

/** All private keys in PEM end alike. */
const PEM_END = /\s*-----END [A-Z ]{0,40}-----\s*$/

/** A secret as the API shows it. */
export const shownOf = (secret: string): string | null =>
  secret.length < SHOWN_FROM_LENGTH ? null : secret.replace(PEM_END, '').slice(-4)
