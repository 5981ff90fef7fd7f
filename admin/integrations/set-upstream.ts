import { createPrivateKey, type KeyObject } from 'node:crypto'
import {
  type Integration,
  UPSTREAM_DEFAULTS,
  type UpstreamSettings,
} from '../../core/catalogue/model.ts'
import type { KeyRing } from '../../core/keys/seal.ts'
import { upstreamKey } from '../../core/store/upstream-key.ts'
import { certificatesIn, checkAuthorities, NOT_CERTIFICATES } from '../http/read-certificates.ts'
import type { Issue } from '../http/outcome.ts'

type Result =
  | { readonly ok: true; readonly upstream: UpstreamSettings }
  | { readonly ok: false; readonly issues: readonly Issue[] }

/**
 * The connection settings as they are stored, with the private key sealed. A change without the key keeps the stored one, unless
 * the origin changes: a stored key must not be used elsewhere without knowing it (threat model, rule 4).
 * @param owner the integration as it will be
 * @param given in plaintext
 * @param current null for a new integration
 */
export function setUpstream(
  ring: KeyRing,
  owner: Pick<Integration, 'organization_id' | 'integration_id' | 'base_url'>,
  given: Partial<UpstreamSettings>,
  current: Integration | null,
): Result {
  const { client_key, ...rest } = given
  const settings = { ...UPSTREAM_DEFAULTS, ...rest }
  const { ca_certificates, client_certificate } = settings
  const issues: Issue[] = []
  const wrong = (member: string, message: string): void =>
    void issues.push({ path: `/upstream/${member}`, message })
  const isTls = owner.base_url.startsWith('https:')
  for (const member of ['ca_certificates', 'client_certificate'] as const)
    if (settings[member] !== null && !isTls) wrong(member, 'requires an https base_url')
  const untrusted = ca_certificates === null ? null : checkAuthorities(ca_certificates)
  if (untrusted !== null) wrong('ca_certificates', untrusted)
  const chain = client_certificate === null ? [] : certificatesIn(client_certificate)
  if (chain === null) wrong('client_certificate', NOT_CERTIFICATES)
  if (client_certificate === null && client_key !== undefined)
    wrong('client_key', 'requires client_certificate')
  const [leaf] = chain ?? []
  if (leaf === undefined || issues.length > 0)
    return issues.length === 0 ? { ok: true, upstream: settings } : { ok: false, issues }
  const kept = client_key ?? keptKey(ring, owner, current)
  const key = kept === null ? null : privateKeyOf(kept)
  if (kept === null) wrong('client_key', KEY_NEEDED)
  else if (key === null) wrong('client_key', 'must be one private key in PEM without a passphrase')
  else if (!leaf.checkPrivateKey(key))
    wrong('client_key', 'is not the private key of the first certificate in client_certificate')
  else if (!isUsable(key)) wrong('client_key', KEY_KINDS)
  if (kept === null || issues.length > 0) return { ok: false, issues }
  return {
    ok: true,
    upstream: { ...settings, client_key: upstreamKey.seal(ring, owner, kept) },
  }
}

const KEY_NEEDED =
  'is required with a new client_certificate, and in the same request if base_url has a new origin'

const CURVES: readonly unknown[] = ['prime256v1', 'secp384r1', 'secp521r1']
const RSA_BITS_MIN = 2048
const KEY_KINDS = 'must be an RSA key of at least 2048 bits, or an EC key of P-256, P-384 or P-521'

/** Envoy takes no other keys. */
const isUsable = ({
  asymmetricKeyType: type,
  asymmetricKeyDetails: details,
}: KeyObject): boolean =>
  type === 'ec'
    ? CURVES.includes(details?.namedCurve)
    : type === 'rsa' && (details?.modulusLength ?? 0) >= RSA_BITS_MIN

/** The stored key, if it opens for this owner, which it does not if the origin has changed. */
function keptKey(
  ring: KeyRing,
  owner: Pick<Integration, 'organization_id' | 'integration_id' | 'base_url'>,
  current: Integration | null,
): string | null {
  const sealed = current?.upstream?.client_key
  return sealed === undefined ? null : (upstreamKey.open(ring, owner, sealed)?.reveal() ?? null)
}

function privateKeyOf(pem: string): KeyObject | null {
  try {
    return createPrivateKey(pem)
  } catch {
    return null
  }
}
