import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { parse, stringify } from 'yaml'
import { runDoctor } from '../../cli/commands/doctor.ts'
import { checkEnvoyConfig } from '../../cli/doctor/envoy/check-envoy.ts'
import { within } from '../../cli/doctor/envoy/message.ts'
import type { CheckResult } from '../../cli/doctor/check-result.ts'
import { fromRoot } from '../../core/system/root.ts'
import type { Environment } from '../../core/settings/settings.ts'
import type { BootFacts } from '../../envoy/render-bootstrap.ts'
import { companyEnvoy, managerOf } from '../kit/company-envoy.ts'
import { freePort } from '../kit/free-port.ts'
import { runCommand } from '../kit/run-command.ts'
import { type KitEnvoy, startEnvoy } from '../kit/start-envoy.ts'
import { tempFolder } from '../kit/temp-folder.ts'

// Configurations that are broken on purpose, each a listener of one real Envoy, which `agw doctor --envoy-admin` is run against.

type Json = any

/** One listener, and what it may change. */
class Broken {
  listener: Json
  readonly clusters: Json[] = []
  readonly #all: readonly Json[]
  readonly #suffix: string

  constructor(config: Json, i: number, port: number) {
    this.listener = structuredClone(config.static_resources.listeners[0])
    this.listener.name = nameOf(i)
    this.listener.address.socket_address.port_value = port
    this.#all = config.static_resources.clusters
    this.#suffix = `_${i}`
  }

