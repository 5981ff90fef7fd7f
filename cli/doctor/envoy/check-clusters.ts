import ipaddr from 'ipaddr.js'
import { refusedRanges } from '../../../envoy/refused-ranges.ts'
import { type CheckResult, failed, warning } from '../check-result.ts'
import { at, type Message, messages, textAt, typeOf, within } from './message.ts'
import type { EnvoyDump, Gateway, GatewayRoute } from './read-envoy-dump.ts'

/** One address of each range in which a stored credential must never end. */
const NEVER_REACHED = ['127.0.0.1', '169.254.169.254', '::1', '::ffff:127.0.0.1']
/** The default limits of Envoy are 1,024, and every call holds one for as long as its response lasts. */
const DEFAULT_LIMIT = 1_024

export function checkProcessorCluster(
  { config, listener }: Gateway,
  dump: EnvoyDump,
): CheckResult[] {
  const name = textAt(config, 'grpc_service', 'envoy_grpc', 'cluster_name')
  const check = `envoy ${listener}: cluster ${name}`
  const cluster = dump.clusters.get(name)
  if (cluster === undefined)
    return [
      failed(
        check,
        'the cluster of ext-proc does not exist',
        'Add the cluster that agw envoy-config prints.',
      ),
    ]
  const found: CheckResult[] = []
  const fail = (says: string, advice: string): void => void found.push(failed(check, says, advice))
  const warn = (says: string, advice: string): void => void found.push(warning(check, says, advice))
  const all = [...within(cluster)]
  if (!all.some((one) => one['http2_protocol_options'] !== undefined))
    fail('gRPC needs HTTP/2', 'Set explicit_http_config: { http2_protocol_options: {} }.')
  else if (!all.some((one) => one['connection_keepalive'] !== undefined))
    warn(
      'a processor that hangs is not noticed',
      'Set http2_protocol_options.connection_keepalive: { interval: 0.5s, timeout: 1s }.',
    )
  if (messages(cluster['health_checks']).length === 0)
    fail(
      'there is no active health check, so calls are sent to processors that drain or have no lease',
      'Set health_checks with grpc_health_check: {}.',
    )
  if (
    at(cluster, 'common_lb_config', 'healthy_panic_threshold', 'value') !== undefined ||
    at(cluster, 'common_lb_config', 'healthy_panic_threshold') === undefined
  )
    warn(
      'with few healthy processors, Envoy also uses the others',
      'Set common_lb_config.healthy_panic_threshold: { value: 0 }.',
    )
  const limits = messages(at(cluster, 'circuit_breakers', 'thresholds'))
  if (Math.max(0, ...limits.map((one) => Number(one['max_requests'] ?? 0))) <= DEFAULT_LIMIT)
    fail(
      'at most 1,024 calls can be in flight: each holds a stream for as long as its response lasts',
      'Set circuit_breakers.thresholds: [{ max_connections: 1000000, max_pending_requests: 1000000, max_requests: 1000000 }].',
    )
  return [...found, ...checkRetries(check, config, all), ...checkTls(check, cluster)]
}

/** Envoy applies the policy of the cluster, or else that of the filter. */
function checkRetries(check: string, config: Message, cluster: readonly Message[]): CheckResult[] {
  const retries = (policy: unknown): boolean => Number(at(policy, 'num_retries') ?? 0) > 0
  if (
    cluster.some((one) => retries(one['retry_policy'])) ||
    retries(at(config, 'grpc_service', 'retry_policy'))
  )
    return []
  return [
    warning(
      check,
      'calls are refused while a processor is restarted',
      'Add the retry_policy of the cluster that agw envoy-config prints.',
    ),
  ]
}

function checkTls(check: string, cluster: Message): CheckResult[] {
  const sockets = messages(at(cluster, 'load_assignment', 'endpoints'))
    .flatMap((one) => messages(one['lb_endpoints']))
    .filter((one) => at(one, 'endpoint', 'address', 'pipe') === undefined)
  const isLocal = sockets.length === 0 && textAt(cluster, 'type') !== 'EDS'
  if (isLocal) return []
  const tls = at(cluster, 'transport_socket', 'typed_config')
  if (typeOf(tls) !== 'UpstreamTlsContext')
    return [
      failed(
        check,
        'credentials cross the network without TLS, and any server can decide calls',
        'Set a transport_socket with a client certificate and trusted_ca.',
      ),
    ]
  const found: CheckResult[] = []
  const all = [...within(tls)]
  const has = (member: string): boolean => all.some((one) => one[member] !== undefined)
  if (
    !has('trusted_ca') &&
    !has('validation_context_sds_secret_config') &&
    !has('combined_validation_context')
  )
    found.push(
      failed(
        check,
        'any server can decide calls: its certificate is not checked',
        'Set validation_context.trusted_ca.',
      ),
    )
  else if (!has('match_typed_subject_alt_names'))
    found.push(
      warning(
        check,
        'any certificate of the CA is accepted',
        'Set validation_context.match_typed_subject_alt_names (AGW_EXT_PROC_TLS_SERVER_SANS).',
      ),
    )
  if (!has('tls_certificates') && !has('tls_certificate_sds_secret_configs'))
    found.push(
      failed(
        check,
        'ext-proc requires a client certificate',
        'Set common_tls_context.tls_certificates.',
      ),
    )
  return found
}

