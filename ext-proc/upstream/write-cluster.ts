import type { UpstreamSettings } from '../../core/catalogue/model.ts'
import type { Secret } from '../../core/keys/secret.ts'
import type { OwnUpstream } from '../policy/own-upstream.ts'

/** What the shared cluster of a scheme consists of, in protobuf: Envoy sends it with its node (envoy/add-upstream-templates.ts). */
export interface ClusterTemplate {
  /** A Cluster without name, transport socket and protocol options. */
  readonly cluster: Buffer
  /** Its HttpProtocolOptions. */
  readonly options: Buffer
}

/** A number is a varint, a text or a Buffer has a length, and a list is a message. */
type Value = number | string | Buffer | readonly Field[]
type Field = readonly [number: number, value: Value]

const TYPES = 'type.googleapis.com/'
const OPTIONS = 'envoy.extensions.upstreams.http.v3.HttpProtocolOptions'
const SOCKETS = 'envoy.extensions.transport_sockets'
const TLS = `${SOCKETS}.tls.v3.UpstreamTlsContext`
const RAW = `${SOCKETS}.raw_buffer.v3.RawBuffer`
const INTERNAL = `${SOCKETS}.internal_upstream.v3.InternalUpstreamTransport`

/** The secret of envoy/bootstrap.yaml with the CAs of all other APIs. */
const SHARED_CA = 'agw_upstream_ca'

/**
 * The cluster as Envoy takes it (envoy.config.cluster.v3.Cluster). A member that follows the template replaces what the template
 * says, as protobuf merges a field that comes twice.
 */
export function writeCluster(
  name: string,
  { scheme, settings, client_key }: OwnUpstream,
  { cluster, options }: ClusterTemplate,
  is_proxied: boolean,
): Buffer {
  const { connect_timeout_ms, pool_idle_timeout_ms } = settings
  const idle: Field[] =
    pool_idle_timeout_ms === null ? [] : [[1, [[1, duration(pool_idle_timeout_ms)]]]]
  const ownOptions = Buffer.concat([options, message(idle)])
  return Buffer.concat([
    cluster,
    message([
      [1, name],
      ...(connect_timeout_ms === null ? [] : [[4, duration(connect_timeout_ms)] as const]),
      [
        36,
        [
          [1, OPTIONS],
          [2, any(OPTIONS, ownOptions)],
        ],
      ],
      ...socketOf(scheme === 'https' ? tlsSocket(settings, client_key) : null, is_proxied),
    ]),
  ])
}

/** A cluster of the egress proxy connects to a listener within Envoy, with the same socket around which it carries the target. */
function socketOf(tls: readonly Field[] | null, is_proxied: boolean): readonly Field[] {
  const inner = tls ?? socket('envoy.transport_sockets.raw_buffer', RAW, Buffer.alloc(0))
  if (is_proxied)
    return [
      [24, socket('envoy.transport_sockets.internal_upstream', INTERNAL, message([[3, inner]]))],
    ]
  return tls === null ? [] : [[24, tls]]
}

/** A TransportSocket. */
const socket = (name: string, type: string, config: Buffer): readonly Field[] => [
  [1, name],
  [3, any(type, config)],
]

function tlsSocket(
  { ca_certificates, client_certificate }: UpstreamSettings,
  key: Secret | null,
): readonly Field[] {
  const certificate: Field[] =
    client_certificate === null || key === null
      ? []
      : [
          [
            2,
            [
              [1, inline(client_certificate)],
              [2, inline(key.reveal())],
            ],
          ],
        ]
  const trusted: Field =
    ca_certificates === null ? [7, [[1, SHARED_CA]]] : [3, [[1, inline(ca_certificates)]]]
  const context = message([[1, [...certificate, trusted]]])
  return socket('envoy.transport_sockets.tls', TLS, context)
}

/** A DataSource with the bytes in it. */
const inline = (pem: string): readonly Field[] => [[2, Buffer.from(pem, 'utf8')]]

/** Both members are written, also if they are 0: each replaces that of the template. */
const duration = (ms: number): readonly Field[] => [
  [1, Math.floor(ms / 1000)],
  [2, (ms % 1000) * 1_000_000],
]

const any = (type: string, bytes: Buffer): readonly Field[] => [
  [1, TYPES + type],
  [2, bytes],
]

function message(fields: readonly Field[]): Buffer {
  return Buffer.concat(
    fields.map(([number, value]) => {
      if (typeof value === 'number') return Buffer.concat([varint(number * 8), varint(value)])
      const bytes =
        typeof value === 'string'
          ? Buffer.from(value, 'utf8')
          : Buffer.isBuffer(value)
            ? value
            : message(value as readonly Field[])
      return Buffer.concat([varint(number * 8 + 2), varint(bytes.length), bytes])
    }),
  )
}

function varint(value: number): Buffer {
  const bytes: number[] = []
  let rest = value
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128)
  return Buffer.from([...bytes, rest])
}
