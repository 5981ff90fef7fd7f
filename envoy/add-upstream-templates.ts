import { encodePart } from './encode-part.ts'
import { proxiedCluster, TEMPLATE_NAMES } from '../core/store/upstream-cluster.ts'
import type { ConfigPart } from './config-part.ts'

const OPTIONS = 'envoy.extensions.upstreams.http.v3.HttpProtocolOptions'

/**
 * Adds the templates of clusters that ext-proc sends for integrations with connection settings of their own. Envoy sends them to
 * ext-proc with its node, so that these clusters resolve names, refuse addresses and remove headers as the shared ones do,
 * whatever the settings of the process that is asked.
 */
export function addUpstreamTemplates(bootstrap: ConfigPart): ConfigPart {
  const { clusters = [] } = bootstrap['static_resources'] as {
    readonly clusters?: readonly ConfigPart[]
  }
  const templates = Object.fromEntries(
    TEMPLATE_NAMES.flatMap((name) => {
      const [, proxied = name] = name.split('_')
      const from = proxied === name ? `upstream_${name}` : proxiedCluster(proxied as 'https')
      const shared = clusters.find((cluster) => cluster['name'] === from)
      return shared === undefined ? [] : [[name, templateOf(shared)] as const]
    }),
  )
  return {
    ...bootstrap,
    node: {
      ...(bootstrap['node'] as ConfigPart),
      metadata: { agw_upstreams: JSON.stringify(templates) },
    },
  }
}

function templateOf(shared: ConfigPart): object {
  const {
    name: _name,
    transport_socket: _socket,
    typed_extension_protocol_options,
    ...cluster
  } = shared
  const options = (typed_extension_protocol_options as Readonly<Record<string, ConfigPart>>)[
    OPTIONS
  ]
  const { '@type': _type, ...members } = options ?? {}
  return {
    cluster: encodePart('Cluster', cluster).toString('base64'),
    options: encodePart('HttpProtocolOptions', members).toString('base64'),
  }
}
