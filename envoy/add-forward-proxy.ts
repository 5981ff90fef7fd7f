import type { Settings } from '../core/settings/settings.ts'
import { proxiedCluster } from '../core/store/upstream-cluster.ts'
import { type ConfigPart, listAt, partAt } from './config-part.ts'
import { cidrRange, refusedRanges } from './refused-ranges.ts'

export interface ForwardOptions {
  readonly settings: Pick<
    Settings,
    | 'forwardPort'
    | 'forwardTls'
    | 'forwardBlindHosts'
    | 'egressProxy'
    | 'upstreamIdleTimeout_ms'
    | 'drainTimeout_ms'
  >
  /** The routes match any of them. */
  readonly verdict_secrets: readonly string[]
  /** For Envoy's own answers where tunnels are opened. */
  readonly entry_replies: object
}

/** An inner connection that is silent, or stops in the middle of its first bytes, is closed. */
const SILENT_LIMIT = '10s'
/** The longest life of a tunnel: for Envoy it is one request. */
const TUNNEL_LIMIT = '86400s'
/**
 * A process that drains keeps the tunnels that it has opened until the limit of the drain, while others decide the calls in them.
 * Clients are asked to open a new tunnel before that: with `Connection: close` or GOAWAY once a connection in a tunnel has lived
 * for this part of the limit, and up to a tenth longer, so that they do not all come at once. Over HTTP/2, streams that begin before
 * the client has read the GOAWAY are accepted for the second part. It is not asked for by the drain itself, of which Envoy and the
 * other processes need not know.
 */
const LIFE_PER_DRAIN = 0.65
const LIFE_JITTER_PERCENT = 10
const GOAWAY_PER_DRAIN = 0.08

/** The calls in a tunnel end by their own timeout first. */
const IDLE_MARGIN_MS = 60_000

const BLIND = 'forward_blind'
const INTERNAL = 'envoy.bootstrap.internal_listener'

const HOPS = {
  entry: 'agw-forward-entry',
  https: 'agw-forward-https',
  http: 'agw-forward-http',
} as const

/**
 * Adds the forward proxy to a bootstrap: a listener for CONNECT and for `http://` URLs in absolute form, and an internal listener
 * in which each tunnel ends, with TLS or without. Both are the listener of the base URLs with a few members changed, so that a
 * call is decided, forwarded, logged and refused by the same filters and routes whichever way it came.
 */
export function addForwardProxy(bootstrap: ConfigPart, options: ForwardOptions): ConfigPart {
  const resources = partAt(bootstrap, 'static_resources')
  const listeners = listAt(resources, 'listeners')
  const agents = named(listeners, 'agents')
  const clusters = listAt(resources, 'clusters')
  const cache = strictCache(named(clusters, 'upstream_http'))
  const http = withUnlistedHosts(httpOf(agents), cache)
  return {
    ...bootstrap,
    bootstrap_extensions: [
      // The egress proxy has one, too.
      ...listAt(bootstrap, 'bootstrap_extensions').filter(({ name }) => name !== INTERNAL),
      extension(INTERNAL, 'bootstrap.internal_listener.v3.InternalListener'),
    ],
    static_resources: {
      ...resources,
      listeners: [
        ...listeners,
        entryListener(agents, http, options),
        insideListener(agents, http, options),
      ],
      clusters: [
        ...clusters,
        insideCluster(named(clusters, 'ext_proc')),
        ...(options.settings.forwardBlindHosts.length === 0 ? [] : blindClusters(clusters)),
        ...UNLISTED.map(({ up, scheme }) =>
          unlistedCluster(named(clusters, `upstream_${scheme}`), up, cache),
        ),
      ],
    },
  }
}

