import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { parse, stringify } from 'yaml'
import { egressProxyOf } from '../core/egress/egress-proxy.ts'
import { HEADER_GROUPS } from '../core/catalogue/header-table.ts'
import { fromRoot } from '../core/system/root.ts'
import type { Settings } from '../core/settings/settings.ts'
import { addForwardProxy } from './add-forward-proxy.ts'
import { addTracing } from './add-tracing.ts'
import { addUpstreamTemplates } from './add-upstream-templates.ts'
import { fillTemplate } from './fill-template.ts'
import { localReplies } from './local-replies.ts'
import type { ConfigPart } from './config-part.ts'
import { cidrRange, refusedRanges } from './refused-ranges.ts'
import { tlsContexts } from './tls-contexts.ts'

/** What is decided at each start, beside the settings. */
export interface BootFacts {
  readonly envoy_admin_socket: string
  /** `unix:/path` or `host:port`, one for each ext-proc process. */
  readonly ext_proc_addresses: readonly string[]
  /** So many of them, the first, decide calls, and the others while none of these is healthy; without it, all do. */
  readonly ext_proc_active?: number
  /** There is one process, whose socket outlives it: calls wait in it for the next one. */
  readonly is_ext_proc_held?: boolean
  /** The same for the receiver of the access log; null where the processors take it themselves. */
  readonly access_log_address: string | null
  /** The admin service's Unix socket: agents' questions about themselves are routed to it, and /admin when the settings say so. */
  readonly admin_socket: string | null
  /** What processors send. */
  readonly verdict_secret: string
  /** Accepted too, while the secret is rotated. */
  readonly older_verdict_secrets?: readonly string[]
  /** `http://127.0.0.1:8082` when the echo API runs. */
  readonly echo_origin: string | null
  /** Where Envoy finds the files of `sdsFiles`; without it, renewed certificates need a restart of Envoy. */
  readonly sds_directory?: string
  /** PEM bundle that upstream certificates are checked against. */
  readonly trusted_ca_file: string
  /** Null: Envoy reads the memory limit of its own container. */
  readonly heap_limit_bytes: number | null
  /** How long a processor may take for one answer; tests that make it silent set it. */
  readonly message_timeout_ms?: number
}

/** Each connection costs a file descriptor and some kilobytes; the heap limit is the other bound. */
const CONNECTIONS_LIMIT = 20_000

/** Enough for a fast stream; both stay below the largest body that is held, see envoy/bootstrap.yaml. */
const CONNECTION_BUFFER_BYTES = 256 * 1024
const STREAM_WINDOW_BYTES = 1024 * 1024

/** The processor refuses what is over the setting, to the byte; Envoy's own limit is behind it. */
const HELD_BODY_MARGIN_BYTES = 64 * 1024

/** Longer than the scan of the largest body may take behind others; a processor that hangs is cut by the keepalive. */
const MESSAGE_TIMEOUT_MS = 20_000

/** Until the decision, a call is quiet for no longer than a message may take; its end must come first, since it has a cause. */
const DECISION_MARGIN_MS = 5000

/** HTTP/2 gives each stream at least this much. */
const STREAM_WINDOW_MIN_BYTES = 65_535

/** How long a processor may hang before its calls are cut, as a share of the lease (0.5 s and 1 s of 3 s). */
const KEEPALIVE_INTERVAL_SHARE = 1 / 6
const KEEPALIVE_TIMEOUT_SHARE = 1 / 3

/**
 * Health checks that fail before a processor gets no calls; each takes their interval, and up to a second more. A held socket keeps
 * calls for as long as Envoy repeats them (five attempts of 1.5 s).
 */
const HEALTH_CHECKS = {
  held: { unhealthy_threshold: 5, health_interval: '0.5s' },
  otherwise: { unhealthy_threshold: 2, health_interval: '0.4s' },
}

/** Headers that end at this gateway; `_` is read as `-` because CGI-like servers do so. */
const KEPT_FROM_UPSTREAM = HEADER_GROUPS.filter(({ in_envoy }) => in_envoy)
  .flatMap(({ names }) => [...names])
  .map((name) => name.replaceAll('-', '[-_]').replace('*', '.*'))
  .concat('te')
  .join('|')

/**
 * Response headers that would act on the gateway's whole origin, which all APIs share: what a browser or another client
 * stores for an origin, and what a web server in front of the gateway obeys.
 */
