import { OTHER_ROUTE_DETAILS } from '../core/catalogue/other-route-details.ts'
import { asListener } from './as-listener.ts'
import { type ConfigPart, partAt } from './config-part.ts'
import { NO_OWN_ROUTE, OWN_ROUTES } from './only-own-routes.ts'

/** A message of Envoy; only the members that are used here have a type. */
interface Message {
  readonly [member: string]: unknown
}

interface Filter extends Message {
  readonly name: string
  readonly typed_config: Message
}

interface Route extends Message {
  readonly name: string
  readonly match: Message
  readonly route: Message
  readonly response_headers_to_add?: readonly Message[]
  readonly typed_per_filter_config?: Message
}

interface Host extends Message {
  readonly request_body_buffer_limit: number
  readonly response_headers_to_add: readonly Message[]
  readonly routes: readonly Route[]
}

interface Cluster extends Message {
  readonly name: string
}

interface AccessLog extends Message {
  readonly filter: { readonly and_filter: { readonly filters: readonly Message[] } }
}

interface Manager extends Message {
  readonly http_filters: readonly Filter[]
  readonly access_log: readonly AccessLog[]
  readonly route_config: { readonly virtual_hosts: readonly [Host] }
}

interface Bootstrap
  extends Pick<Parts['bootstrap'], 'layered_runtime' | 'grpc_async_client_manager_config'> {
  readonly static_resources: {
    readonly listeners: readonly [
      {
        readonly per_connection_buffer_limit_bytes: unknown
        readonly filter_chains: readonly [
          { readonly filters: readonly [{ readonly typed_config: Manager }] },
        ]
      },
    ]
    readonly clusters: readonly Cluster[]
  }
}

interface UpstreamOptions {
  auto_config?: Message
  explicit_http_config?: Message
}

/** Where the parts go. */
export type PartsPlace =
  /** A listener of another control plane that serves nothing else: its connection manager takes our options as well. */
  | { readonly kind: 'own-port'; readonly hostnames: readonly string[] }
  /** A virtual host of our own on a listener of theirs. */
  | { readonly kind: 'virtual-host'; readonly hostnames: readonly string[] }
  /** Routes in a virtual host of theirs. */
  | { readonly kind: 'filter' }

const TYPE = 'type.googleapis.com/envoy.extensions.filters.http'

/** The filters by the names that routes switch them on with, in the order in which they must stand before the router. */
const FILTERS = {
  headers: 'agw.request_headers',
  requestId: 'agw.request_id',
  extProc: 'agw.ext_proc',
  ownRoutes: OWN_ROUTES,
  baseUrl: 'agw.base_url',
  forward: 'agw.dynamic_forward_proxy',
} as const

/** Headers that only the gateway may set; see early_header_mutation_extensions in envoy/bootstrap.yaml. */
const NOT_FROM_CALLERS = [
  'pass',
  'up',
  'retry',
  'cluster',
  'host',
  'connect',
  'base-url',
  'reason',
  'request-id',
].map((name) => `x-agw-${name}`)

/** Of routes and clusters that lead to the admin service, which only a listener of our own has. */
const TO_ADMIN: ReadonlySet<string> = new Set(['admin', 'agents-door'])
const ADMIN_CLUSTERS: ReadonlySet<string> = new Set(['agw_admin', 'agw_agents_door'])

/** What `asParts` makes; messages of Envoy by where they go. */
export interface Parts extends Message {
  readonly bootstrap: {
    readonly layered_runtime: { readonly layers: readonly [{ readonly static_layer: Message }] }
    readonly grpc_async_client_manager_config: Message
    readonly static_resources: { readonly clusters: readonly Cluster[] }
  }
  /** In the order in which they stand before the router. */
  readonly http_filters: readonly Filter[]
  readonly access_log: readonly Message[]
  /** Options of a listener of our own, and of its connection manager. */
  readonly listener?: {
    readonly per_connection_buffer_limit_bytes: unknown
    readonly manager: Message
  }
  readonly virtual_host?: Message & {
    readonly domains: readonly string[]
    readonly routes: readonly Route[]
  }
  readonly routes?: readonly Route[]
}

/**
 * The parts for a listener that somebody else configured. Every filter is off by default and switched on by our routes. No
 * option of a connection manager that has other routes is set, so that these stay as they are.
 */
