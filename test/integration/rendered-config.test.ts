import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { parse, parseAllDocuments } from 'yaml'
import { type EnvoyConfigOptions, runEnvoyConfig } from '../../cli/commands/envoy-config.ts'
import { readSettings } from '../../core/settings/settings.ts'
import { bootstrapOf, renderBootstrap } from '../../envoy/render-bootstrap.ts'
import { type ConfigMode, renderConfig } from '../../envoy/render-config.ts'
import { trustedCaFile } from '../../envoy/trusted-ca.ts'
import { tempFolder } from '../kit/temp-folder.ts'

/** Resources and Envoy's messages as they are parsed. */
type Json = any

const FILES = {
  AGW_EXT_PROC_TLS_CERT_FILE: '/etc/agw/tls/tls.crt',
  AGW_EXT_PROC_TLS_KEY_FILE: '/etc/agw/tls/tls.key',
  AGW_EXT_PROC_TLS_CA_FILE: '/etc/agw/tls/ca.crt',
}

const facts = {
  envoy_admin_socket: '/run/agw/envoy-admin.sock',
  ext_proc_addresses: ['ext-proc.agw.svc:9001', '192.0.2.1:9001'],
  access_log_address: 'access-log.agw.svc:9002',
  admin_socket: null,
  verdict_secret: 'newest-secret',
  older_verdict_secrets: ['older-secret'],
  echo_origin: null,
  trusted_ca_file: '/etc/ssl/ca.pem',
  heap_limit_bytes: null,
}

function manifests(mode: ConfigMode, hostnames: readonly string[] = ['*']): readonly Json[] {
  const read = readSettings(FILES, 'elsewhere')
  assert.ok(read.ok)
  const place = { mode, hostnames, merge: null, namespace: 'agw' }
  const text = renderConfig(place, read.settings, facts)
  const documents = parseAllDocuments(text, { prettyErrors: false, uniqueKeys: false })
  return documents.map((document) => document.toJS())
}

const of = (all: readonly Json[], kind: string): Json => {
  const found = all.filter((one) => one.kind === kind)
  assert.equal(found.length, 1, kind)
  return found[0].spec
}

/** Every cluster that resolves what integrations name refuses special addresses, in a DNS cache that nobody else configures. */
function assertAddressFilter(clusters: readonly Json[]): void {
  const forward = clusters.filter(({ cluster_type }) => cluster_type !== undefined)
  assert.deepEqual(
    forward.map(({ name }) => name),
    ['agw_upstream_https', 'agw_upstream_wss', 'agw_upstream_http'],
  )
  for (const { cluster_type } of forward) {
    const cache = cluster_type.typed_config.dns_cache_config
    assert.equal(cache.name, 'agw_upstreams')
    assert.ok(cache.resolved_address_filter.ranges.length > 20)
  }
}

/** The certificates are named by SDS files, which a ConfigMap has and which are where it is mounted. */
function assertSds(all: readonly Json[]): void {
  const { data, metadata } = all.find(({ kind }) => kind === 'ConfigMap')
  assert.equal(metadata.name, 'agw-envoy-sds')
  const paths = [...JSON.stringify(all).matchAll(/"path":"\/etc\/agw\/sds\/([^"]+)"/g)]
  assert.deepEqual(
    new Set(paths.map(([, name]) => name)),
    new Set(['agw_ext_proc_certificate.yaml', 'agw_ext_proc_ca.yaml']),
  )
  assert.deepEqual(Object.keys(data), ['agw_ext_proc_certificate.yaml', 'agw_ext_proc_ca.yaml'])
  const files = Object.values<string>(data).flatMap((text) => text.match(/\/etc\/agw\/tls\/\S+/g))
  assert.deepEqual(files, Object.values(FILES))
}

const BOTH_FIELDS = {
  flag: 'envoy.reloadable_features.ext_proc_graceful_grpc_close',
  cache: { max_cached_entry_idle_duration: '31536000s' },
}