/**
 * The clusters that allowed calls are forwarded to.
 * @param allowed the private ranges that integrations may reach; null if the setting is not known here
 */
export function checkForwardClusters(
  { routes, listener }: Gateway,
  dump: EnvoyDump,
  allowed: readonly string[] | null,
): CheckResult[] {
  const passes = routes.filter(({ needs_verdict }) => needs_verdict)
  const namesOf = (some: readonly GatewayRoute[]): ReadonlySet<string> =>
    new Set(some.flatMap(({ route }) => textAt(route, 'route', 'cluster') || []))
  const ofCalls = namesOf(passes.filter(({ is_tunnel }) => !is_tunnel))
  return [...namesOf(passes)].flatMap((name) => {
    const cluster = dump.clusters.get(name)
    if (cluster === undefined || textAt(cluster, 'cluster_type', 'name') === '') return []
    const check = `envoy ${listener}: cluster ${name}`
    // Hosts in no integration have no exceptions.
    const permitted = allowed !== null && name.startsWith('unlisted-') ? [] : allowed
    const found = checkForwardCluster(check, cluster, permitted)
    return ofCalls.has(name) ? [...found, ...checkHeadersSent(check, cluster)] : found
  })
}

function checkHeadersSent(check: string, cluster: Message): CheckResult[] {
  if ([...within(cluster)].some((one) => typeOf(one) === 'HeaderMutation')) return []
  const says = 'APIs receive headers of the gateway, the verdict secret among them'
  return [failed(check, says, 'Add the http_filters of the cluster that agw envoy-config prints.')]
}

function checkForwardCluster(
  check: string,
  cluster: Message,
  allowed: readonly string[] | null,
): CheckResult[] {
  const found: CheckResult[] = []
  const fail = (says: string, advice: string): void => void found.push(failed(check, says, advice))
  const cache = at(cluster, 'cluster_type', 'typed_config', 'dns_cache_config')
  const ranges = messages(at(cache, 'resolved_address_filter', 'ranges'))
  const permitted = (allowed ?? []).map((cidr) => {
    const [address_prefix, prefix_len] = cidr.split('/')
    return { address_prefix, prefix_len }
  })
  const open = NEVER_REACHED.filter(
    (address) => ![...ranges, ...permitted].some((range) => contains(range, address)),
  )
  if (ranges.length === 0)
    fail(
      'names that resolve to internal addresses are called, with credentials',
      'Set dns_cache_config.resolved_address_filter with the ranges that agw envoy-config prints, and a name of its own for the DNS cache.',
    )
  else if (open.length > 0)
    fail(
      `resolved_address_filter lets ${open.join(', ')} through`,
      'Use the ranges that agw envoy-config prints. If these addresses are to be reached, run this command with the AGW_EGRESS_ALLOW_CIDRS of ext-proc.',
    )
  else if (allowed !== null && !isSameSet(ranges.map(cidrOf), refusedRanges(allowed)))
    found.push(
      warning(
        check,
        'the address ranges that Envoy refuses are not those of AGW_EGRESS_ALLOW_CIDRS and of this version: it was changed after the configuration was rendered',
        'Render the configuration again with agw envoy-config, and install it.',
      ),
    )
  const all = [...within(cluster)]
  const isTls = typeOf(at(cluster, 'transport_socket', 'typed_config')) === 'UpstreamTlsContext'
  if (isTls && !all.some((one) => one['trusted_ca'] !== undefined))
    fail('certificates of APIs are not checked', 'Set validation_context.trusted_ca.')
  if (isTls && !all.some((one) => one['auto_san_validation'] === true))
    fail(
      'the name in the certificate of an API is not checked',
      'Set upstream_http_protocol_options: { auto_sni: true, auto_san_validation: true }.',
    )
  return found
}

const cidrOf = (range: Message): string =>
  `${textAt(range, 'address_prefix')}/${Number(range['prefix_len'] ?? 0)}`

function isSameSet(one: readonly string[], other: readonly string[]): boolean {
  const [first, second] = [new Set(one), new Set(other)]
  return first.size === second.size && [...first].every((member) => second.has(member))
}

function contains(range: Message, address: string): boolean {
  try {
    const [ip, network] = [ipaddr.parse(address), ipaddr.parse(textAt(range, 'address_prefix'))]
    return ip.kind() === network.kind() && ip.match(network, Number(range['prefix_len'] ?? 0))
  } catch {
    return false
  }
}
