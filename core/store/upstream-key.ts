import type { Integration } from '../catalogue/model.ts'
import { type KeyRing, reseal, type SealBinding, seal, unseal } from '../keys/seal.ts'
import type { Secret } from '../keys/secret.ts'
import { parseUrl } from '../bounded/parse-url.ts'

type Owner = Pick<Integration, 'organization_id' | 'integration_id' | 'base_url'>

/** The private key of a client certificate, bound to the integration and the origin that it is used for. */
const bindingOf = ({ organization_id, integration_id, base_url }: Owner): SealBinding => ({
  stored_as: 'credential',
  organization_id,
  owner_id: integration_id,
  kind: 'upstream.client_key',
  // A text that is not a URL, which only a manipulated store can contain, matches no origin.
  origin: parseUrl(base_url)?.origin ?? base_url,
})

export const upstreamKey = {
  seal: (ring: KeyRing, owner: Owner, pem: string): string => seal(ring, pem, bindingOf(owner)),

  /** Null if it does not open: another key, a changed text, or a value that belongs elsewhere. */
  open: (ring: KeyRing, owner: Owner, sealed: string): Secret | null =>
    unseal(ring, sealed, bindingOf(owner)),

  reseal: (ring: KeyRing, owner: Owner, sealed: string): string | null =>
    reseal(ring, sealed, bindingOf(owner)),
} as const