export function asParts(bootstrap: ConfigPart, place: PartsPlace): Parts {
  const config = asListener(bootstrap) as unknown as Bootstrap
  const { listeners, clusters } = config.static_resources
  const [{ filter_chains, per_connection_buffer_limit_bytes }] = listeners
  const manager = filter_chains[0].filters[0].typed_config
  const [host] = manager.route_config.virtual_hosts
  const perRoute = switchedOn(manager.http_filters)
  const isShared = place.kind !== 'own-port'
  if (isShared)
    for (const cluster of clusters) if (cluster.name === 'agw_upstream_https') useHttp1(cluster)
  const routes = host.routes
    .filter(({ name }) => !TO_ADMIN.has(name))
    .map(ownRoute)
    .map(withHandshakes)
  return {
    bootstrap: {
      layered_runtime: config.layered_runtime,
      grpc_async_client_manager_config: config.grpc_async_client_manager_config,
      static_resources: {
        clusters: clusters.filter(({ name }) => !ADMIN_CLUSTERS.has(name)),
      },
    },
    http_filters: filtersOf(manager.http_filters),
    access_log: manager.access_log.map(onlyOurs),
    ...(isShared
      ? {}
      : { listener: { per_connection_buffer_limit_bytes, manager: optionsOf(manager) } }),
    ...(place.kind === 'filter'
      ? {
          routes: routes
            .flatMap((route) =>
              route.match['headers'] === undefined
                ? [afterVerdict(route), ...entrances(route)]
                : [route],
            )
            .map((route) => inTheirHost(route, host, perRoute)),
        }
      : {
          virtual_host: {
            name: 'agent_access_gateway',
            domains: place.hostnames,
            request_body_buffer_limit: host.request_body_buffer_limit,
            response_headers_to_add: host.response_headers_to_add,
            typed_per_filter_config: perRoute,
            routes,
          },
        }),
  }
}

/** What has a place of its own among the parts, or belongs to the other listener. */
const NOT_OPTIONS = new Set(['@type', 'stat_prefix', 'access_log', 'http_filters', 'route_config'])

const optionsOf = (manager: Message): Message =>
  Object.fromEntries(Object.entries(manager).filter(([name]) => !NOT_OPTIONS.has(name)))

/** Sets nothing by itself: what a route switches it on with is applied in addition. */
const withoutState = (filter: Filter | undefined): Pick<Filter, 'typed_config'> => ({
  typed_config: { '@type': filter?.typed_config['@type'] },
})

/**
 * By it the processor distinguishes the response of an API from that of a filter of the company. Without such filters, in our
 * own configuration, no call pays for it.
 */
function withResponseSource(filter: Filter | undefined): Pick<Filter, 'typed_config'> {
  const matching = filter?.typed_config ?? {}
  const own = partAt(matching, 'extension_config')
  const config = {
    ...partAt(own, 'typed_config'),
    response_attributes: ['response.code_details'],
  }
  return { typed_config: { ...matching, extension_config: { ...own, typed_config: config } } }
}

function filtersOf([
  requestId,
  extProc,
  ownRoutes,
  baseUrl,
  forward,
]: readonly Filter[]): readonly Filter[] {
  const filters: readonly (readonly [string, Pick<Filter, 'typed_config'> | undefined])[] = [
    [
      FILTERS.headers,
      { typed_config: { '@type': `${TYPE}.header_mutation.v3.HeaderMutation`, mutations: {} } },
    ],
    [FILTERS.requestId, withoutState(requestId)],
    [FILTERS.extProc, withResponseSource(extProc)],
    [FILTERS.ownRoutes, ownRoutes],
    [FILTERS.baseUrl, withoutState(baseUrl)],
    [FILTERS.forward, forward],
  ]
  return filters.map(([name, filter]) => ({
    name,
    disabled: true,
    typed_config: filter?.typed_config ?? {},
  }))
}

/**
 * What switches the filters on. That of the forward proxy is in the routes that forward. An empty FilterConfig would switch
 * them on too, but Istio does not accept one.
 */
