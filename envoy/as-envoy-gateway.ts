import { isIP } from 'node:net'
import { dirname } from 'node:path'
import type { Parts } from './as-parts.ts'
import { SDS_CONFIG_MAP } from './sds-config-map.ts'

/** A Kubernetes resource, or a part of one. */
interface Resource {
  readonly [member: string]: unknown
}

export interface EnvoyGatewayPlace {
  readonly namespace: string
  readonly hostnames: readonly string[]
  readonly port: number
  /** Where Envoy finds its certificate for ext-proc; null where no certificate is used. */
  readonly tls_cert_file: string | null
  /** `host:port` or `unix:/path`. */
  readonly ext_proc_addresses: readonly string[]
}

const NAME = 'agw'
/** Of the Secret with Envoy's certificate for ext-proc: `tls.crt`, `tls.key` and `ca.crt`. */
const TLS_SECRET = 'agw-envoy-tls'
const API = 'gateway.envoyproxy.io'
const NO_VERDICT = 'agw-no-verdict'

/**
 * Manifests for Envoy Gateway: a Gateway with an Envoy of its own. An EnvoyExtensionPolicy puts the processor in front of an
 * HTTPRoute that only refuses; an EnvoyPatchPolicy makes of it the processor as we configure it and adds everything that
 * forwards, the address filter with a DNS cache of its own included. If any of them is missing or refused, nothing is forwarded.
 */
export function asEnvoyGateway(parts: Parts, place: EnvoyGatewayPlace): readonly Resource[] {
  const { namespace, port, hostnames } = place
  const of = (kind: string, name: string, spec: Resource): Resource => ({
    apiVersion: `${API}/v1alpha1`,
    kind,
    metadata: { name, namespace },
    spec,
  })
  const standard = (kind: string, name: string, spec: Resource): Resource => ({
    ...of(kind, name, spec),
    apiVersion: 'gateway.networking.k8s.io/v1',
  })
  return [
    {
      ...standard('GatewayClass', NAME, {
        controllerName: `${API}/gatewayclass-controller`,
        parametersRef: { group: API, kind: 'EnvoyProxy', name: NAME, namespace },
      }),
      metadata: { name: NAME },
    },
    of('EnvoyProxy', NAME, envoyProxy(parts, place)),
    standard('Gateway', NAME, {
      gatewayClassName: NAME,
      listeners: [{ name: 'http', protocol: 'HTTP', port, allowedRoutes: OWN_ROUTES }],
    }),
    of('HTTPRouteFilter', NO_VERDICT, {
      directResponse: { statusCode: 503, body: { type: 'Inline', inline: 'no verdict' } },
    }),
    standard('HTTPRoute', NAME, {
      parentRefs: [{ name: NAME, sectionName: 'http' }],
      ...(hostnames.includes('*') ? {} : { hostnames }),
      rules: [
        {
          matches: [{ path: { type: 'PathPrefix', value: '/' } }],
          filters: [
            {
              type: 'ExtensionRef',
              extensionRef: { group: API, kind: 'HTTPRouteFilter', name: NO_VERDICT },
            },
          ],
        },
      ],
    }),
    of('Backend', EXT_PROC, {
      appProtocols: [`${API}/h2c`],
      endpoints: place.ext_proc_addresses.map(endpoint),
    }),
    of('EnvoyExtensionPolicy', NAME, {
      targetRefs: [{ group: 'gateway.networking.k8s.io', kind: 'HTTPRoute', name: NAME }],
      extProc: [
        {
          backendRefs: [{ group: API, kind: 'Backend', name: EXT_PROC }],
          failOpen: false,
          statusOnError: 503,
          processingMode: { request: {}, allowModeOverride: true },
        },
      ],
    }),
    of('EnvoyPatchPolicy', NAME, {
      targetRef: { group: 'gateway.networking.k8s.io', kind: 'Gateway', name: NAME },
      type: 'JSONPatch',
      jsonPatches: patches(parts, `${namespace}/${NAME}/http`, `${namespace}/${NAME}`),
    }),
  ]
}

const EXT_PROC = 'agw-ext-proc'

/** Another HTTPRoute on this listener would get the connection manager of the gateway. */
const OWN_ROUTES = { kinds: [{ kind: 'HTTPRoute' }], namespaces: { from: 'Same' } }

