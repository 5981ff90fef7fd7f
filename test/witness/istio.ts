import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { fromRoot } from '../../core/system/root.ts'
import { asIstio } from '../../envoy/as-istio.ts'
import { COMPANY_TOKEN, type CompanyPorts } from '../kit/company-envoy.ts'
import { tempFolder } from '../kit/temp-folder.ts'
import { COMPANY_COLLECTOR_PORT } from './control-plane/check-company.ts'
import { checkManifests } from './control-plane/check-manifests.ts'

// Translates the manifests of `agw envoy-config --mode istio` with the control plane of Istio, runs the result in the real Envoy,
// and leaves out each part in turn:
//   node cli/prepare.mjs build && node dist/test/witness/istio.js
// Needs Go, with which it builds pilot below the cache directory (ten minutes the first time). The filters of Istio that are not
// in Envoy itself are left out. ENVOY_BIN may name Envoy 1.39.

/** Messages as they are parsed. */
type Json = any

const NAMESPACE = 'istio-system'
const cache = join(
  process.env['AGW_CACHE_DIR'] ?? join(homedir(), '.cache', 'agw'),
  'istio-witness',
)
const program = join(cache, 'translate')
const sources = fromRoot('test', 'witness', 'control-plane', 'istio')
const source = (folder: string): string => readFileSync(join(folder, 'translate_test.go'), 'utf8')
if (!existsSync(program) || source(cache) !== source(sources)) {
  mkdirSync(cache, { recursive: true })
  for (const name of ['go.mod', 'translate_test.go'])
    copyFileSync(join(sources, name), join(cache, name))
  for (const args of [
    ['mod', 'tidy'],
    ['test', '-c', '-p', '2', '-o', program, '.'],
  ])
    execFileSync('go', args, { cwd: cache, stdio: 'inherit' })
}
const folder = tempFolder('istio')

const COLLECTOR = 'collector.company.test'
/** The mesh traces what a Telemetry says. */
const MESH = {
  extensionProviders: [
    { name: 'company', opentelemetry: { service: COLLECTOR, port: COMPANY_COLLECTOR_PORT } },
  ],
}

/** Another port of the same ingress gateway, traced, with an API outside of the mesh. */
function company({ company: port, api }: CompanyPorts): readonly Json[] {
  const of = (group: string, kind: string, name: string, spec: Json): Json => ({
    apiVersion: `${group}.istio.io/v1`,
    kind,
    metadata: { name, namespace: NAMESPACE },
    spec,
  })
  const service = (name: string, host: string, protocol: string, target: number): Json =>
    of('networking', 'ServiceEntry', name, {
      hosts: [host],
      location: 'MESH_EXTERNAL',
      resolution: 'DNS',
      ports: [{ number: target, name: protocol.toLowerCase(), protocol }],
      endpoints: [{ address: 'localhost' }],
    })
  const destination = { host: 'api.company.test', port: { number: api } }
  const below = (prefix: string): Json => ({ uri: { prefix } })
  return [
    of('networking', 'Gateway', 'company', {
      selector: { istio: 'ingressgateway' },
      servers: [{ port: { number: port, name: 'http-company', protocol: 'HTTP' }, hosts: ['*'] }],
    }),
    of('networking', 'VirtualService', 'company', {
      hosts: ['*'],
      gateways: ['company'],
      http: [
        {
          match: [{ uri: { exact: '/public' } }],
          directResponse: { status: 200, body: { string: 'public\n' } },
        },
        {
          match: [
            { ...below('/private'), headers: { 'x-company-token': { exact: COMPANY_TOKEN } } },
          ],
          route: [{ destination }],
        },
        { match: [below('/private')], directResponse: { status: 401 } },
      ],
    }),
    service('api', 'api.company.test', 'HTTP', api),
    service('collector', COLLECTOR, 'GRPC', COMPANY_COLLECTOR_PORT),
    of('telemetry', 'Telemetry', 'company', {
      tracing: [{ providers: [{ name: 'company' }], randomSamplingPercentage: 100 }],
    }),
  ]
}