const ACTS_ON_ORIGIN = [
  'accept-ch',
  'accept-ch-lifetime',
  'alt-svc',
  'alternate-protocol',
  'attribution-reporting-register-os-source',
  'attribution-reporting-register-os-trigger',
  'attribution-reporting-register-source',
  'attribution-reporting-register-trigger',
  'clear-site-data',
  'critical-ch',
  'edge-control',
  'expect-ct',
  'idp-signin-status',
  'nel',
  'origin-agent-cluster',
  'origin-isolation',
  'public-key-pins',
  'public-key-pins-report-only',
  'report-to',
  'reporting-endpoints',
  'sec-session-challenge',
  'sec-session-registration',
  'secure-session-challenge',
  'secure-session-registration',
  'service-worker-allowed',
  'set-cookie2',
  'set-login',
  'shared-storage-write',
  'strict-transport-security',
  'surrogate-control',
  'use-as-dictionary',
  'x-accel-redirect',
  'x-archive-files',
  'x-lighttpd-send-file',
  'x-lighttpd-send-tempfile',
  'x-litespeed-location',
  'x-litespeed-purge',
  'x-litespeed-purge2',
  'x-reproxy-file',
  'x-reproxy-url',
  'x-sendfile',
  'x-sendfile-temporary',
  'x-sendfile2',
]

/**
 * What leads a client elsewhere, the clients of Azure and Google that wait for an operation or upload in pieces included,
 * or sets a cookie; in a header the processor judges it, in a trailer it has no use.
 */
const LEADS_ELSEWHERE = [
  'location',
  'set-cookie',
  'link',
  'content-location',
  'refresh',
  'operation-location',
  'azure-asyncoperation',
  'x-goog-upload-url',
  'x-goog-upload-control-url',
  'odata-entityid',
  'x-storage-url',
  'www-authenticate',
  'proxy-authenticate',
]

/** What an upstream must not say in our name, or to an Envoy in front of this one (`x-envoy-immediate-health-check-fail`). */
const KEPT_FROM_CALLER = 'x[-_]agw[-_].*|x[-_]envoy[-_].*'

/** Any value. A dot would not match bytes that are no UTF-8. */
const ANY = String.raw`\C*`

/**
 * The responses that the processor sees: those that may lead a client elsewhere or set a cookie, an unasked 101, and
 * those of a call for which the processor has asked to see them.
 */
const LOOKED_AT: readonly { readonly name: string; readonly value: string }[] = [
  ...LEADS_ELSEWHERE.map((name) => ({ name, value: ANY })),
  { name: ':status', value: String.raw`1\d\d|\d{4,}` },
  { name: 'x-agw-look', value: ANY },
]

const headerMatches = (side: 'Request' | 'Response', name: string, value: string): object => ({
  single_predicate: {
    input: {
      name: 'header',
      typed_config: {
        '@type': `type.googleapis.com/envoy.type.matcher.v3.Http${side}HeaderMatchInput`,
        header_name: name,
      },
    },
    value_match: { safe_regex: { google_re2: {}, regex: value } },
  },
})

/**
 * Event streams in which an MCP server may name its endpoint. The response header comes first: Envoy cannot evaluate the
 * method of a request that it refuses before its headers are known, and would never answer it.
 */
const EVENTS_OF_GET: readonly object[] = [
  headerMatches('Response', 'content-type', String.raw`(?i)\C*text/event-stream\C*`),
  headerMatches('Request', ':method', 'GET'),
]

/**
 * Envoy names each call and never takes the caller's name for it. What Envoy refuses before it knows the headers has
 * none; the nanosecond at which that call began stands in.
 */
const REQUEST_ID = `%COALESCE(${JSON.stringify({
  operators: [
    { command: 'FILTER_STATE', param: 'agw.request_id:PLAIN' },
    { command: 'START_TIME', param: '%s%9f' },
  ],
})})%`

/** The bootstrap as YAML, each part that is used several times once. */
export const renderBootstrap = (settings: Settings, facts: BootFacts): string =>
  stringify(withOptions(baseUrlBootstrap(settings, facts), settings, facts), { lineWidth: 0 })

/** The bootstrap, with the forward proxy and tracing if they are on, from what the build has made of envoy/bootstrap.yaml: fast to read. */
export function bootstrapOf(settings: Settings, facts: BootFacts): ConfigPart {
  const built = readFileSync(fromRoot('dist', 'envoy', 'bootstrap.json'), 'utf8')
  return withOptions(fill(JSON.parse(built) as ConfigPart, settings, facts), settings, facts)
}

function withOptions(base: ConfigPart, settings: Settings, facts: BootFacts): ConfigPart {
  const bootstrap = withForwardProxy(base, settings, facts)
  return settings.traceUrl === null ? bootstrap : addTracing(bootstrap, settings.traceSample)
}

function withForwardProxy(base: ConfigPart, settings: Settings, facts: BootFacts): ConfigPart {
  const bootstrap = addUpstreamTemplates(base)
  if (settings.forwardPort === null) return bootstrap
  const limits = { body_bytes: settings.maxBodyBytes }
  const entry_replies = localReplies(limits, REQUEST_ID, true)
  return addForwardProxy(bootstrap, { settings, verdict_secrets: secretsOf(facts), entry_replies })
}

