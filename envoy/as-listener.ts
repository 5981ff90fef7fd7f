import type { ConfigPart } from './config-part.ts'
import { withOwnRoutes } from './only-own-routes.ts'

/** Distinguishes our names from those of the configuration that this becomes a part of. */
const PREFIX = 'agw_'

const ON_DEMAND = 'envoy.filters.http.on_demand'

/** Members whose value is the name of a cluster. */
const NAMES_CLUSTER = new Set(['cluster', 'cluster_name'])

/**
 * Makes of the bootstrap a part that can be merged into the bootstrap of another Envoy: a listener of our own with its
 * clusters, and the two fields without which Envoy fails (`layered_runtime`, `grpc_async_client_manager_config`). The admin
 * interface and the overload manager are those of the other Envoy.
 */
export function asListener(bootstrap: ConfigPart): ConfigPart {
  const { admin: _admin, overload_manager: _overload, node: _node, ...others } = bootstrap
  const renamed = withOwnNames(others) as Named
  const { layered_runtime, static_resources } = renamed
  const [layer] = layered_runtime.layers
  // The node of the other Envoy has no templates, so it never gets a cluster of an integration's own. Their calls are refused.
  const { secrets: _secrets, listeners, clusters, ...resources } = static_resources
  const [listener] = listeners
  return {
    ...renamed,
    layered_runtime: {
      ...layered_runtime,
      layers: [{ ...layer, name: 'agent-access-gateway' }],
    },
    static_resources: {
      ...resources,
      listeners: [{ ...withOwnRoutes(listener), name: 'agent_access_gateway' }],
      clusters: clusters.map(prefixName),
    },
  }
}

/** The members that are renamed. */
interface Named extends ConfigPart {
  readonly layered_runtime: { readonly layers: readonly [ConfigPart] }
  readonly static_resources: ConfigPart & {
    readonly listeners: readonly [ConfigPart]
    readonly clusters: readonly ConfigPart[]
  }
}

const prefixName = (part: ConfigPart): ConfigPart => ({
  ...part,
  name: `${PREFIX}${String(part['name'])}`,
})

/** References to our clusters and DNS cache carry the prefix, and the filter for clusters of integrations is removed. */
function withOwnNames(value: unknown, member = ''): unknown {
  if (typeof value === 'string') return NAMES_CLUSTER.has(member) ? `${PREFIX}${value}` : value
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value))
    return value
      .filter((item: ConfigPart) => item?.['name'] !== ON_DEMAND)
      .map((item) => withOwnNames(item))
  const part = Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name, withOwnNames(one, name)]),
  )
  return member === 'dns_cache_config' ? prefixName(part) : part
}