/** What the control plane would send by xDS, as static resources, with the patch of the bootstrap. */
function translate(manifests: readonly Json[]): Json {
  const [file, output] = [join(folder, 'manifests.yaml'), join(folder, 'output')]
  writeFileSync(
    file,
    manifests.map((one) => stringify(one, { aliasDuplicateObjects: false })).join('---\n'),
  )
  execFileSync(program, ['-test.run', 'TestTranslate'], {
    env: {
      ...process.env,
      AGW_MANIFESTS: file,
      AGW_MESH: JSON.stringify(MESH),
      AGW_NAMESPACE: NAMESPACE,
      AGW_OUTPUT: output,
    },
    stdio: 'ignore',
  })
  const messages = readFileSync(output, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const blank = line.indexOf(' ')
      return { kind: line.slice(0, blank), message: JSON.parse(line.slice(blank + 1)) as Json }
    })
  const of = (wanted: string): Json[] =>
    messages.flatMap(({ kind, message }) => (kind === wanted ? [message] : []))
  const routes = new Map(of('route').map((one) => [one.name, one]))
  const listeners = of('listener')
  for (const listener of listeners)
    for (const { filters } of listener.filterChains) {
      const manager = filters.at(-1).typedConfig
      manager.routeConfig = routes.get(manager.rds.routeConfigName)
      delete manager.rds
      manager.httpFilters = manager.httpFilters.filter(
        ({ name }: Json) => !name.startsWith('istio.'),
      )
    }
  const clusters = of('cluster').map(({ filters = [], ...rest }) => ({
    ...rest,
    filters: filters.filter(({ name }: Json) => !name.startsWith('istio.')),
  }))
  const patches: readonly Json[] =
    manifests.find(({ kind }) => kind === 'EnvoyFilter')?.spec.configPatches ?? []
  const bootstrap = patches.find(({ applyTo }) => applyTo === 'BOOTSTRAP')?.patch.value ?? {}
  return { ...bootstrap, static_resources: { listeners, clusters } }
}

const without = (list: readonly Json[], i: number): readonly Json[] =>
  list.filter((_one, at) => at !== i)

/** Each manifest, and each patch, missing, or for another place. */
function broken(manifests: readonly Json[]): readonly (readonly [string, readonly Json[]])[] {
  const all = JSON.parse(JSON.stringify(manifests)) as Json[]
  const filter = all.findIndex(({ kind }) => kind === 'EnvoyFilter')
  const patches: readonly Json[] = all[filter].spec.configPatches
  const withPatches = (configPatches: readonly Json[]): readonly Json[] =>
    all.map((one, i) => (i === filter ? { ...one, spec: { ...one.spec, configPatches } } : one))
  const titleOf = ({ applyTo, patch }: Json): string => `${applyTo} ${patch.value.name ?? ''}`
  return [
    ['EnvoyFilter', without(all, filter)],
    ...patches.map((one, i) => [titleOf(one), withPatches(without(patches, i))] as const),
    ...patches.flatMap((one, i) =>
      one.match.routeConfiguration === undefined
        ? []
        : [
            [
              `the right host of ${titleOf(one)}`,
              withPatches(
                patches.map((other, at) =>
                  at === i
                    ? {
                        ...other,
                        match: {
                          context: 'GATEWAY',
                          routeConfiguration: { vhost: { name: 'no:1' } },
                        },
                      }
                    : other,
                ),
              ),
            ] as const,
          ],
    ),
  ]
}

await checkManifests({
  name: 'Istio 1.31',
  render: ({ parts, port }) => [
    ...asIstio(parts, { namespace: NAMESPACE, hostnames: ['*'], port }),
  ],
  company,
  sharesEnvoy: true,
  translate,
  broken,
})
