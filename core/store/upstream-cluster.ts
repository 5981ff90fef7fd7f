import { createHash } from 'node:crypto'
import type { Integration } from '../catalogue/model.ts'

/** Envoy's route takes only names with this prefix from the processor. */
const PREFIX = 'own.'
const DIGEST_CHARACTERS = 32

/**
 * The name of the Envoy cluster that connects with the settings of an integration; null if the shared cluster will do. The
 * name contains a hash of the settings and the base URL, so a cluster never changes: once a change is in force, calls name a
 * new cluster, and none can be sent with a certificate of an older version.
 */
export function upstreamCluster({
  organization_id,
  integration_id,
  base_url,
  upstream,
}: Integration): string | null {
  if (upstream === undefined) return null
  const { connect_timeout_ms, pool_idle_timeout_ms, ca_certificates, client_certificate } = upstream
  const own = [connect_timeout_ms, pool_idle_timeout_ms, ca_certificates, client_certificate]
  if (own.every((value) => value === null)) return null
  const content = JSON.stringify([base_url, ...own, upstream.client_key ?? null])
  const digest = createHash('sha256').update(content).digest('hex').slice(0, DIGEST_CHARACTERS)
  return `${PREFIX}${organization_id}.${integration_id}.${digest}`
}

/** How a cluster differs from the one with the same settings. */
export interface ClusterVariant {
  /** Always HTTP/1.1, as most APIs need it for WebSockets. */
  readonly is_socket: boolean
  /** Connects through the egress proxy. */
  readonly is_proxied: boolean
}

const FOR_SOCKETS = '.ws'
const PROXIED = '.proxied'

export const clusterVariant = (name: string, { is_socket, is_proxied }: ClusterVariant): string =>
  `${name}${is_socket ? FOR_SOCKETS : ''}${is_proxied ? PROXIED : ''}`

/** The name without its variant. */
export function readVariant(text: string): ClusterVariant & { readonly name: string } {
  const is_proxied = text.endsWith(PROXIED)
  const rest = is_proxied ? text.slice(0, -PROXIED.length) : text
  const is_socket = rest.endsWith(FOR_SOCKETS)
  return { is_proxied, is_socket, name: is_socket ? rest.slice(0, -FOR_SOCKETS.length) : rest }
}

/** The clusters of envoy/bootstrap.yaml that connect through the egress proxy. */
export const proxiedCluster = (kind: 'https' | 'http' | 'wss' | 'blind'): string =>
  `${PREFIX}proxied.${kind}`

/** The templates of an integration's own clusters: the names of the shared ones, as envoy/add-upstream-templates.ts sends them. */
export const TEMPLATE_NAMES = [
  'https',
  'http',
  'wss',
  'proxied_https',
  'proxied_http',
  'proxied_wss',
] as const
export type TemplateName = (typeof TEMPLATE_NAMES)[number]

/** Whose cluster it is; null for a text that is no such name. */
export function ownerOfCluster(
  name: string,
): { readonly organization_id: string; readonly integration_id: string } | null {
  const match = /^own\.([\w-]+)\.([\w-]+)\.[0-9a-f]{32}$/.exec(name)
  if (match === null) return null
  const [, organization_id = '', integration_id = ''] = match
  return { organization_id, integration_id }
}