test('the manifests for Envoy Gateway refuse by themselves, and their last patches are the routes that forward', () => {
  const all = manifests('envoy-gateway')
  assert.equal(of(all, 'HTTPRoute').rules.length, 1)
  assert.equal(of(all, 'HTTPRoute').rules[0].backendRefs, undefined, 'forwards to nobody')
  assert.equal(of(all, 'HTTPRouteFilter').directResponse.statusCode, 503)
  const [extProc] = of(all, 'EnvoyExtensionPolicy').extProc
  assert.deepEqual([extProc.failOpen, extProc.processingMode.allowModeOverride], [false, true])
  assert.deepEqual(of(all, 'Backend').endpoints, [
    { fqdn: { hostname: 'ext-proc.agw.svc', port: 9001 } },
    { ip: { address: '192.0.2.1', port: 9001 } },
  ])
  const { bootstrap, telemetry, provider } = of(all, 'EnvoyProxy')
  assert.deepEqual(
    bootstrap.jsonPatches.map(({ op, path, value }: Json) => [op, path, value]),
    [
      ['add', `/layered_runtime/layers/0/static_layer/${BOTH_FIELDS.flag}`, true],
      ['add', '/grpc_async_client_manager_config', BOTH_FIELDS.cache],
    ],
  )
  assert.equal(telemetry.accessLog.disable, true)
  const { container } = provider.kubernetes.envoyDeployment
  assert.deepEqual(
    container.volumeMounts.map(({ mountPath }: Json) => mountPath),
    ['/etc/agw/tls', '/etc/agw/sds'],
  )
  assertSds(all)

  const patches: readonly Json[] = of(all, 'EnvoyPatchPolicy').jsonPatches
  assertAddressFilter(
    patches.map(({ operation }) => operation.value).filter((value) => value?.name),
  )
  const kinds = patches.map(({ type }) => type.split('.').at(-1))
  assert.equal(kinds.indexOf('RouteConfiguration'), kinds.length - 1)
  const { routes, typed_per_filter_config } = patches.at(-1).operation.value
  assert.ok(typed_per_filter_config['agw.ext_proc'])
  assert.equal(routes.at(-1).name, 'agw-no-verdict')
  for (const { match, name } of routes.slice(0, -1))
    assert.match(match.headers[0].string_match.exact, /^(newest|older)-secret$/, name)
})

test('the manifests for Istio act on one port, where every filter is off but for the virtual host', () => {
  const all = manifests('istio', ['agents.example.com', 'more.example.com'])
  const port = of(all, 'Gateway').servers[0].port.number
  assert.equal(of(all, 'VirtualService').http[0].directResponse.status, 503)
  assertSds(all)
  const patches: readonly Json[] = of(all, 'EnvoyFilter').configPatches
  const at = (applyTo: string): readonly Json[] => patches.filter((one) => one.applyTo === applyTo)
  for (const { applyTo, match } of patches)
    if (!['BOOTSTRAP', 'CLUSTER'].includes(applyTo))
      assert.equal((match.listener ?? match.routeConfiguration).portNumber, port, applyTo)
  const [bootstrap] = at('BOOTSTRAP').map(({ patch }) => patch.value)
  assert.equal(bootstrap.layered_runtime.layers[0].static_layer[BOTH_FIELDS.flag], true)
  assert.deepEqual(bootstrap.grpc_async_client_manager_config, BOTH_FIELDS.cache)
  assertAddressFilter(at('CLUSTER').map(({ patch }) => patch.value))
  const filters = at('HTTP_FILTER').map(({ patch }) => patch.value)
  assert.equal(filters.length, 6)
  for (const { name, disabled } of filters) assert.equal(disabled, true, name)
  for (const hostname of ['agents.example.com', 'more.example.com']) {
    const inHost = ({ match }: Json): boolean =>
      match.routeConfiguration.vhost.name === `${hostname}:${port}`
    // Each is inserted first, so the last one decides first.
    const routes = at('HTTP_ROUTE')
      .filter(inHost)
      .map(({ patch }) => patch.value)
    assert.equal(routes[0].name, 'agw-no-verdict')
    assert.equal(routes.at(-1).match.headers[0].string_match.exact, 'newest-secret')
    const [host] = at('VIRTUAL_HOST')
      .filter(inHost)
      .map(({ patch }) => patch.value)
    assert.ok(host.typed_per_filter_config['agw.ext_proc'])
    for (const { route } of routes)
      assert.deepEqual(route.upgrade_configs, [{ upgrade_type: 'websocket' }])
  }
  // Istio refuses a message of any type that does not name it.
  assert.ok(!JSON.stringify(patches).includes('"config":{}'))
})

test('the text says what the data says, and each part that is used several times once', () => {
  const read = readSettings({})
  assert.ok(read.ok)
  const text = renderBootstrap(read.settings, facts)
  const data = bootstrapOf(read.settings, facts)
  assert.deepEqual(
    parse(text, { maxAliasCount: -1, prettyErrors: false, uniqueKeys: false }),
    JSON.parse(JSON.stringify(data)),
  )
  assert.ok(text.length < JSON.stringify(data).length / 1.5, `${text.length} characters`)
})

test('tracing changes nothing where it is off, and nothing of an Envoy of somebody else', () => {
  const off = readSettings({})
  const on = readSettings({ AGW_TRACE_URL: 'https://collector.test/v1/traces' })
  assert.ok(off.ok && on.ok)
  assert.doesNotMatch(renderBootstrap(off.settings, facts), /tracing|traceparent|opentelemetry/)
  assert.match(renderBootstrap(on.settings, facts), /opentelemetry/)
  const modes = ['listener', 'virtual-host', 'filter', 'envoy-gateway', 'istio'] as const
  for (const mode of modes) {
    const place = { mode, hostnames: ['a.test'], merge: null, namespace: 'agw' }
    const plain = renderConfig(place, off.settings, facts)
    assert.equal(renderConfig(place, on.settings, facts), plain, mode)
  }
})

