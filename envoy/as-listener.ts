import { type Document, isMap, isScalar, visit, type YAMLMap } from 'yaml'

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
export function asListener(document: Document): void {
  for (const field of ['admin', 'overload_manager', 'node']) document.delete(field)
  // The node of the other Envoy has no templates, so it never gets a cluster of an integration's own. Their calls are refused.
  document.deleteIn(['static_resources', 'secrets'])
  visit(document, {
    Map: (_key, map) => (map.get('name') === ON_DEMAND ? visit.REMOVE : undefined),
  })
  document.setIn(['layered_runtime', 'layers', 0, 'name'], 'agent-access-gateway')
  document.setIn(['static_resources', 'listeners', 0, 'name'], 'agent_access_gateway')
  visit(document, {
    Pair: (_key, { key, value }) => {
      const name = isScalar(key) ? String(key.value) : ''
      if (NAMES_CLUSTER.has(name) && isScalar(value))
        value.value = `${PREFIX}${String(value.value)}`
      if (name === 'dns_cache_config' && isMap(value)) prefixName(value)
      return undefined
    },
  })
  const clusters = document.getIn(['static_resources', 'clusters']) as { items: YAMLMap[] }
  for (const cluster of clusters.items) prefixName(cluster)
}

const prefixName = (node: YAMLMap): void => {
  node.set('name', `${PREFIX}${String(node.get('name'))}`)
}
