import type { Parts } from './as-parts.ts'

/** A Kubernetes resource, or a part of one. */
interface Resource {
  readonly [member: string]: unknown
}

export interface IstioPlace {
  readonly namespace: string
  readonly hostnames: readonly string[]
  readonly port: number
}

const NAME = 'agw'
/** Labels of the pods of an ingress gateway. */
const INGRESS_GATEWAY = { istio: 'ingressgateway' }
const CONNECTION_MANAGER = 'envoy.filters.network.http_connection_manager'

/**
 * Manifests for Istio: a port of the ingress gateway whose VirtualService only refuses, and an EnvoyFilter that adds the
 * filters, off by default and switched on by this virtual host, the clusters, and the routes that forward. Without the
 * EnvoyFilter, or without any of its patches, nothing is forwarded. Other ports of the ingress gateway are unchanged.
 */
export function asIstio(parts: Parts, place: IstioPlace): readonly Resource[] {
  const { namespace, port, hostnames } = place
  const of = (apiVersion: string, kind: string, spec: Resource): Resource => ({
    apiVersion: `networking.istio.io/${apiVersion}`,
    kind,
    metadata: { name: NAME, namespace },
    spec,
  })
  return [
    of('v1', 'Gateway', {
      selector: INGRESS_GATEWAY,
      servers: [
        { port: { number: port, name: `http-${NAME}`, protocol: 'HTTP' }, hosts: hostnames },
      ],
    }),
    of('v1', 'VirtualService', {
      hosts: hostnames,
      gateways: [NAME],
      http: [{ name: NO_VERDICT, directResponse: { status: 503, body: { string: 'no verdict' } } }],
    }),
    of('v1alpha3', 'EnvoyFilter', {
      workloadSelector: { labels: INGRESS_GATEWAY },
      configPatches: patches(parts, place),
    }),
  ]
}

const NO_VERDICT = 'no-verdict'

/** They are applied kind by kind, in this order within each. */
function patches(parts: Parts, { port, hostnames }: IstioPlace): readonly Resource[] {
  const { bootstrap, http_filters, access_log, virtual_host, listener } = parts
  if (virtual_host === undefined) throw new Error('the parts have no virtual host')
  const { name: _name, domains: _domains, routes, ...host } = virtual_host
  const { static_resources, ...fields } = bootstrap
  const manager = { filterChain: { filter: { name: CONNECTION_MANAGER } } }
  const router = {
    filterChain: {
      filter: { name: CONNECTION_MANAGER, subFilter: { name: 'envoy.filters.http.router' } },
    },
  }
  const patch = (
    applyTo: string,
    match: Resource,
    operation: string,
    value: unknown,
  ): Resource => ({
    applyTo,
    match: { context: 'GATEWAY', ...match },
    patch: { operation, value },
  })
  const inHost = (hostname: string): Resource => ({ name: `${hostname}:${port}` })
  return [
    patch('BOOTSTRAP', {}, 'MERGE', fields),
    ...static_resources.clusters.map((cluster) => patch('CLUSTER', {}, 'ADD', cluster)),
    patch('LISTENER', { listener: { portNumber: port } }, 'MERGE', {
      per_connection_buffer_limit_bytes: listener?.per_connection_buffer_limit_bytes,
    }),
    patch('NETWORK_FILTER', { listener: { portNumber: port, ...manager } }, 'MERGE', {
      name: CONNECTION_MANAGER,
      typed_config: {
        '@type':
          'type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager',
        ...listener?.manager,
        access_log,
      },
    }),
    ...http_filters.map((filter) =>
      patch('HTTP_FILTER', { listener: { portNumber: port, ...router } }, 'INSERT_BEFORE', filter),
    ),
    ...hostnames.flatMap((hostname) => [
      patch(
        'VIRTUAL_HOST',
        { routeConfiguration: { portNumber: port, vhost: inHost(hostname) } },
        'MERGE',
        host,
      ),
      // Each is inserted before the one that was inserted last.
      ...routes
        .toReversed()
        .map((route) =>
          patch(
            'HTTP_ROUTE',
            { routeConfiguration: { portNumber: port, vhost: inHost(hostname) } },
            'INSERT_FIRST',
            route,
          ),
        ),
    ]),
  ]
}