/** Where clients connect to. */
function entryListener(agents: ConfigPart, http: ConfigPart, options: ForwardOptions): ConfigPart {
  const { forwardPort, forwardTls } = options.settings
  const address = partAt(partAt(agents, 'address'), 'socket_address')
  const [chain = {}] = listAt(agents, 'filter_chains')
  const [first, ...filters] = listAt(http, 'http_filters')
  const router = filters.at(-1)
  const options_1 = partAt(http, 'http_protocol_options')
  const entry = {
    ...http,
    stat_prefix: 'forward',
    codec_type: 'HTTP1',
    // http.client of Python before 3.12 writes CONNECT … HTTP/1.0.
    http_protocol_options: { ...options_1, accept_http_10: true },
    request_timeout: TUNNEL_LIMIT,
    upgrade_configs: [...listAt(http, 'upgrade_configs'), { upgrade_type: 'CONNECT' }],
    early_header_mutation_extensions: forgetting(http, []),
    local_reply_config: options.entry_replies,
    route_config: withRoutes(http, (routes) => [
      ...tunnelRoutes(options),
      ...routes.filter(({ name }) => PLAIN_ROUTES.test(String(name))),
      { name: 'no-verdict', match: { connect_matcher: {} }, route: { cluster: 'nowhere' } },
      ...routes.filter(({ name }) => name === 'no-verdict'),
    ]),
    http_filters: [
      first,
      ...filters.slice(0, -1).map((filter) => withAuthority(filter, HOPS.entry)),
      TUNNEL_STATE,
      router,
    ],
  }
  const { transport_socket } = chain
  const tls =
    forwardTls && transport_socket !== undefined
      ? { transport_socket: overHttp1(transport_socket) }
      : {}
  return {
    ...agents,
    name: 'forward',
    address: { socket_address: { ...address, port_value: forwardPort } },
    filter_chains: [{ ...tls, filters: [{ name: 'http', typed_config: entry }] }],
  }
}

/** Only calls of `http://` URLs come without a tunnel. */
const PLAIN_ROUTES = /^pass-(?:http$|http-|echo$|unlisted-)/
const PASS_ROUTES = /^(?:pass-|no-verdict$)/

const tunnelRoutes = ({ settings, verdict_secrets }: ForwardOptions): readonly ConfigPart[] =>
  verdict_secrets.flatMap((verdict_secret) => tunnelRoutesWith(settings, verdict_secret))

function tunnelRoutesWith(
  settings: ForwardOptions['settings'],
  verdict_secret: string,
): readonly ConfigPart[] {
  const idle_timeout = seconds(settings.upstreamIdleTimeout_ms + IDLE_MARGIN_MS)
  const route = (up: string, more: ConfigPart): ConfigPart => ({
    name: `pass-${up}`,
    match: {
      connect_matcher: {},
      headers: [
        { name: 'x-agw-pass', string_match: { exact: verdict_secret } },
        { name: 'x-agw-up', string_match: { exact: up } },
      ],
    },
    ...more,
  })
  const upgrade_configs = [{ upgrade_type: 'CONNECT', connect_config: {} }]
  const intercepted = route('tunnel', {
    route: { cluster: 'forward_inside', timeout: '0s', idle_timeout, upgrade_configs },
  })
  if (settings.forwardBlindHosts.length === 0) return [intercepted]
  const to = (cluster: string): ConfigPart => ({
    cluster,
    timeout: '0s',
    idle_timeout,
    upgrade_configs,
    host_rewrite_header: 'x-agw-host',
  })
  const blind = route('blind', {
    route: to(BLIND),
    typed_per_filter_config: {
      'envoy.filters.http.dynamic_forward_proxy': {
        '@type': type('filters.http.dynamic_forward_proxy.v3.PerRouteConfig'),
        host_rewrite_header: 'x-agw-host',
      },
    },
  })
  if (settings.egressProxy === null) return [intercepted, blind]
  return [intercepted, blind, route('blind-proxied', { route: to(proxiedCluster('blind')) })]
}