/** An Envoy of somebody else, with a listener that has two filter chains. */
function companyBootstrap(): string {
  const manager = `
            - name: envoy.filters.network.http_connection_manager
              typed_config:
                "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
                stat_prefix: company
                route_config:
                  virtual_hosts:
                    - { name: first, domains: [a.test], routes: [{ match: { prefix: / }, direct_response: { status: 200 } }] }
                    - name: second # of everything else
                      domains: ["*"]
                      routes: []
                http_filters:
                  - name: router
                    typed_config: { "@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router }`
  const address = (port: number): string =>
    `address: { socket_address: { address: 127.0.0.1, port_value: ${port} } }`
  return `# of the company
static_resources:
  listeners:
    - name: other
      ${address(10_001)}
      filter_chains:
        - filters:${manager}
    - name: agents
      ${address(10_002)}
      filter_chains:
        - filter_chain_match: { source_prefix_ranges: [{ address_prefix: 10.0.0.0, prefix_len: 8 }] }
          filters:${manager}
      default_filter_chain:
          filters:${manager}
`
}

/** As RFC 6902 says; only additions. */
function patched(config: Json, patch: Json): Json {
  for (const { op, path, value } of patch) {
    assert.equal(op, 'add')
    const names = path.split('/').slice(1)
    const last = names.pop() ?? ''
    const parent = names.reduce(
      (part: Json, name: string) => part[name.replaceAll('~1', '/')],
      config,
    )
    if (!Array.isArray(parent)) parent[last] = value
    else parent.splice(last === '-' ? parent.length : Number(last), 0, value)
  }
  return config
}

test('agw envoy-config --merge adds the gateway to a configuration, or prints the JSON patch that does', async () => {
  const folder = tempFolder('merge')
  const theirs = join(folder, 'theirs.yaml')
  writeFileSync(theirs, companyBootstrap())
  const env = {
    AGW_VERDICT_SECRET: 'a-secret-of-both-sides',
    AGW_EXT_PROC_ADDRESS: 'unix:/run/agw/ext-proc.sock',
  }
  const output = join(folder, 'output')
  const rendered = (options: Partial<EnvoyConfigOptions> & Pick<EnvoyConfigOptions, 'mode'>) => {
    const all = { trustedCa: trustedCaFile(folder, null), merge: theirs, output, ...options }
    runEnvoyConfig(env, all, '/run/agw/envoy-admin.sock')
    return readFileSync(output, 'utf8')
  }
  const host = { mode: 'virtual-host', hostname: ['agents.test'] } as const
  for (const options of [
    { mode: 'listener' },
    { ...host, into: 'agents' },
    { mode: 'filter', into: 'agents/second' },
  ] as const) {
    const text = rendered(options)
    assert.match(text, /^# of the company\n[^]* second # of everything else\n/)
    const patch = JSON.parse(rendered({ ...options, format: 'json-patch' }))
    const whole = patched(parse(companyBootstrap()), patch)
    assert.deepEqual(whole, parse(text))
    const file = join(folder, 'merged.yaml')
    writeFileSync(file, text)
    const envoy = process.env['ENVOY_BIN'] ?? ''
    await promisify(execFile)(envoy, [
      '--mode',
      'validate',
      '-c',
      file,
      '--use-dynamic-base-id',
      '-l',
      'error',
    ])
    assert.throws(() => rendered({ ...options, merge: file }), /already has/)
    const agents = whole.static_resources.listeners[1]
    for (const { filters } of [...agents.filter_chains, agents.default_filter_chain]) {
      const [first, second, third] = filters[0].typed_config.route_config.virtual_hosts
      assert.equal(first.routes.length, 1)
      assert.equal(third?.domains[0], options.mode === 'virtual-host' ? 'agents.test' : undefined)
      assert.equal(
        second.routes[0]?.name.startsWith('agw-'),
        options.mode === 'filter' || undefined,
      )
    }
  }
  for (const [options, says] of [
    [host, /^--into LISTENER has to name one .*yours: other, agents\.$/],
    [
      { mode: 'filter', into: 'agents' },
      /^--into LISTENER\/VIRTUAL_HOST .*yours: first, second\.$/,
    ],
    [{ mode: 'listener', into: 'agents' }, /^--into goes with/],
    [{ mode: 'istio' }, /^--merge goes with/],
    [
      { ...host, hostname: ['a.test'], into: 'agents' },
      /^a\.test is a domain of your virtual host/,
    ],
  ] as const)
    assert.throws(() => rendered(options), { message: says })
  writeFileSync(theirs, 'static_resources: { listeners: &l [], clusters: *l }')
  assert.throws(() => rendered({ mode: 'listener' }), /has aliases where the gateway is added/)
  const alone = { mode: 'listener', format: 'json-patch', trustedCa: '' } as const
  assert.throws(() => runEnvoyConfig(env, alone, ''), /needs --merge FILE/)
})