function endpoint(address: string): Resource {
  if (address.startsWith('unix:')) return { unix: { path: address.slice('unix:'.length) } }
  const colon = address.lastIndexOf(':')
  const host = address.slice(0, colon).replace(/^\[|\]$/g, '')
  const port = Number(address.slice(colon + 1))
  return isIP(host) > 0 ? { ip: { address: host, port } } : { fqdn: { hostname: host, port } }
}

function envoyProxy({ bootstrap }: Parts, { tls_cert_file }: EnvoyGatewayPlace): Resource {
  const [{ static_layer }] = bootstrap.layered_runtime.layers
  const volumes =
    tls_cert_file === null
      ? []
      : [
          {
            volume: { name: TLS_SECRET, secret: { secretName: TLS_SECRET } },
            mountPath: dirname(tls_cert_file),
          },
          {
            volume: { name: SDS_CONFIG_MAP.name, configMap: { name: SDS_CONFIG_MAP.name } },
            mountPath: SDS_CONFIG_MAP.mount,
          },
        ]
  return {
    bootstrap: {
      type: 'JSONPatch',
      jsonPatches: [
        ...Object.entries(static_layer).map(([name, value]) => ({
          op: 'add',
          path: `/layered_runtime/layers/0/static_layer/${name}`,
          value,
        })),
        {
          op: 'add',
          path: '/grpc_async_client_manager_config',
          value: bootstrap.grpc_async_client_manager_config,
        },
      ],
    },
    // Its access log would print paths with credentials; the gateway has one of its own.
    telemetry: { accessLog: { disable: true } },
    ...(volumes.length === 0
      ? {}
      : {
          provider: {
            type: 'Kubernetes',
            kubernetes: {
              envoyDeployment: {
                pod: { volumes: volumes.map(({ volume }) => volume) },
                container: {
                  volumeMounts: volumes.map(({ volume: { name }, mountPath }) => ({
                    name,
                    mountPath,
                    readOnly: true,
                  })),
                },
              },
            },
          },
        }),
  }
}

const TYPE = 'type.googleapis.com/envoy.config'

/**
 * They are applied in this order, and what was applied before an error stays: the routes that forward come last.
 * @param listener the name that Envoy Gateway gives the listener and its routes
 * @param policy namespace and name of the EnvoyExtensionPolicy
 */
function patches(parts: Parts, listener: string, policy: string): readonly Resource[] {
  const { bootstrap, http_filters, access_log, virtual_host, listener: own } = parts
  if (virtual_host === undefined) throw new Error('the parts have no virtual host')
  const processor = http_filters.findIndex(({ name }) => name === 'agw.ext_proc')
  const inListener = (operation: Resource): Resource => ({
    type: `${TYPE}.listener.v3.Listener`,
    name: listener,
    operation,
  })
  const option = ([path, value]: readonly [string, unknown]): Resource =>
    inListener({ op: 'add', jsonPath: MANAGER, path, value })
  return [
    ...bootstrap.static_resources.clusters.map((cluster) => ({
      type: `${TYPE}.cluster.v3.Cluster`,
      name: cluster.name,
      operation: { op: 'add', path: '', value: cluster },
    })),
    inListener({
      op: 'add',
      path: '/per_connection_buffer_limit_bytes',
      value: own?.per_connection_buffer_limit_bytes,
    }),
    ...Object.entries(own?.manager ?? {}).map(option),
    option(['access_log', access_log]),
    inListener({
      op: 'replace',
      jsonPath: filterNamed(`=~'^envoy.filters.http.ext_proc/.*${policy}/extproc/0$'`),
      value: http_filters[processor],
    }),
    ...http_filters
      .slice(0, processor)
      .map((value) => inListener({ op: 'add', jsonPath: filterNamed("=='agw.ext_proc'"), value })),
    ...http_filters
      .slice(processor + 1)
      .map((value) =>
        inListener({ op: 'add', jsonPath: filterNamed("=='envoy.filters.http.router'"), value }),
      ),
    ...virtual_host.domains.map((domain) => ({
      type: `${TYPE}.route.v3.RouteConfiguration`,
      name: listener,
      operation: {
        op: 'replace',
        jsonPath: `..virtual_hosts[?(@.name=='${listener}/${domain.replaceAll('.', '_')}')]`,
        value: { ...virtual_host, name: `${NAME}-${domain}`, domains: [domain] },
      },
    })),
  ]
}

const MANAGER = "..filters[?(@.name=='envoy.filters.network.http_connection_manager')].typed_config"

const filterNamed = (condition: string): string => `..http_filters[?(@.name${condition})]`