/**
 * What the tunnel takes to its inner connection. The facts are hashable and hold a random id, so they are a part of the key by
 * which Envoy pools connections: with a plain string, a connection that one client abandons is given to another, with the
 * identity of the first.
 */
const TUNNEL_STATE: ConfigPart = extension(
  'envoy.filters.http.set_filter_state',
  'filters.http.set_filter_state.v3.Config',
  {
    on_request_headers: [
      {
        object_key: 'agw.tunnel',
        factory_key: 'envoy.hashable_string',
        format_string: {
          text_format_source: { inline_string: '%REQ(x-agw-tunnel)%' },
          omit_empty_values: true,
        },
        shared_with_upstream: 'ONCE',
        skip_if_empty: true,
      },
      // For the choice of the filter chain.
      {
        ...filterState('agw.tunnel_host', '%REQ(x-agw-host)%'),
        shared_with_upstream: 'ONCE',
      },
      // The inner connection has the addresses of the outer one. Otherwise the peer would be Envoy itself, whose
      // `x-envoy-external-address` is believed.
      ...[
        ['remote_ip', '%DOWNSTREAM_REMOTE_ADDRESS%'],
        ['local_ip', '%DOWNSTREAM_LOCAL_ADDRESS%'],
      ].map(([member, inline_string]) => ({
        object_key: `envoy.filters.listener.original_dst.${member}`,
        format_string: { text_format_source: { inline_string } },
        shared_with_upstream: 'ONCE',
      })),
    ],
  },
)

/** Where tunnels end. */
function insideListener(
  agents: ConfigPart,
  http: ConfigPart,
  { settings }: ForwardOptions,
): ConfigPart {
  const { drainTimeout_ms } = settings
  const common = partAt(http, 'common_http_protocol_options')
  const inside = (authority: string): ConfigPart => ({
    ...http,
    stat_prefix: authority,
    common_http_protocol_options: {
      ...common,
      max_connection_duration: seconds(drainTimeout_ms * LIFE_PER_DRAIN),
      max_connection_duration_jitter: { value: LIFE_JITTER_PERCENT },
    },
    // Over HTTP/1.1 it ends with the next response. Otherwise Envoy would close it while a request is on its way.
    http1_safe_max_connection_duration: true,
    drain_timeout: seconds(drainTimeout_ms * GOAWAY_PER_DRAIN),
    // Nobody stands between the client and the end of its tunnel.
    xff_num_trusted_hops: 0,
    early_header_mutation_extensions: forgetting(http, [
      ['x-agw-tunnel', '%FILTER_STATE(agw.tunnel:PLAIN)%'],
      ['x-agw-sni', '%REQUESTED_SERVER_NAME%'],
    ]),
    route_config: withRoutes(http, (routes) =>
      routes.filter(({ name }) => PASS_ROUTES.test(String(name))),
    ),
    http_filters: listAt(http, 'http_filters').map((filter) => withAuthority(filter, authority)),
  })
  const chain = (authority: string, more: ConfigPart): ConfigPart => ({
    name: authority,
    ...more,
    filters: [{ name: 'http', typed_config: inside(authority) }],
  })
  return {
    name: 'forward_inside',
    internal_listener: {},
    per_connection_buffer_limit_bytes: agents['per_connection_buffer_limit_bytes'],
    listener_filters_timeout: SILENT_LIMIT,
    continue_on_listener_filters_timeout: false,
    listener_filters: [
      extension('caller', 'filters.listener.original_dst.v3.OriginalDst'),
      extension('tls', 'filters.listener.tls_inspector.v3.TlsInspector'),
      COMPARED_NAME,
    ],
    filter_chain_matcher: WHICH_CHAIN,
    filter_chains: [
      chain(HOPS.https, {
        transport_socket_connect_timeout: SILENT_LIMIT,
        transport_socket: SERVER_TLS,
      }),
      // Some clients open a tunnel for `http://` too.
      chain(HOPS.http, {}),
      OTHER_NAME,
    ],
  }
}

