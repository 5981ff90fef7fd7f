/** A message of Envoy as it is in a configuration file. */
type Json = unknown
type Members = Readonly<Record<string, Json>>

/** A field number, what the value is, and the numbers of an enumeration. A list of values repeats the field. */
type FieldOf = readonly [
  number: number,
  is: Kind | MessageName,
  values?: Readonly<Record<string, number>>,
]
type Kind = 'text' | 'number' | 'flag' | 'boxed' | 'duration' | 'any' | 'choice'

/** Numbers as Envoy's .proto files have them. */
const MESSAGES = {
  Cluster: {
    type: [2, 'choice', { STATIC: 0 }],
    connect_timeout: [4, 'duration'],
    lb_policy: [6, 'choice', { CLUSTER_PROVIDED: 6 }],
    circuit_breakers: [10, 'CircuitBreakers'],
    load_assignment: [33, 'ClusterLoadAssignment'],
    cluster_type: [38, 'CustomClusterType'],
  },
  ClusterLoadAssignment: { cluster_name: [1, 'text'], endpoints: [2, 'LocalityEndpoints'] },
  LocalityEndpoints: { lb_endpoints: [2, 'LbEndpoint'] },
  LbEndpoint: { endpoint: [1, 'Endpoint'] },
  Endpoint: { address: [1, 'Address'] },
  CircuitBreakers: { thresholds: [1, 'Thresholds'] },
  Thresholds: {
    max_connections: [2, 'boxed'],
    max_pending_requests: [3, 'boxed'],
    max_requests: [4, 'boxed'],
    max_retries: [5, 'boxed'],
  },
  CustomClusterType: { name: [1, 'text'], typed_config: [2, 'any'] },
  ClusterConfig: { dns_cache_config: [1, 'DnsCacheConfig'] },
  DnsCacheConfig: {
    name: [1, 'text'],
    dns_lookup_family: [2, 'choice', { V4_PREFERRED: 3 }],
    max_hosts: [5, 'boxed'],
    dns_failure_refresh_rate: [6, 'RefreshRate'],
    dns_query_timeout: [11, 'duration'],
    typed_dns_resolver_config: [12, 'Extension'],
    resolved_address_filter: [16, 'AddressMatcher'],
  },
  RefreshRate: { base_interval: [1, 'duration'], max_interval: [2, 'duration'] },
  AddressMatcher: { ranges: [1, 'CidrRange'] },
  CidrRange: { address_prefix: [1, 'text'], prefix_len: [2, 'boxed'] },
  Extension: { name: [1, 'text'], typed_config: [2, 'any'] },
  CaresDnsResolverConfig: {
    resolvers: [1, 'Address'],
    dns_resolver_options: [2, 'DnsResolverOptions'],
  },
  Address: { socket_address: [1, 'SocketAddress'], envoy_internal_address: [3, 'InternalAddress'] },
  InternalAddress: { server_listener_name: [1, 'text'] },
  SocketAddress: { address: [2, 'text'], port_value: [3, 'number'] },
  DnsResolverOptions: { no_default_search_domain: [2, 'flag'] },
  HttpProtocolOptions: {
    common_http_protocol_options: [1, 'CommonOptions'],
    upstream_http_protocol_options: [2, 'UpstreamOptions'],
    explicit_http_config: [3, 'HttpConfig'],
    auto_config: [5, 'HttpConfig'],
    http_filters: [6, 'HttpFilter'],
  },
  CommonOptions: { idle_timeout: [1, 'duration'] },
  UpstreamOptions: { auto_sni: [1, 'flag'], auto_san_validation: [2, 'flag'] },
  HttpConfig: { http_protocol_options: [1, 'Http1Options'] },
  Http1Options: { enable_trailers: [5, 'flag'] },
  HttpFilter: { name: [1, 'text'], typed_config: [4, 'any'] },
  HeaderMutation: { mutations: [1, 'Mutations'] },
  Mutations: {
    request_mutations: [1, 'Mutation'],
    response_mutations: [2, 'Mutation'],
    response_trailers_mutations: [4, 'Mutation'],
  },
  Mutation: { remove: [1, 'text'], remove_on_match: [3, 'RemoveOnMatch'] },
  RemoveOnMatch: { key_matcher: [1, 'StringMatcher'] },
  StringMatcher: { safe_regex: [5, 'RegexMatcher'] },
  RegexMatcher: { regex: [2, 'text'] },
  UpstreamCodec: {},
} as const satisfies Readonly<Record<string, Readonly<Record<string, readonly unknown[]>>>>

type MessageName = keyof typeof MESSAGES

/**
 * A part of Envoy's configuration in protobuf's wire format.
 * @throws for a member or a type that has no number here
 */
export function encodePart(name: MessageName, members: Members): Buffer {
  const fields = MESSAGES[name] as Readonly<Record<string, FieldOf>>
  return Buffer.concat(
    Object.entries(members).flatMap(([member, value]) => {
      const field = fields[member]
      if (field === undefined) throw new Error(`envoy/encode-part.ts has no ${name}.${member}`)
      return (Array.isArray(value) ? (value as Json[]) : [value]).map((one) => encode(field, one))
    }),
  )
}

function encode([number, is, values]: FieldOf, value: Json): Buffer {
  return isMessage(is)
    ? sized(number, encodePart(is, value as Members))
    : encodePlain(number, is, value, values)
}

const isMessage = (is: Kind | MessageName): is is MessageName => Object.hasOwn(MESSAGES, is)

function encodePlain(number: number, is: Kind, value: Json, values: FieldOf[2]): Buffer {
  switch (is) {
    case 'text':
      return sized(number, Buffer.from(String(value), 'utf8'))
    case 'number':
      return plain(number, Number(value))
    case 'flag':
      return plain(number, value === true ? 1 : 0)
    case 'boxed':
      return sized(number, plain(1, Number(value)))
    case 'choice': {
      const chosen = values?.[String(value)]
      if (chosen === undefined)
        throw new Error(`envoy/encode-part.ts has no value ${String(value)}`)
      return plain(number, chosen)
    }
    case 'duration':
      return sized(number, duration(String(value)))
    case 'any':
      return sized(number, any(value as Members))
  }
}

/** `5s`, `0.25s`. */
function duration(text: string): Buffer {
  const ns = Math.round(Number(/^([\d.]+)s$/.exec(text)?.[1] ?? Number.NaN) * 1e9)
  if (!Number.isFinite(ns)) throw new Error(`not a duration: ${text}`)
  return Buffer.concat([plain(1, Math.floor(ns / 1e9)), plain(2, ns % 1e9)])
}

function any({ '@type': type_url, ...members }: Members): Buffer {
  const name = String(type_url).split('.').at(-1) ?? ''
  if (!Object.hasOwn(MESSAGES, name)) throw new Error(`envoy/encode-part.ts has no ${name}`)
  return Buffer.concat([
    sized(1, Buffer.from(String(type_url), 'utf8')),
    sized(2, encodePart(name as MessageName, members)),
  ])
}

const plain = (number: number, value: number): Buffer =>
  Buffer.concat([varint(number * 8), varint(value)])

const sized = (number: number, bytes: Buffer): Buffer =>
  Buffer.concat([varint(number * 8 + 2), varint(bytes.length), bytes])

function varint(value: number): Buffer {
  const bytes: number[] = []
  let rest = value
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128)
  return Buffer.from([...bytes, rest])
}