  get manager(): Json {
    return this.listener.filter_chains[0].filters[0].typed_config
  }
  filter(type: string): Json {
    return this.manager.http_filters.find(({ name }: Json) => name === `envoy.filters.http.${type}`)
  }
  get extProc(): Json {
    return this.filter('ext_proc').typed_config.extension_config.typed_config
  }
  get host(): Json {
    return this.manager.route_config.virtual_hosts[0]
  }
  route(name: string): Json {
    return this.host.routes.find((route: Json) => route.name === name)
  }
  /** A cluster of this listener's own. */
  cluster(name: string): Json {
    const own = structuredClone(this.#all.find((cluster) => cluster.name === name))
    own.name = `${name}${this.#suffix}`
    if (own.load_assignment !== undefined) own.load_assignment.cluster_name = own.name
    this.clusters.push(own)
    this.listener = JSON.parse(
      JSON.stringify(this.listener).replaceAll(
        new RegExp(`"(cluster|cluster_name)":"${name}"`, 'g'),
        `"$1":"${own.name}"`,
      ),
    )
    return own
  }
  /** Filters directly before the router. */
  behind(...filters: Json[]): void {
    this.manager.http_filters.splice(-1, 0, ...filters)
  }
  /** Another DNS cache for the forward proxy of this listener. */
  dnsCache(change: (cache: Json) => void): void {
    const caches = [this.filter('dynamic_forward_proxy').typed_config.dns_cache_config]
    for (const name of ['upstream_https', 'upstream_http'])
      caches.push(this.cluster(name).cluster_type.typed_config.dns_cache_config)
    caches[0] = this.filter('dynamic_forward_proxy').typed_config.dns_cache_config
    for (const cache of caches) {
      cache.name = `cache${this.#suffix}`
      change(cache)
    }
  }
}

const nameOf = (i: number): string => `broken_${i}`
const filter = (type: string, message: string, more: object = {}): Json => ({
  name: `company.${type}`,
  typed_config: {
    '@type': `type.googleapis.com/envoy.extensions.filters.http.${type}.v3.${message}`,
    ...more,
  },
})
const onTcp = (cluster: Json): void => {
  const address = { socket_address: { address: '127.0.0.1', port_value: 1 } }
  cluster.load_assignment.endpoints = [{ lb_endpoints: [{ endpoint: { address } }] }]
}
const printing = (inline_string: string): Json => ({
  name: 'envoy.access_loggers.file',
  typed_config: {
    '@type': 'type.googleapis.com/envoy.extensions.access_loggers.file.v3.FileAccessLog',
    path: '/dev/null',
    log_format: { text_format_source: { inline_string } },
  },
})

/** Sets these members; one that is undefined is left out. */
const inExtProc = (members: object) => (of: Broken) => void Object.assign(of.extProc, members)
const inManager = (members: object) => (of: Broken) => void Object.assign(of.manager, members)
const inCluster = (members: object) => (of: Broken) =>
  void Object.assign(of.cluster('ext_proc'), members)

type Row = readonly [name: string, change: (of: Broken) => void, says: RegExp, advises: RegExp]

const ROWS: readonly Row[] = [
  [
    'failure_mode_allow',
    inExtProc({ failure_mode_allow: true }),
    /without a decision/,
    /failure_mode_allow: false/,
  ],
  [
    'no mutation_rules',
    inExtProc({ mutation_rules: undefined }),
    /change that Envoy does not apply/,
    /disallow_is_error: true/,
  ],
  [
    'no allow_mode_override',
    inExtProc({ allow_mode_override: false }),
    /cannot ask for bodies/,
    /allow_mode_override: true/,
  ],
  [
    'trailers skipped without override',
    (of) => {
      of.extProc.allow_mode_override = false
      of.extProc.processing_mode.response_trailer_mode = 'SKIP'
    },
    /kill cannot cut/,
    /response_trailer_mode: SEND/,
  ],
  [
    'request trailers skipped',
    (of) => {
      of.extProc.processing_mode.request_trailer_mode = 'SKIP'
    },
    /trailers are forwarded without/,
    /request_trailer_mode: SEND/,
  ],
  ['default message timeout', inExtProc({ message_timeout: undefined }), /message_timeout/, /20s/],
  [
    'no time for approvals',
    inExtProc({ max_message_timeout: undefined }),
    /waits for an approval/,
    /AGW_APPROVAL_MAX_WAIT/,
  ],
  [
    'no metadata',
    inExtProc({ metadata_options: undefined }),
    /lack what processors note/,
    /receiving_namespaces/,
  ],
  [
    'a Lua filter behind ours',
    (of) =>
      of.behind(
        filter('lua', 'Lua', {
          default_source_code: {
            inline_string: 'function envoy_on_request(h) h:clearRouteCache() end',
          },
        }),
      ),
    /company\.lua stands behind .*clears the route cache/,
    /in front of/,
  ],
  [
    'a header mutation behind ours',
    (of) => of.behind(filter('header_mutation', 'HeaderMutation')),
    /company\.header_mutation stands behind/,
    /in front of/,
  ],
  [
    'a filter of its own behind ours',
    (of) => of.behind(filter('buffer', 'Buffer', { max_request_bytes: 1000 })),
    /company\.buffer stands behind/,
    /in front of/,
  ],
  [
    'the processor behind our filters that act on its decision',
    (of) => {
      const { http_filters } = of.manager
      http_filters.splice(
        -1,
        0,
        ...http_filters.splice(http_filters.indexOf(of.filter('ext_proc')), 1),
      )
    },
    /ext_proc stands behind \S+set_filter_state, \S+dynamic_forward_proxy of the gateway/,
    /in the order of agw envoy-config/,
  ],
  [
    'a filter that refuses calls behind ours',
    (of) => of.behind(filter('rbac', 'RBAC', { rules: { action: 'DENY', policies: {} } })),
    /company\.rbac stands behind .* may refuse allowed calls/,
    /off on the routes/,
  ],
  [
    'a filter that may refuse calls before ours',
    (of) =>
      of.manager.http_filters.unshift(
        filter('lua', 'Lua', { default_source_code: { inline_string: 'function f() end' } }),
      ),
    /company\.lua also sees the calls of agents and may refuse/,
    /unless it is meant for them/,
  ],
  [
    'basic auth before ours',
    (of) =>
      of.manager.http_filters.unshift(
        filter('basic_auth', 'BasicAuth', {
          users: { inline_string: 'a:{SHA}2kuSN7rMzfGcB2DKt67EqDWQELA=' },
        }),
      ),
    /company\.basic_auth also checks/,
    /off on the routes/,
  ],
  [
    'an access log that prints the credential',
    (of) => of.manager.access_log.push(printing('%REQ(authorization)% %REQ(:PATH)%\n')),
    /prints the request header authorization/,
    /Remove it/,
  ],
  [
    'an access log that prints an API key',
    (of) => of.manager.access_log.push(printing('%REQ(X-API-KEY?COOKIE)%\n')),
    /prints the request header x-api-key/,
    /Remove it/,
  ],
  ['no access log of ours', inManager({ access_log: [] }), /none is sent/, /access_log part/],
  [
    'paths normalized',
    inManager({ normalize_path: true }),
    /normalize_path resolves dots/,
    /normalize_path: false/,
  ],
  [
    'slashes merged',
    inManager({ merge_slashes: true }),
    /merge_slashes changes/,
    /merge_slashes: false/,
  ],
  [
    'escaped slashes',
    inManager({ path_with_escaped_slashes_action: 'UNESCAPE_AND_FORWARD' }),
    /encoded slashes/,
    /KEEP_UNCHANGED/,
  ],
  [
    'headers of callers kept',
    inManager({ early_header_mutation_extensions: undefined }),
    /can send x-agw-pass, x-agw-up, x-agw-host/,
    /early_header_mutation/,
  ],
  [
    'one header of callers kept',
    (of) => of.manager.early_header_mutation_extensions[0].typed_config.mutations.splice(1, 1),
    /can send x-agw-up,/,
    /early_header_mutation/,
  ],
  [
    'request ids of callers',
    inManager({ preserve_external_request_id: true }),
    /choose the request id/,
    /preserve_external_request_id: false/,
  ],
  [
    'spans show the URL with a credential in its query',
    inManager({ tracing: { max_path_tag_length: 64 } }),
    /spans of tracing have the URL/,
    /max_path_tag_length: 0/,
  ],
  [
    'addresses of callers',
    inManager({ use_remote_address: false }),
    /what the caller says/,
    /use_remote_address: true/,
  ],
  [
    'error bodies rewritten',
    (of) => {
      of.manager.local_reply_config.body_format = {
        text_format_source: { inline_string: 'refused' },
      }
    },
    /local_reply_config replaces the error bodies/,
    /Put first a mapper .*%LOCAL_REPLY_BODY%/,
  ],
  [
    'the status of errors rewritten',
    (of) =>
      of.manager.local_reply_config.mappers.unshift({
        filter: {
          status_code_filter: {
            comparison: { op: 'GE', value: { default_value: 400, runtime_key: 'errors' } },
          },
        },
        status_code: 500,
      }),
    /local_reply_config replaces .* or their status/,
    /Put first a mapper/,
  ],
  [
    'upgrades',
    inManager({ upgrade_configs: [{ upgrade_type: 'websocket' }, { upgrade_type: 'other' }] }),
    /upgrades to other/,
    /enabled: false/,
  ],
  [
    'no verdict needed anywhere',
    (of) => {
      for (const { match } of of.host.routes) match.headers?.shift()
    },
    /no route needs a verdict/,
    /agw envoy-config/,
  ],
  [
    'a route without a verdict',
    (of) => {
      of.route('pass-http').match.headers.shift()
    },
    /route pass-http forwards calls that have no verdict/,
    /x-agw-pass/,
  ],
  [
    'no route for calls without a verdict',
    (of) => of.host.routes.pop(),
    /lacks the routes no-verdict, .*must not be forwarded/,
    /no-verdict/,
  ],
  [
    'a route of the company before ours',
    (of) => {
      const direct_response = { status: 200 }
      of.host.routes.unshift(
        { match: { path: '/health' }, direct_response },
        { name: 'of-the-company', match: { prefix: '/v1' }, direct_response },
      )
    },
    /routes of the virtual host all stand before .*\{"path":"\/health"\} \(without a name\), of-the-company;/,
    /before all other routes/,
  ],
  [
    'a route that forwards is missing',
    (of) => {
      of.host.routes = of.host.routes.filter(({ name }: Json) => name !== 'pass-https-retry')
    },
    /lacks the routes pass-https-retry, .*with the credential/,
    /Add all routes/,
  ],
  [
    'a route that matches something else',
    (of) => {
      of.route('pass-https-unsent').match.prefix = '/v1'
    },
    /lacks the routes pass-https-unsent, .*match something else/,
    /Add all routes/,
  ],
  [
    'a secret of one route',
    (of) => {
      of.route('pass-https').match.headers[0].string_match.exact = 'of-another-run-of-the-command'
    },
    /the routes pass-https of the virtual host all need another verdict secret than the other/,
    /one run of agw envoy-config/,
  ],
  [
    'the host of the caller',
    (of) => {
      delete of.route('pass-https').route.host_rewrite_header
    },
    /pass-https sends calls, with their credential, to the host that the caller names/,
    /x-agw-host/,
  ],
  [
    'retries of calls',
    (of) => {
      of.host.retry_policy = { retry_on: '5xx' }
    },
    /repeats calls/,
    /num_retries: 0/,
  ],
  [
    'a short secret',
    (of) => {
      of.route('pass-http').match.headers[0].string_match.exact = 'short'
    },
    /fewer than 16/,
    /openssl rand/,
  ],
  [
    'processors over TCP without TLS',
    (of) => onTcp(of.cluster('ext_proc')),
    /without TLS/,
    /transport_socket/,
  ],
  [
    'a certificate that is not checked',
    (of) => {
      const cluster = of.cluster('ext_proc')
      onTcp(cluster)
      cluster.transport_socket = {
        name: 'tls',
        typed_config: {
          '@type':
            'type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext',
        },
      }
    },
    /certificate is not checked/,
    /trusted_ca/,
  ],
  [
    'no health check',
    inCluster({ health_checks: undefined }),
    /no active health check/,
    /grpc_health_check/,
  ],
  [
    'panic threshold',
    inCluster({ common_lb_config: undefined }),
    /also uses the others/,
    /healthy_panic_threshold/,
  ],
  [
    'default limits',
    inCluster({ circuit_breakers: undefined }),
    /at most 1,024 calls/,
    /max_requests: 1000000/,
  ],
  [
    'no retries in the cluster of processors',
    (of) => {
      delete Object.values<Json>(of.cluster('ext_proc').typed_extension_protocol_options)[0]
        .retry_policy
    },
    /while a processor is restarted/,
    /Add the retry_policy of the cluster/,
  ],
  [
    'no keepalive',
    (of) => {
      delete Object.values<Json>(of.cluster('ext_proc').typed_extension_protocol_options)[0]
        .explicit_http_config.http2_protocol_options.connection_keepalive
    },
    /hangs is not noticed/,
    /connection_keepalive/,
  ],
  [
    'no address filter',
    (of) =>
      of.dnsCache((cache) => {
        delete cache.resolved_address_filter
      }),
    /internal addresses are called/,
    /resolved_address_filter/,
  ],
  [
    'an address filter with a hole',
    (of) =>
      of.dnsCache((cache) => {
        cache.resolved_address_filter.ranges = [{ address_prefix: '127.0.0.0', prefix_len: 8 }]
      }),
    /lets 169\.254\.169\.254, ::1/,
    /ranges/,
  ],
  [
    'certificates of APIs not checked',
    (of) => {
      of.cluster('upstream_https').transport_socket.typed_config.common_tls_context = {}
    },
    /certificates of APIs are not checked/,
    /trusted_ca/,
  ],
  [
    'headers of ours sent to APIs',
    (of) => {
      const [options] = Object.values<Json>(
        of.cluster('upstream_http').typed_extension_protocol_options,
      )
      options.http_filters.shift()
    },
    /APIs receive headers of the gateway/,
    /http_filters/,
  ],
]

/** Ways in which a company adds the gateway to its own listener, each the only mistake in its Envoy. */
type OfTheirs = readonly [
  name: string,
  adoption: 'virtual-host' | 'filter',
  change: (routes: Json[], config: Json) => void,
  state: CheckResult['state'],
  says: RegExp,
  advises: RegExp,
]

const without = (routes: Json[], isLeftOut: (name: string) => boolean): void =>
  void routes.splice(0, routes.length, ...routes.filter(({ name }) => !isLeftOut(name ?? '')))

const OF_THEIRS: readonly OfTheirs[] = [
  [
    "the company's routes first",
    'filter',
    (routes) => routes.unshift(...routes.splice(-2)),
    'failed',
    /virtual host company stand before .*\{"path":"\/public"\}.*\{"prefix":"\/private"\}/,
    /before all other routes/,
  ],
  [
    "one route of the company's between ours",
    'filter',
    (routes) => routes.splice(4, 0, ...routes.splice(-1)),
    'failed',
    /stand before those of the gateway: \{"prefix":"\/private"\} \(without a name\);/,
    /before all other routes/,
  ],
  [
    "a route of the company's in the virtual host of the gateway",
    'virtual-host',
    (routes, config) => {
      const [company] = managerOf(config).route_config.virtual_hosts
      routes.unshift({ ...company.routes[1], name: 'company-api' })
    },
    'failed',
    /virtual host agent_access_gateway stand before those of the gateway: company-api;/,
    /before all other routes/,
  ],
  [
    "no filter that keeps allowed calls from the company's routes",
    'filter',
    (_, config) => {
      const { http_filters } = managerOf(config)
      without(http_filters, (name) => name === 'agw.own_routes')
    },
    'warning',
    /agw\.own_routes .* on routes of others in the virtual host company: \{"path":"\/public"\}/,
    /Render the configuration again/,
  ],
  [
    'that filter before the processor',
    'filter',
    (_, config) => {
      const { http_filters } = managerOf(config)
      const at = http_filters.findIndex(({ name }: Json) => name === 'agw.own_routes')
      http_filters.unshift(...http_filters.splice(at, 1))
    },
    'failed',
    /agw\.ext_proc stands behind agw\.own_routes of the gateway/,
    /in the order of agw envoy-config/,
  ],
  [
    'the processor behind the filters that act on its decision',
    'filter',
    (_, config) => {
      const { http_filters } = managerOf(config)
      const at = http_filters.findIndex(({ name }: Json) => name === 'agw.ext_proc')
      http_filters.splice(-1, 0, ...http_filters.splice(at, 1))
    },
    'failed',
    /agw\.ext_proc stands behind agw\.own_routes, agw\.base_url, agw\.dynamic_forward_proxy of the gateway/,
    /in the order of agw envoy-config/,
  ],
  [
    'that filter off on a route of ours',
    'filter',
    (routes) => {
      delete routes.at(-3)?.typed_per_filter_config['agw.own_routes']
    },
    'warning',
    /agw\.own_routes .* on routes of others/,
    /Render the configuration again/,
  ],
  [
    "that filter without rules on a route of the company's",
    'filter',
    (routes) => {
      const type = 'type.googleapis.com/envoy.extensions.filters.http.rbac.v3.RBACPerRoute'
      routes.at(-1).typed_per_filter_config = { 'agw.own_routes': { '@type': type } }
    },
    'warning',
    /agw\.own_routes .* virtual host company: \{"prefix":"\/private"\} \(without a name\);/,
    /Render the configuration again/,
  ],
  ...(['filter', 'virtual-host'] as const).flatMap((adoption): OfTheirs[] => [
    [
      'no response_attributes',
      adoption,
      (_, config) => {
        for (const one of within(managerOf(config).http_filters))
          delete (one as Json).response_attributes
      },
      'warning',
      /responses of other filters cannot be distinguished/,
      /response_attributes: \[response\.code_details\]/,
    ],
    [
      'routes of ours in the wrong order',
      adoption,
      (routes) => routes.splice(0, 3, routes[2], routes[1], routes[0]),
      'failed',
      /are in the wrong order: agw-pass-https stands before agw-pass-http-own and takes its calls/,
      /in the order of agw envoy-config/,
    ],
    [
      'our routes in a match tree',
      adoption,
      (routes, config) => {
        const host = managerOf(config).route_config.virtual_hosts.at(-1)
        delete host.routes
        host.matcher = treeOf(routes)
      },
      'failed',
      /^the virtual host (?:agent_access_gateway|company) has a match tree \(matcher\)/,
      /List the routes of the gateway in routes/,
    ],
    [
      'all routes that forward are missing',
      adoption,
      (routes) => without(routes, (name) => name.startsWith('agw-pass-')),
      'failed',
      /lacks the routes agw-pass-https-own, agw-pass-http-own, agw-pass-https, agw-pass-http, .*agw-pass-http-unsent,/,
      /Add all routes/,
    ],
    [
      'one route that forwards is missing',
      adoption,
      (routes) => without(routes, (name) => name === 'agw-pass-http'),
      'failed',
      /lacks the routes agw-pass-http, /,
      /Add all routes/,
    ],
    [
      'routes for calls without a verdict are missing',
      adoption,
      (routes) => without(routes, (name) => /^agw-no-verdict(?:-http)?$/.test(name)),
      'failed',
      adoption === 'filter'
        ? /lacks the routes .*agw-no-verdict-http.*must not be forwarded/
        : /lacks the routes agw-no-verdict, .*must not be forwarded/,
      /Add each route no-verdict/,
    ],
  ]),
  [
    'error pages of the company',
    'filter',
    (_, config) => {
      const status_code_filter = {
        comparison: { op: 'GE', value: { default_value: 400, runtime_key: 'errors' } },
      }
      const body_format_override = { text_format_source: { inline_string: 'company error page' } }
      managerOf(config).local_reply_config = {
        mappers: [{ filter: { status_code_filter }, body_format_override }],
      }
    },
    'warning',
    /local_reply_config replaces the error bodies/,
    /Put first a mapper/,
  ],
  [
    'paths that are normalized for everybody',
    'filter',
    () => {},
    'warning',
    /normalize_path resolves dots/,
    /cannot be changed for the gateway alone\. If it matters, use --mode listener/,
  ],
  [
    'slashes that are merged for everybody',
    'virtual-host',
    () => {},
    'warning',
    /merge_slashes changes/,
    /cannot be changed for the gateway alone\. If it matters, use --mode listener/,
  ],
]

/** A match tree that does with every call what these routes do. */
function treeOf(routes: readonly Json[]): Json {
  const input = {
    name: 'path',
    typed_config: {
      '@type': 'type.googleapis.com/envoy.type.matcher.v3.HttpRequestHeaderMatchInput',
      header_name: ':path',
    },
  }
  const action = {
    name: 'routes',
    typed_config: { '@type': 'type.googleapis.com/envoy.config.route.v3.RouteList', routes },
  }
  const predicate = { single_predicate: { input, value_match: { prefix: '/' } } }
  return { matcher_list: { matchers: [{ predicate, on_match: { action } }] } }
}

async function startTheirs(
  adoption: 'virtual-host' | 'filter' | 'listener',
  change: OfTheirs[2] = () => {},
  env: Environment = {},
  facts: Partial<BootFacts> = {},
): Promise<KitEnvoy> {
  const ports = { company: await freePort(), api: 1 }
  const own = (config: Json): Json[] =>
    managerOf(config).route_config.virtual_hosts.at(-1).routes ?? []
  return startEnvoy(
    env,
    { ext_proc_addresses: ['unix:/nowhere/ext-proc.sock'], ...facts },
    companyEnvoy(adoption, ports, (config) => change(own(config), config)),
  )
}

let envoy: KitEnvoy
let found: CheckResult[]

before(async () => {
  const ports = await Promise.all(ROWS.map(() => freePort()))
  envoy = await startEnvoy({}, { ext_proc_addresses: ['unix:/nowhere/ext-proc.sock'] }, (yaml) => {
    const config = JSON.parse(JSON.stringify(parse(yaml, { merge: true, maxAliasCount: -1 })))
    for (const [i, [, change]] of ROWS.entries()) {
      const broken = new Broken(config, i, ports[i] ?? 0)
      change(broken)
      config.static_resources.listeners.push(broken.listener)
      config.static_resources.clusters.push(...broken.clusters)
    }
    return JSON.stringify(config)
  })
  found = await diagnose(envoy)
})

after(() => envoy.stop())

const run = promisify(execFile)

/** What the command says, which answers 1 if a check fails. */
async function diagnose(
  { admin_address }: KitEnvoy,
  env: Environment = {},
): Promise<CheckResult[]> {
  const options = { envoyAdmin: admin_address, output: 'json' } as const
  const { code, text } = await runCommand((out) => runDoctor(options, env, out))
  const { ok, checks } = JSON.parse(text)
  assert.equal(code, ok === true ? 0 : 1)
  return checks
}

test('what the product renders is found to be complete', () => {
  assert.deepEqual(
    found.filter(({ check }) => !check.includes('broken_')),
    [],
  )
})

test('so is the forward proxy that it renders, with hosts that are passed through', async () => {
  const whole = await startEnvoy(
    {
      AGW_FORWARD_PORT: String(await freePort()),
      AGW_FORWARD_BLIND_HOSTS: 'blind.example.com:443',
    },
    { ext_proc_addresses: ['unix:/nowhere/ext-proc.sock'] },
  )
  try {
    const says =
      'the configuration of agents, forward, forward_inside is complete; agw doctor without --envoy-admin checks that calls reach ext-proc'
    const all = [{ check: 'envoy', state: 'ok', says }]
    assert.deepEqual(await diagnose(whole), all)
    const args = ['doctor', '--envoy-admin', whole.admin_address, '--output', 'json']
    const { stdout } = await run(process.execPath, [fromRoot('dist', 'cli', 'bin.js'), ...args])
    assert.deepEqual(JSON.parse(stdout), { ok: true, checks: all })
  } finally {
    await whole.stop()
  }
})

for (const [i, [name, , says, advises]] of ROWS.entries())
  test(`found: ${name}`, () => {
    const own = found.filter(({ check }) => check.startsWith(`envoy ${nameOf(i)}:`))
    const named = own.filter((one) => says.test(one.says) && advises.test(one.advice ?? ''))
    assert.ok(named.length > 0, JSON.stringify(own, null, 1))
    for (const one of own) assert.ok(!one.says.includes(envoy.verdict_secret))
  })

test('each of them is found by a message of its own', (t) => {
  const messages = ROWS.map(([, , says], i) => {
    const own = found.filter(({ check }) => check.startsWith(`envoy ${nameOf(i)}:`))
    return own.find((one) => says.test(one.says))?.says
  })
  // Two of them are the same mistake in another place.
  assert.equal(new Set(messages).size, ROWS.length - 1)
  t.diagnostic(
    `agw doctor --envoy-admin finds ${ROWS.length} of ${ROWS.length} broken configurations`,
  )
})

for (const [name, adoption, change, state, says, advises] of OF_THEIRS)
  test(`found in mode ${adoption}: ${name}`, async () => {
    const theirs = await startTheirs(adoption, change)
    const file = join(tempFolder('pass'), 'passed')
    const all = await diagnose(theirs, { AGW_DOCTOR_PASS_FILE: file })
    await theirs.stop()
    const named = all.find((one) => says.test(one.says))
    assert.ok(named, JSON.stringify(all, null, 1))
    assert.equal(named.state, state)
    assert.match(named.advice ?? '', advises)
    assert.equal(existsSync(file), state !== 'failed', 'edges attach credentials')
    assert.equal(
      all.some(
        (one) => one.state === 'ok' && /^the configuration of .* is complete;/.test(one.says),
      ),
      state !== 'failed',
    )
    assert.ok(!JSON.stringify(all).includes(theirs.verdict_secret))
  })

const NEWEST = 'n'.repeat(32)
const OLDER = 'o'.repeat(32)
const UNKNOWN = 'u'.repeat(32)
/** What Envoy accepts, what doctor is told, and whether processors with that setting are believed. */
const SECRETS: readonly (readonly [string, readonly string[], string, boolean])[] = [
  ['the same', [NEWEST], NEWEST, true],
  ['two, as in Envoy', [NEWEST, OLDER], `${NEWEST},${OLDER}`, true],
  ['the newest of two in Envoy', [NEWEST, OLDER], NEWEST, true],
  ['the older of two in Envoy', [NEWEST, OLDER], OLDER, true],
  ['another', [NEWEST], UNKNOWN, false],
  ['a newer one, which Envoy does not know', [OLDER], `${NEWEST},${OLDER}`, false],
]

for (const mode of ['filter', 'listener'] as const)
  test(`the verdict secret of Envoy is compared with AGW_VERDICT_SECRET in mode ${mode}`, async () => {
    for (const accepted of [[NEWEST, OLDER], [NEWEST], [OLDER]]) {
      const [verdict_secret = '', ...older_verdict_secrets] = accepted
      const facts = { verdict_secret, older_verdict_secrets }
      const theirs = await startTheirs(mode, () => {}, {}, facts)
      for (const [name, inEnvoy, AGW_VERDICT_SECRET, isAccepted] of SECRETS) {
        if (String(inEnvoy) !== String(accepted)) continue
        const file = join(tempFolder('pass'), 'passed')
        const env = { AGW_VERDICT_SECRET, AGW_DOCTOR_PASS_FILE: file }
        const all = await diagnose(theirs, env)
        const said = all.filter(({ says }) =>
          /^the routes of the virtual host \S+ need another verdict secret than AGW_VERDICT_SECRET.* 503$/.test(
            says,
          ),
        )
        assert.deepEqual(
          said.map(({ state }) => state),
          isAccepted ? [] : ['failed'],
          name,
        )
        assert.equal(existsSync(file), isAccepted, name)
        for (const secret of [NEWEST, OLDER, UNKNOWN])
          assert.ok(!JSON.stringify(all).includes(secret.slice(0, 8)))
      }
      await theirs.stop()
    }
  })

test('a setting that is not valid is named, and no credential is attached', async () => {
  const file = join(tempFolder('pass'), 'passed')
  writeFileSync(file, '')
  const env = { AGW_VERDICT_SECRET: 'a b', AGW_DOCTOR_PASS_FILE: file }
  const [first] = await diagnose(envoy, env)
  assert.equal(first?.state, 'failed')
  assert.match(first.says, /AGW_VERDICT_SECRET/)
  assert.equal(existsSync(file), false)
})

test('address ranges that were rendered with another setting are named', async () => {
  const theirs = await startTheirs('filter', () => {}, { AGW_EGRESS_ALLOW_CIDRS: '10.1.0.0/16' })
  const saidWith = async (AGW_EGRESS_ALLOW_CIDRS: string): Promise<CheckResult[]> =>
    (await diagnose(theirs, { AGW_EGRESS_ALLOW_CIDRS })).filter(({ says }) => /ranges/.test(says))
  assert.deepEqual(await saidWith(''), [], 'the setting is not known here')
  assert.deepEqual(await saidWith('10.1.0.0/16'), [])
  for (const other of ['10.2.0.0/16', '10.1.0.0/16,10.2.0.0/16']) {
    const said = await saidWith(other)
    assert.deepEqual(
      said.map(({ check, state }) => [check.replace(/^.*: /, ''), state]),
      [
        ['cluster agw_upstream_https', 'warning'],
        ['cluster agw_upstream_http', 'warning'],
        ['cluster agw_upstream_wss', 'warning'],
      ],
    )
    for (const { advice } of said) assert.match(advice ?? '', /Render the configuration again/)
  }
  await theirs.stop()
})

test('found: the fields of the bootstrap that are missing, an admin port, and an update that was refused', async () => {
  const folder = tempFolder('lds')
  const listeners = join(folder, 'lds.yaml')
  writeFileSync(
    listeners,
    stringify({
      resources: [
        {
          '@type': 'type.googleapis.com/envoy.config.listener.v3.Listener',
          name: 'of-the-company',
        },
      ],
    }),
  )
  const start = (change: (config: Json) => void): Promise<KitEnvoy> =>
    startEnvoy({}, { ext_proc_addresses: ['unix:/nowhere/ext-proc.sock'] }, (yaml) => {
      const config = parse(yaml, { merge: true, maxAliasCount: -1 })
      change(config)
      return JSON.stringify(config)
    })
  const without = await start((config) => {
    delete config.grpc_async_client_manager_config
    config.node = { id: 'a', cluster: 'b' }
    config.dynamic_resources = { lds_config: { path_config_source: { path: listeners } } }
  })
  const texts = (await diagnose(without)).map(({ says }) => says).join('\n')
  assert.match(texts, /Envoy crashes when a stream ends after a minute/)
  assert.match(
    texts,
    /has refused 1 update of its configuration \(listener_manager\.lds\.update_rejected\)/,
  )
  await without.stop()
  const dump = JSON.parse(await envoy.admin('/config_dump'))
  const { bootstrap } = dump.configs[0]
  delete bootstrap.layered_runtime
  bootstrap.admin.address = { socket_address: { address: '127.0.0.1', port_value: 9901 } }
  const both = checkEnvoyConfig(dump, '')
    .map(({ says }) => says)
    .join('\n')
  assert.match(both, /resets every ext_proc stream/)
  assert.match(both, /admin interface is a TCP port/)
})

test('an Envoy without the gateway, and what is no Envoy, are named', () => {
  assert.match(checkEnvoyConfig({ configs: [] }, '')[0]?.says ?? '', /no listener asks ext-proc/)
  for (const dump of [
    null,
    [],
    'x',
    { configs: 'x' },
    { configs: [{}, null, { '@type': 'a.ListenersConfigDump' }] },
  ])
    assert.equal(checkEnvoyConfig(dump, '')[0]?.state, 'failed')
})