/** Whether the server name of TLS is the host of the tunnel. CEL reads filter state as bytes, so both are in it. */
const COMPARED_NAME: ConfigPart = extension(
  'compared-name',
  'filters.listener.set_filter_state.v3.Config',
  {
    on_accept: [
      filterState('agw.server_name', '%REQUESTED_SERVER_NAME%'),
      filterState(
        'agw.is_tunnel_host',
        "%CEL(filter_state['agw.server_name'] == filter_state['agw.tunnel_host'])%",
      ),
    ],
  },
)

function filterState(object_key: string, inline_string: string): ConfigPart {
  return {
    object_key,
    factory_key: 'envoy.string',
    format_string: { text_format_source: { inline_string } },
  }
}

/** Certificates are issued only for the host of a tunnel: to be asked for one costs memory in Envoy and time in ext-proc. */
const WHICH_CHAIN: ConfigPart = {
  matcher_list: {
    matchers: [
      chosenBy(
        extension('transport', 'matching.common_inputs.network.v3.TransportProtocolInput'),
        'raw_buffer',
        HOPS.http,
      ),
      chosenBy(
        extension('name', 'matching.common_inputs.network.v3.FilterStateInput', {
          key: 'agw.is_tunnel_host',
        }),
        'true',
        HOPS.https,
      ),
    ],
  },
  on_no_match: { action: chainNamed('other-name') },
}

function chosenBy(input: ConfigPart, exact: string, chain: string): ConfigPart {
  return {
    predicate: { single_predicate: { input, value_match: { exact } } },
    on_match: { action: chainNamed(chain) },
  }
}

function chainNamed(value: string): ConfigPart {
  return {
    name: value,
    typed_config: { '@type': 'type.googleapis.com/google.protobuf.StringValue', value },
  }
}

/** A record of TLS with the fatal alert `unrecognized_name` (RFC 6066, 3). */
const UNRECOGNIZED_NAME = Buffer.from([0x15, 0x03, 0x03, 0x00, 0x02, 0x02, 0x70])

const OTHER_NAME: ConfigPart = {
  name: 'other-name',
  filters: [
    extension('unrecognized-name', 'filters.network.direct_response.v3.Config', {
      response: { inline_bytes: UNRECOGNIZED_NAME.toString('base64') },
    }),
  ],
}

/** A certificate for the host of each tunnel; ext-proc issues them. A resumed session would skip the question. */
const SERVER_TLS: ConfigPart = extension(
  'envoy.transport_sockets.tls',
  'transport_sockets.tls.v3.DownstreamTlsContext',
  {
    disable_stateless_session_resumption: true,
    disable_stateful_session_resumption: true,
    common_tls_context: {
      alpn_protocols: ['h2', 'http/1.1'],
      tls_params: { tls_minimum_protocol_version: 'TLSv1_2' },
      custom_tls_certificate_selector: extension(
        'on-demand',
        'transport_sockets.tls.cert_selectors.on_demand_secret.v3.Config',
        {
          config_source: {
            resource_api_version: 'V3',
            initial_fetch_timeout: '0s',
            api_config_source: {
              // With the state-of-the-world protocol, a name that is refused hangs and stays.
              api_type: 'DELTA_GRPC',
              transport_api_version: 'V3',
              grpc_services: [{ envoy_grpc: { cluster_name: 'ext_proc' } }],
            },
          },
          certificate_mapper: extension(
            'sni',
            'transport_sockets.tls.cert_mappers.sni.v3.SNI',
            // A client that names none does not get here.
            { default_value: '-' },
          ),
        },
      ),
    },
  },
)