const switchedOn = ([requestId, , , baseUrl]: readonly Filter[]): Message => ({
  [FILTERS.headers]: {
    '@type': `${TYPE}.header_mutation.v3.HeaderMutationPerRoute`,
    mutations: {
      request_mutations: [
        ...NOT_FROM_CALLERS.map((name) => ({ remove: name })),
        // The connection manager of somebody else may take both from the caller.
        ...[
          ['x-request-id', '%UNIQUE_ID%'],
          ['x-envoy-external-address', '%DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT%'],
        ].map(([key, value]) => ({
          append: { header: { key, value }, append_action: 'OVERWRITE_IF_EXISTS_OR_ADD' },
        })),
      ],
    },
  },
  [FILTERS.requestId]: requestId?.typed_config,
  [FILTERS.extProc]: {
    '@type': `${TYPE}.ext_proc.v3.ExtProcPerRoute`,
    overrides: {},
  },
  [FILTERS.ownRoutes]: NO_OWN_ROUTE,
  [FILTERS.baseUrl]: baseUrl?.typed_config,
})

/**
 * With HTTP/2 the request would carry the scheme of the listener, since only the connection manager can make it that of the
 * upstream. HTTP/1.1 sends none.
 */
function useHttp1({ name, typed_extension_protocol_options: all }: Cluster): void {
  const [options] = Object.values(all as Record<string, UpstreamOptions>)
  if (options === undefined) throw new Error(`the cluster ${name} has no options`)
  delete options.auto_config
  options.explicit_http_config = { http_protocol_options: { enable_trailers: true } }
}

const ROUTE_PREFIX = 'agw-'

function ownRoute(route: Route): Route {
  const { typed_per_filter_config: filters, ...rest } = route
  const own = {
    [FILTERS.forward]: filters?.['envoy.filters.http.dynamic_forward_proxy'],
    [FILTERS.ownRoutes]: filters?.[OWN_ROUTES],
  }
  const perRoute = Object.entries(own).filter(([, config]) => config !== undefined)
  return {
    ...rest,
    name: `${ROUTE_PREFIX}${route.name}`,
    ...(perRoute.length === 0 ? {} : { typed_per_filter_config: Object.fromEntries(perRoute) }),
  }
}

/** A handshake must reach the processor, whatever their connection manager says of upgrades. */
const withHandshakes = (route: Route): Route => ({
  ...route,
  route: { ...route.route, upgrade_configs: [{ upgrade_type: 'websocket' }] },
})

/**
 * What a processor has decided and no route above has matched. Its path is that of the API by now, so that a route of theirs
 * could match it, and would get the credential. Only a processor writes this metadata.
 */
const afterVerdict = (route: Route): Route => ({
  ...route,
  match: {
    prefix: '/',
    dynamic_metadata: [{ filter: 'agw', path: [{ key: 'f' }], value: { present_match: true } }],
  },
})

/** Paths that begin with a target URL, with one slash or two after the colon. */
const entrances = (route: Route): readonly Route[] =>
  ['https', 'http'].map((scheme) => ({
    ...route,
    name: `${route.name}-${scheme}`,
    match: { prefix: `/${scheme}:/`, case_sensitive: false },
  }))

/** A retry policy of their virtual host would apply to a route that has none. */
function inTheirHost(route: Route, host: Host, perRoute: Message): Route {
  return {
    ...route,
    request_body_buffer_limit: host.request_body_buffer_limit,
    response_headers_to_add: [
      ...host.response_headers_to_add,
      ...(route.response_headers_to_add ?? []),
    ],
    typed_per_filter_config: { ...perRoute, ...route.typed_per_filter_config },
    route: { retry_policy: { num_retries: 0 }, ...route.route },
  }
}

/** Their other routes are not ours to report. */
const onlyOurs = (log: AccessLog): AccessLog => ({
  ...log,
  filter: {
    and_filter: {
      filters: [
        {
          extension_filter: {
            name: 'envoy.access_loggers.extension_filters.cel',
            typed_config: {
              '@type':
                'type.googleapis.com/envoy.extensions.access_loggers.filters.cel.v3.ExpressionFilter',
              expression: `xds.route_name.startsWith('${ROUTE_PREFIX}') || response.code_details.startsWith('${OTHER_ROUTE_DETAILS}')`,
            },
          },
        },
        ...log.filter.and_filter.filters,
      ],
    },
  },
})
