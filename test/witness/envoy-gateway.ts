import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { parse, stringify } from 'yaml'
import { asEnvoyGateway } from '../../envoy/as-envoy-gateway.ts'
import { COMPANY_TOKEN, type CompanyPorts } from '../kit/company-envoy.ts'
import { tempFolder } from '../kit/temp-folder.ts'
import { COMPANY_COLLECTOR_PORT } from './control-plane/check-company.ts'
import { checkManifests } from './control-plane/check-manifests.ts'

// Translates the manifests of `agw envoy-config --mode envoy-gateway` with the real Envoy Gateway (egctl, which validates them
// against the schemas of its resources), runs the result in the real Envoy, and leaves out each part in turn:
//   node cli/prepare.mjs build && node dist/test/witness/envoy-gateway.js
// Needs Go, with which it builds egctl below the cache directory (some minutes the first time). ENVOY_BIN may name Envoy 1.39.

/** Messages as they are parsed. */
type Json = any

const EGCTL = 'github.com/envoyproxy/gateway/cmd/egctl@v1.9.1'
const cache = join(process.env['AGW_CACHE_DIR'] ?? join(homedir(), '.cache', 'agw'), 'fleet-tools')
mkdirSync(cache, { recursive: true })
const egctl = join(cache, 'egctl')
if (!existsSync(egctl))
  execFileSync('go', ['install', EGCTL], {
    env: { ...process.env, GOBIN: cache, GOFLAGS: '-p=2' },
    stdio: 'inherit',
  })
const folder = tempFolder('egctl')
/** egctl takes no loopback address of a Backend; stands for 127.0.0.1. */
const LOOPBACK = '192.0.2.1'

/** A Gateway of another class, traced. egctl translates for the class that it reads last. */
function company({ company: port, api }: CompanyPorts): readonly Json[] {
  const group = 'gateway.envoyproxy.io'
  const of = (apiVersion: string, kind: string, name: string, spec: Json): Json => ({
    apiVersion,
    kind,
    metadata: { name, namespace: 'company' },
    spec,
  })
  const standard = (kind: string, spec: Json): Json =>
    of('gateway.networking.k8s.io/v1', kind, 'company', spec)
  const ours = (kind: string, name: string, spec: Json): Json =>
    of(`${group}/v1alpha1`, kind, name, spec)
  const backend = (name: string, target: number): Json =>
    ours('Backend', name, { endpoints: [{ ip: { address: LOOPBACK, port: target } }] })
  const answer = (name: string, statusCode: number, inline: string): Json =>
    ours('HTTPRouteFilter', name, {
      directResponse: { statusCode, body: { type: 'Inline', inline } },
    })
  const answered = (name: string): Json => ({
    filters: [{ type: 'ExtensionRef', extensionRef: { group, kind: 'HTTPRouteFilter', name } }],
  })
  const path = { type: 'PathPrefix', value: '/private' }
  const headers = [{ name: 'x-company-token', value: COMPANY_TOKEN }]
  const reference = { group, kind: 'EnvoyProxy', name: 'company', namespace: 'company' }
  return [
    {
      ...standard('GatewayClass', {
        controllerName: `${group}/gatewayclass-controller`,
        parametersRef: reference,
      }),
      metadata: { name: 'company' },
    },
    ours('EnvoyProxy', 'company', {
      telemetry: {
        tracing: {
          samplingRate: 100,
          provider: {
            type: 'OpenTelemetry',
            backendRefs: [{ group, kind: 'Backend', name: 'collector' }],
          },
        },
      },
    }),
    standard('Gateway', {
      gatewayClassName: 'company',
      listeners: [{ name: 'http', protocol: 'HTTP', port }],
    }),
    answer('public', 200, 'public\n'),
    answer('no-token', 401, 'no token'),
    backend('api', api),
    backend('collector', COMPANY_COLLECTOR_PORT),
    standard('HTTPRoute', {
      parentRefs: [{ name: 'company' }],
      rules: [
        { matches: [{ path: { type: 'Exact', value: '/public' } }], ...answered('public') },
        { matches: [{ path, headers }], backendRefs: [{ group, kind: 'Backend', name: 'api' }] },
        { matches: [{ path }], ...answered('no-token') },
      ],
    }),
  ]
}