const insideCluster = ({ circuit_breakers }: ConfigPart): ConfigPart => ({
  name: 'forward_inside',
  connect_timeout: '1s',
  circuit_breakers,
  transport_socket: extension(
    'envoy.transport_sockets.internal_upstream',
    'transport_sockets.internal_upstream.v3.InternalUpstreamTransport',
    {
      transport_socket: extension(
        'envoy.transport_sockets.raw_buffer',
        'transport_sockets.raw_buffer.v3.RawBuffer',
      ),
    },
  ),
  load_assignment: {
    cluster_name: 'forward_inside',
    endpoints: [
      {
        lb_endpoints: [
          {
            endpoint: {
              address: { envoy_internal_address: { server_listener_name: 'forward_inside' } },
            },
          },
        ],
      },
    ],
  },
})

/** Connect as the clusters of the APIs do: by names that Envoy resolves and judges, or through the egress proxy. */
const blindClusters = (clusters: readonly ConfigPart[]): readonly ConfigPart[] =>
  Object.entries({
    upstream_http: BLIND,
    [proxiedCluster('http')]: proxiedCluster('blind'),
  }).flatMap(([like, name]) =>
    clusters
      .filter((cluster) => cluster['name'] === like)
      .map((cluster) => ({ ...cluster, name, typed_extension_protocol_options: undefined })),
  )

/**
 * Hosts in no integration. Their names are resolved in a cache of their own, so that they neither fill the other one nor find the
 * private addresses that are allowed there.
 */
const UNLISTED = [
  { up: 'unlisted-https', scheme: 'https' },
  { up: 'unlisted-http', scheme: 'http' },
] as const
const DNS_FILTER = 'envoy.filters.http.dynamic_forward_proxy'
const UNLISTED_FILTER = 'agw.unlisted_hosts'

/** The cache of a cluster for APIs, with a name of its own and all private addresses refused. */
function strictCache(upstream: ConfigPart): ConfigPart {
  const config = partAt(partAt(upstream, 'cluster_type'), 'typed_config')
  const ranges = refusedRanges([]).map(cidrRange)
  return {
    ...partAt(config, 'dns_cache_config'),
    name: 'unlisted',
    resolved_address_filter: { ranges },
  }
}

function unlistedCluster(
  upstream: ConfigPart,
  name: string,
  dns_cache_config: ConfigPart,
): ConfigPart {
  const cluster_type = partAt(upstream, 'cluster_type')
  const typed_config = { ...partAt(cluster_type, 'typed_config'), dns_cache_config }
  return { ...upstream, name, cluster_type: { ...cluster_type, typed_config } }
}

/** Routes to the clusters of unlisted hosts. Of the two caches, only the one of a call's own cluster is asked for the host. */
function withUnlistedHosts(http: ConfigPart, dns_cache_config: ConfigPart): ConfigPart {
  return {
    ...http,
    route_config: withRoutes(http, (routes) => [...unlistedRoutes(routes), ...routes]),
    http_filters: listAt(http, 'http_filters').flatMap((filter) => {
      if (filter['name'] !== DNS_FILTER) return [filter]
      const typed_config = { ...partAt(filter, 'typed_config'), dns_cache_config }
      return [
        skippedUnless(filter, false),
        skippedUnless({ name: UNLISTED_FILTER, typed_config }, true),
      ]
    }),
  }
}

const unlistedRoutes = (routes: readonly ConfigPart[]): readonly ConfigPart[] =>
  UNLISTED.flatMap(({ up, scheme }) =>
    routes
      .filter(({ name }) => name === `pass-${scheme}`)
      .map((route) => {
        const match = partAt(route, 'match')
        const [verdict] = listAt(match, 'headers')
        const per_filter = partAt(route, 'typed_per_filter_config')
        return {
          ...route,
          name: `pass-${up}`,
          match: {
            ...match,
            headers: [verdict, { name: 'x-agw-up', string_match: { exact: up } }],
          },
          route: { ...partAt(route, 'route'), cluster: up },
          typed_per_filter_config: { [UNLISTED_FILTER]: per_filter[DNS_FILTER] },
        }
      }),
  )

