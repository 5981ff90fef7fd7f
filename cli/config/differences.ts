import { isDeepStrictEqual } from 'node:util'
import { EditableAgent } from '../../admin/agents/agent-schemas.ts'
import { EditableConnection } from '../../admin/connections/connection-schemas.ts'
import { EditableIntegration } from '../../admin/integrations/integration-schemas.ts'
import { shownOf } from '../../admin/integrations/integration-view.ts'
import { EditableScope } from '../../admin/scopes/scope-schemas.ts'
import { EditableWebhook } from '../../admin/webhooks/webhook-schemas.ts'
import { hideWebhookUrl, isHiddenUrl } from '../../admin/webhooks/hide-webhook-url.ts'
import { secretMembers } from '../../core/credential/catalogue.ts'
import type { GivenReference } from '../../core/credential/secret-reference.ts'
import { isObject, type Json, type Section } from './section-resources.ts'
import { isUnknownSecret } from './unknown-secrets.ts'
import { withoutNulls } from './without-nulls.ts'

/** A member that a change writes. Neither value of a secret is shown. */
export interface MemberChange {
  readonly member: string
  readonly before?: unknown
  readonly after?: unknown
  readonly secret?: true
}

const EDITABLE: Readonly<Record<Section, readonly string[]>> = {
  integrations: Object.keys(EditableIntegration.properties),
  agents: Object.keys(EditableAgent.properties),
  // Its status is no configuration.
  connections: Object.keys(EditableConnection.properties).filter((name) => name !== 'status'),
  scopes: Object.keys(EditableScope.properties),
  webhooks: Object.keys(EditableWebhook.properties),
}

/** The members of a resource that a configuration file can hold, in the form that they have there. */
export function comparable(kind: Section, shown: Json): Json {
  const members = Object.fromEntries(
    EDITABLE[kind].filter((name) => Object.hasOwn(shown, name)).map((name) => [name, shown[name]]),
  )
  if (kind === 'agents') return { ...members, metadata: withoutNulls(shown['metadata']) }
  if (kind === 'webhooks')
    return {
      ...members,
      events: [...(shown['events'] as string[])].sort(),
      has_secret: shown['has_secret'],
    }
  return members
}

/** @param all_secrets whether secrets are written even if they look unchanged */
export function differences(
  kind: Section,
  wanted: Json,
  shown: Json,
  all_secrets: boolean,
): MemberChange[] {
  const { auth, secret, url, ...rest } = pick(wanted, EDITABLE[kind])
  const plain = kind === 'integrations' ? withoutKey(rest) : rest
  const { auth: auth_shown, has_secret, url: url_shown, ...current } = comparable(kind, shown)
  const changes = below('', plain, current)
  if (kind === 'connections')
    changes.push(...authDifferences(auth as Json, auth_shown as Json, all_secrets))
  if (kind === 'integrations') {
    const secrets = authDifferences(auth as Json, auth_shown as Json, all_secrets)
    // A new base URL or host that gets the credential requires it again, or the gateway refuses the change.
    const isElsewhere = plain['base_url'] !== current['base_url'] || hasNewHost(plain, current)
    const moved = isElsewhere && secrets.length === 0
    changes.push(...(moved ? [{ member: 'auth', secret: true as const }] : secrets))
    const isNewKey = all_secrets || changes.some(({ member }) => NEEDS_KEY.includes(member))
    if (isNewKey && isObject(rest['upstream']) && rest['upstream']['client_key'] !== undefined)
      changes.push({ member: 'upstream.client_key', secret: true })
  }
  if (kind === 'webhooks') changes.push(...urlDifferences(String(url), String(url_shown)))
  if (
    kind === 'webhooks' &&
    ((secret !== null) !== has_secret ||
      (secret !== null && all_secrets && !isUnknownSecret(secret)))
  )
    changes.push({ member: 'secret', secret: true })
  return changes
}

const hasNewHost = (wanted: Json, current: Json): boolean => {
  const [after, before] = [wanted, current].map(({ also_hosts }) => (also_hosts ?? []) as Json[])
  return (after ?? []).some(
    (entry) =>
      entry['credential'] === true && !before?.some((other) => isDeepStrictEqual(entry, other)),
  )
}

/** A read never shows the private key, so it is written where it may have to change. */
const NEEDS_KEY = ['base_url', 'upstream', 'upstream.client_certificate']

export function withoutKey({ upstream, ...rest }: Json): Json {
  if (!isObject(upstream)) return rest
  const { client_key: _key, ...shown } = upstream
  return { ...rest, upstream: shown }
}

const pick = (from: Json, names: readonly string[]): Json =>
  Object.fromEntries(
    names.filter((name) => Object.hasOwn(from, name)).map((name) => [name, from[name]]),
  )

function below(prefix: string, wanted: Json, current: Json): MemberChange[] {
  const names = [...new Set([...Object.keys(wanted), ...Object.keys(current)])]
  return names.flatMap((name): MemberChange[] => {
    const [after, before] = [own(wanted, name), own(current, name)]
    if (isDeepStrictEqual(after, before)) return []
    const member = prefix + name
    if (isObject(after) && isObject(before)) return below(`${member}.`, after, before)
    return [{ member, before, after }]
  })
}

const own = (from: Json, name: string): unknown =>
  Object.hasOwn(from, name) ? from[name] : undefined

/** The difference may lie in the secret part of the URL, which is not shown. Roles below `admin` see the masked URL only. */
function urlDifferences(wanted: string, shown: string): MemberChange[] {
  const [before, after] = [hideWebhookUrl(shown), hideWebhookUrl(wanted)]
  if (isUnknownSecret(wanted) || wanted === shown || (isHiddenUrl(shown) && shown === after))
    return []
  return [before === after ? { member: 'url', secret: true } : { member: 'url', before, after }]
}

/** A read shows the last four characters of a secret that is long enough, so only these can tell it from another. */
function authDifferences(wanted: Json, shown: Json, all_secrets: boolean): MemberChange[] {
  const secrets = secretMembers(wanted['type'])
  const plain = Object.entries(wanted).filter(([name]) => !secrets.includes(name))
  const rest = Object.fromEntries(
    Object.entries(shown).filter(([name]) => !isShownSecret(name, shown)),
  )
  const changes = below('auth.', Object.fromEntries(plain), rest)
  for (const name of secrets) {
    const value = wanted[name] as string | GivenReference | undefined
    if (isUnknownSecret(value)) continue
    const before = own(shown, name) ?? own(shown, `${name}_last4`)
    const after = typeof value === 'string' ? shownOf(value) : value
    if (!isDeepStrictEqual(before, after) || (all_secrets && value !== undefined))
      changes.push({ member: `auth.${name}`, secret: true })
  }
  return changes
}

const isShownSecret = (name: string, { type }: Json): boolean =>
  secretMembers(type).some((member) => name === member || name === `${member}_last4`)