/** envoy/bootstrap.yaml, parsed once. */
let template: ConfigPart | null = null

/** What serves base URLs: envoy/bootstrap.yaml with every `$name` filled in. */
export function baseUrlBootstrap(settings: Settings, facts: BootFacts): ConfigPart {
  template ??= parse(readFileSync(fromRoot('envoy', 'bootstrap.yaml'), 'utf8'), {
    maxAliasCount: -1,
  }) as ConfigPart
  return fill(template, settings, facts)
}

function fill(source: ConfigPart, settings: Settings, facts: BootFacts): ConfigPart {
  const values = new Map(Object.entries(placeholders(settings, facts)))
  const bootstrap = fillTemplate(source, values)
  repeatPassRoutes(bootstrap as unknown as Routed, secretsOf(facts))
  return bootstrap
}

const secretsOf = ({
  verdict_secret,
  older_verdict_secrets = [],
}: BootFacts): readonly string[] => [verdict_secret, ...older_verdict_secrets]

interface Route {
  readonly match: { readonly headers?: readonly { readonly name: string }[] }
}

/** A bootstrap, as far as its routes are concerned. */
interface Routed {
  readonly static_resources: {
    readonly listeners: readonly [
      {
        readonly filter_chains: readonly [
          {
            readonly filters: readonly [
              {
                readonly typed_config: {
                  readonly route_config: { readonly virtual_hosts: readonly [{ routes: Route[] }] }
                }
              },
            ]
          },
        ]
      },
    ]
  }
}

/** One route for each secret: Envoy cannot match one of several exact values, and it limits the size of a pattern. */
function repeatPassRoutes({ static_resources }: Routed, secrets: readonly string[]): void {
  const [{ filter_chains }] = static_resources.listeners
  const { route_config } = filter_chains[0].filters[0].typed_config
  const [host] = route_config.virtual_hosts
  host.routes = host.routes.flatMap((route) => {
    const [verdict, ...others] = route.match.headers ?? []
    if (verdict?.name !== VERDICT) return [route]
    return secrets.map((exact) => {
      const headers = [{ ...verdict, string_match: { exact } }, ...others]
      return { ...route, match: { ...route.match, headers } }
    })
  })
}

/** The first header that a route matches which forwards. */
const VERDICT = 'x-agw-pass'

/** Null leaves out the blocks that need the value. */
function placeholders(settings: Settings, facts: BootFacts): Record<string, unknown> {
  const echo = facts.echo_origin === null ? null : new URL(facts.echo_origin)
  const proxy = egressProxyOf(settings)
  const message_timeout_ms = facts.message_timeout_ms ?? MESSAGE_TIMEOUT_MS
  const max_message_timeout_ms = message_timeout_ms + settings.approvalMaxWait_ms
  return {
    edge_id: settings.edgeId,
    envoy_admin_socket: facts.envoy_admin_socket,
    heap_limit_bytes: facts.heap_limit_bytes,
    container_memory: facts.heap_limit_bytes === null ? true : null,
    memory_monitor: `envoy.resource_monitors.${facts.heap_limit_bytes === null ? 'cgroup_memory' : 'fixed_heap'}`,
    connections_limit: CONNECTIONS_LIMIT,
    proxy_host: settings.proxyHost,
    // `::` means all addresses of both families, as it does for the admin service.
    proxy_both_families: /^[0:]+$/.test(settings.proxyHost),
    proxy_port: settings.proxyPort,
    tls_cert_file: settings.tlsCertFile,
    ...tlsContexts(settings, facts.sds_directory ?? null),
    verdict_secret: facts.verdict_secret,
    max_body_bytes: settings.maxBodyBytes,
    connection_buffer_bytes: Math.min(
      CONNECTION_BUFFER_BYTES,
      Math.floor(settings.maxBodyBytes / 2),
    ),
    held_body_bytes: settings.maxBodyBytes + HELD_BODY_MARGIN_BYTES,
    stream_window_bytes: Math.max(
      STREAM_WINDOW_MIN_BYTES,
      Math.min(STREAM_WINDOW_BYTES, Math.floor(settings.maxBodyBytes / 2)),
    ),
    trusted_hops: settings.trustedHops,
    // Applies until a route is chosen by the decision, which may take as long as Envoy waits for it.
    stream_idle_timeout: seconds(
      Math.max(settings.upstreamIdleTimeout_ms, message_timeout_ms + DECISION_MARGIN_MS),
    ),
    upstream_idle_timeout: seconds(settings.upstreamIdleTimeout_ms),
    upstream_pool_idle_timeout: seconds(settings.upstreamPoolIdleTimeout_ms),
    undecided_timeout: seconds(settings.heldBodyTimeout_ms + settings.approvalMaxWait_ms),
    message_timeout: seconds(message_timeout_ms),
    max_message_timeout: seconds(max_message_timeout_ms),
    local_replies: localReplies({ body_bytes: settings.maxBodyBytes }, REQUEST_ID),
    request_id: REQUEST_ID,
    admin_socket: facts.admin_socket,
    admin_route_socket: settings.proxyAdmin ? facts.admin_socket : null,
    echo_host: echo?.hostname ?? null,
    echo_port: echo === null ? null : Number(echo.port || 80),
    refused_ranges: refusedRanges(settings.egressAllowCidrs).map(cidrRange),
    egress_proxy: proxy === null ? null : endpoints([hostPort(proxy.host, proxy.port)]),
    egress_proxy_headers: (proxy?.authorization == null ? [] : [proxy.authorization.reveal()]).map(
      (value) => ({ header: { key: 'proxy-authorization', value } }),
    ),
    dns_resolvers:
      settings.dnsResolvers.length === 0 ? null : settings.dnsResolvers.map(socketAddress),
    ...processors(facts),
    ext_proc_tls_cert_file: settings.extProcTlsCertFile,
    ...HEALTH_CHECKS[facts.is_ext_proc_held ? 'held' : 'otherwise'],
    keepalive_interval: seconds(settings.killLease_ms * KEEPALIVE_INTERVAL_SHARE),
    keepalive_timeout: seconds(settings.killLease_ms * KEEPALIVE_TIMEOUT_SHARE),
    kept_from_upstream: KEPT_FROM_UPSTREAM,
    kept_from_headers: removals(ACTS_ON_ORIGIN),
    kept_from_trailers: removals([...ACTS_ON_ORIGIN, ...LEADS_ELSEWHERE]),
    looked_at: [
      ...LOOKED_AT.map(({ name, value }) => headerMatches('Response', name, value)),
      { and_matcher: { predicate: EVENTS_OF_GET } },
    ],
    trusted_ca_file: facts.trusted_ca_file,
  }
}