function skippedUnless({ name, typed_config }: ConfigPart, is_unlisted: boolean): ConfigPart {
  const isUnlisted = {
    single_predicate: {
      input: {
        name: 'header',
        typed_config: {
          '@type': 'type.googleapis.com/envoy.type.matcher.v3.HttpRequestHeaderMatchInput',
          header_name: 'x-agw-up',
        },
      },
      value_match: { prefix: 'unlisted-' },
    },
  }
  const predicate = is_unlisted ? { not_matcher: isUnlisted } : isUnlisted
  return {
    name,
    typed_config: {
      '@type': type('common.matching.v3.ExtensionWithMatcher'),
      xds_matcher: {
        matcher_list: {
          matchers: [
            {
              predicate,
              on_match: {
                action: extension('skip', 'filters.common.matcher.action.v3.SkipFilter'),
              },
            },
          ],
        },
      },
      extension_config: { name, typed_config },
    },
  }
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(3)}s`

function type(name: string): string {
  return `type.googleapis.com/envoy.extensions.${name}`
}

function extension(name: string, config: string, members: ConfigPart = {}): ConfigPart {
  return { name, typed_config: { '@type': type(config), ...members } }
}

function named(list: readonly ConfigPart[], name: string): ConfigPart {
  const found = list.find((one) => one['name'] === name)
  if (found === undefined) throw new Error(`envoy/bootstrap.yaml has no ${name}`)
  return found
}

/** The HTTP connection manager of a listener. */
function httpOf(listener: ConfigPart): ConfigPart {
  const [chain = {}] = listAt(listener, 'filter_chains')
  return partAt(named(listAt(chain, 'filters'), 'http'), 'typed_config')
}

function withRoutes(
  http: ConfigPart,
  change: (routes: readonly ConfigPart[]) => readonly ConfigPart[],
): ConfigPart {
  const config = partAt(http, 'route_config')
  return {
    ...config,
    virtual_hosts: listAt(config, 'virtual_hosts').map((host) => ({
      ...host,
      routes: change(listAt(host, 'routes')),
    })),
  }
}

/** The headers that callers must not set are removed, and `set` holds what Envoy itself says in some of them. */
function forgetting(
  http: ConfigPart,
  set: readonly (readonly [key: string, value: string])[],
): ConfigPart[] {
  return listAt(http, 'early_header_mutation_extensions').map((mutation) => {
    const config = partAt(mutation, 'typed_config')
    const mutations = [
      ...listAt(config, 'mutations'),
      { remove: 'x-agw-tunnel' },
      { remove: 'x-agw-sni' },
      ...set.map(([key, value]) => ({
        append: { header: { key, value }, append_action: 'OVERWRITE_IF_EXISTS_OR_ADD' },
      })),
    ]
    return { ...mutation, typed_config: { ...config, mutations } }
  })
}

/** The gRPC authority tells ext-proc by which way a call came; see ext-proc/envoy/start-server.ts. */
function withAuthority(filter: ConfigPart, authority: string): ConfigPart {
  if (filter['name'] !== 'envoy.filters.http.ext_proc') return filter
  const matching = partAt(filter, 'typed_config')
  const own = partAt(matching, 'extension_config')
  const config = partAt(own, 'typed_config')
  const service = partAt(config, 'grpc_service')
  const grpc_service = { ...service, envoy_grpc: { ...partAt(service, 'envoy_grpc'), authority } }
  const extension_config = { ...own, typed_config: { ...config, grpc_service } }
  return { ...filter, typed_config: { ...matching, extension_config } }
}

function overHttp1(socket: unknown): ConfigPart {
  const config = partAt(socket as ConfigPart, 'typed_config')
  const context = { ...partAt(config, 'common_tls_context'), alpn_protocols: ['http/1.1'] }
  return { ...(socket as ConfigPart), typed_config: { ...config, common_tls_context: context } }
}