/** What the control plane would send by xDS, as static resources. */
function translate(manifests: readonly Json[]): Json {
  const file = join(folder, 'manifests.yaml')
  writeFileSync(
    file,
    manifests.map((one) => stringify(one, { aliasDuplicateObjects: false })).join('---\n'),
  )
  const args = ['x', 'translate', '--to', 'xds', '--file', file]
  const text = execFileSync(egctl, args, {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  }).replaceAll(LOOPBACK, '127.0.0.1')
  const configs = Object.values<Json>(parse(text, { maxAliasCount: -1 }).xds ?? parse(text))[0]
    .configs
  const dump = (name: string): Json =>
    configs.find((one: Json) => one['@type'].endsWith(`.${name}ConfigDump`))
  const {
    dynamicResources: _ads,
    node: _node,
    clusterManager: _manager,
    ...bootstrap
  } = dump('Bootstrap').bootstrap
  const untyped = ({ '@type': _type, ...message }: Json): Json => message
  const endpoints = new Map<string, Json>(
    (dump('Endpoints')?.dynamicEndpointConfigs ?? []).map(({ endpointConfig }: Json) => [
      endpointConfig.clusterName,
      untyped(endpointConfig),
    ]),
  )
  const routes = new Map<string, Json>(
    (dump('Routes')?.dynamicRouteConfigs ?? []).map(({ routeConfig }: Json) => [
      routeConfig.name,
      untyped(routeConfig),
    ]),
  )
  const clusters = dump('Clusters').dynamicActiveClusters.map(({ cluster }: Json) => {
    const { edsClusterConfig: eds, ...rest } = untyped(cluster)
    if (eds === undefined) return rest
    const loadAssignment = endpoints.get(eds.serviceName ?? rest.name)
    return { ...rest, type: 'STATIC', loadAssignment }
  })
  const listeners = dump('Listeners')
    .dynamicListeners.map(({ activeState }: Json) => untyped(activeState.listener))
    .filter(({ name }: Json) => !name.startsWith('envoy-gateway-proxy-ready'))
  for (const listener of listeners)
    for (const chain of listener.filterChains ?? [listener.defaultFilterChain]) {
      const manager = chain.filters[0].typedConfig
      manager.routeConfig = routes.get(manager.rds.routeConfigName)
      delete manager.rds
    }
  return { ...bootstrap, staticResources: { listeners, clusters } }
}

const without = (list: readonly Json[], i: number): readonly Json[] =>
  list.filter((_one, at) => at !== i)

/** Each manifest, and each patch, missing; and some of them mistyped. */
function broken(manifests: readonly Json[]): readonly (readonly [string, readonly Json[]])[] {
  const all = JSON.parse(JSON.stringify(manifests)) as Json[]
  const policy = all.findIndex(({ kind }) => kind === 'EnvoyPatchPolicy')
  const patches: readonly Json[] = all[policy].spec.jsonPatches
  const withPatches = (jsonPatches: readonly Json[]): readonly Json[] =>
    all.map((one, i) => (i === policy ? { ...one, spec: { ...one.spec, jsonPatches } } : one))
  const titleOf = ({ name, operation }: Json): string =>
    `patch of ${name}: ${operation.op} ${operation.jsonPath ?? ''} ${operation.path ?? ''} ${operation.value?.name ?? ''}`
  const optional = [
    'EnvoyExtensionPolicy',
    'EnvoyPatchPolicy',
    'Backend',
    'HTTPRouteFilter',
    'EnvoyProxy',
  ]
  return [
    ...all.flatMap((one, i) =>
      optional.includes(one.kind) ? [[one.kind, without(all, i)] as const] : [],
    ),
    ...patches.map((patch, i) => [titleOf(patch), withPatches(without(patches, i))] as const),
    ...patches.flatMap((patch, i) =>
      patch.operation.jsonPath === undefined
        ? []
        : [
            [
              `a jsonPath that matches in ${titleOf(patch)}`,
              withPatches(
                patches.map((one, at) =>
                  at === i
                    ? {
                        ...one,
                        operation: { ...one.operation, jsonPath: "..filters[?(@.name=='no')]" },
                      }
                    : one,
                ),
              ),
            ] as const,
          ],
    ),
  ]
}

await checkManifests({
  name: 'Envoy Gateway 1.9.1',
  render: ({ parts, port, ext_proc_addresses }) => [
    ...asEnvoyGateway(parts, {
      namespace: 'agw',
      hostnames: ['*'],
      port,
      tls_cert_file: null,
      ext_proc_addresses,
    }),
  ],
  company,
  sharesEnvoy: false,
  translate,
  broken,
})