/** Where calls and the access log are sent. */
function processors(facts: BootFacts): Record<string, unknown> {
  const receiver = facts.access_log_address === null ? [] : [facts.access_log_address]
  const everyOne = [...receiver, ...facts.ext_proc_addresses]
  const active = facts.ext_proc_active ?? facts.ext_proc_addresses.length
  const standby = facts.ext_proc_addresses.slice(active)
  return {
    ext_proc_discovery: everyOne.every(isNumeric) ? 'STATIC' : 'STRICT_DNS',
    ext_proc_endpoints: byPriority(
      endpoints(facts.ext_proc_addresses.slice(0, active)),
      endpoints(standby),
    ),
    ext_proc_standby: standby.length > 0 ? standby : null,
    access_log_endpoints: byPriority(
      endpoints(receiver),
      endpoints(facts.ext_proc_addresses, UNCHECKED),
    ),
  }
}

const byPriority = (...groups: readonly (readonly object[])[]): readonly object[] =>
  groups
    .filter((group) => group.length > 0)
    .map((lb_endpoints, priority) => ({ priority, lb_endpoints }))

/** Mutations of Envoy's: a pattern for our own names, and one name after the other. One pattern for all would be too large for it. */
const removals = (names: readonly string[]): readonly object[] => [
  { remove_on_match: { key_matcher: { safe_regex: { regex: KEPT_FROM_CALLER } } } },
  ...names.map((name) => ({ remove: name })),
]

const seconds = (ms: number): string => `${(ms / 1000).toFixed(3)}s`

const UNIX = 'unix:'

const UNCHECKED = { health_check_config: { disable_active_health_check: true } }

const endpoints = (addresses: readonly string[], more: object = {}): readonly object[] =>
  addresses.map((address) => ({ endpoint: { address: endpointAddress(address), ...more } }))

const endpointAddress = (address: string): object =>
  address.startsWith(UNIX) ? { pipe: { path: address.slice(UNIX.length) } } : socketAddress(address)

function socketAddress(hostPort: string): object {
  const [host, port] = splitHostPort(hostPort)
  return { socket_address: { address: host, port_value: port } }
}

/** Whether no name has to be resolved. */
const isNumeric = (address: string): boolean =>
  address.startsWith(UNIX) || isIP(splitHostPort(address)[0]) > 0

const hostPort = (host: string, port: number): string =>
  `${isIP(host) === 6 ? `[${host}]` : host}:${port}`

function splitHostPort(hostPort: string): [string, number] {
  const colon = hostPort.lastIndexOf(':')
  return [hostPort.slice(0, colon).replace(/^\[|\]$/g, ''), Number(hostPort.slice(colon + 1))]
}
