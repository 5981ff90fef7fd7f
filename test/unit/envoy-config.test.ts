import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkBootstrap } from '../../cli/doctor/envoy/check-bootstrap.ts'
import { runEnvoyConfig } from '../../cli/commands/envoy-config.ts'
import { type Environment, readSettings } from '../../core/settings/settings.ts'
import { asParts } from '../../envoy/as-parts.ts'
import { type BootFacts, bootstrapOf } from '../../envoy/render-bootstrap.ts'

/** Envoy's messages as they are parsed. */
type Json = any

const facts: BootFacts = {
  envoy_admin_socket: '/run/agw/envoy-admin.sock',
  ext_proc_addresses: ['unix:/run/agw/ext-proc.sock'],
  access_log_address: null,
  admin_socket: null,
  verdict_secret: 'newest-secret',
  echo_origin: 'http://127.0.0.1:8082',
  trusted_ca_file: '/etc/ssl/ca.pem',
  heap_limit_bytes: 1024 ** 3,
}

const routesWith = (more: Partial<BootFacts>): readonly any[] => {
  const read = readSettings({ AGW_FORWARD_PORT: 'off' })
  assert.ok(read.ok)
  const config = bootstrapOf(read.settings, { ...facts, ...more }) as Json
  const [listener] = config.static_resources.listeners
  return listener.filter_chains[0].filters[0].typed_config.route_config.virtual_hosts[0].routes
}

test('while the verdict secret is rotated, Envoy accepts the new one and the old ones, and no other', () => {
  const one = routesWith({})
  const three = routesWith({ older_verdict_secrets: ['older-secret', 'oldest-secret'] })
  const passes = one.filter(({ name }) => name.startsWith('pass-'))
  assert.equal(passes.length, 10)
  assert.equal(three.length, one.length + 2 * passes.length)
  const withSecret = (secret: string): readonly any[] =>
    three.filter(({ match }) => match.headers?.[0].string_match.exact === secret)
  for (const secret of ['newest-secret', 'older-secret', 'oldest-secret'])
    assert.deepEqual(
      withSecret(secret),
      passes.map((route) => {
        const [verdict, ...others] = route.match.headers
        const own = { ...verdict, string_match: { exact: secret } }
        return { ...route, match: { ...route.match, headers: [own, ...others] } }
      }),
    )
  assert.equal(three.at(-1).name, 'no-verdict')
})

test('parts for another Envoy do not lead to the admin service', () => {
  const read = readSettings({ AGW_FORWARD_PORT: 'off' })
  assert.ok(read.ok)
  for (const kind of ['own-port', 'virtual-host'] as const) {
    const config = bootstrapOf(read.settings, {
      ...facts,
      admin_socket: '/run/agw/admin.sock',
    }) as Json
    const parts = JSON.stringify(asParts(config, { kind, hostnames: ['a.example'] }))
    assert.ok(parts.includes('agw-no-verdict'))
    assert.ok(!/admin\.sock|agw.agents.door|agw_admin/.test(parts))
  }
})

test('Envoy checks the names of the processors where they are set', () => {
  const tlsOf = (env: Environment): Json => {
    const files = { CERT: '/c.pem', KEY: '/k.pem', CA: '/ca.pem' }
    const tls = Object.entries(files).map(([name, file]) => [`AGW_EXT_PROC_TLS_${name}_FILE`, file])
    const read = readSettings(
      { ...Object.fromEntries(tls), AGW_FORWARD_PORT: 'off', ...env },
      'elsewhere',
    )
    assert.ok(read.ok, 'files are not looked for on this machine')
    const addresses = { ext_proc_addresses: ['ext-proc.test:7443'] }
    const config = bootstrapOf(read.settings, { ...facts, ...addresses }) as Json
    const { common_tls_context } = config.static_resources.clusters[0].transport_socket.typed_config
    return common_tls_context.validation_context
  }
  assert.deepEqual(tlsOf({}), { trusted_ca: { filename: '/ca.pem' } })
  const names = 'ext-proc.test,10.0.0.1,spiffe://mesh.test/ext-proc'
  assert.deepEqual(tlsOf({ AGW_EXT_PROC_TLS_SERVER_SANS: names }).match_typed_subject_alt_names, [
    { san_type: 'DNS', matcher: { exact: 'ext-proc.test' } },
    { san_type: 'IP_ADDRESS', matcher: { exact: '10.0.0.1' } },
    { san_type: 'URI', matcher: { exact: 'spiffe://mesh.test/ext-proc' } },
  ])
})

test('as the fallback of the access log, no processor has its health checked a second time', () => {
  const read = readSettings({})
  assert.ok(read.ok)
  const more = { ext_proc_addresses: ['a.test:1', 'b.test:1'], access_log_address: 'c.test:1' }
  const { static_resources } = bootstrapOf(read.settings, { ...facts, ...more }) as Json
  const log = static_resources.clusters.find(({ name }: Json) => name === 'access_log')
  assert.deepEqual(
    log.load_assignment.endpoints.map(({ lb_endpoints }: Json) =>
      lb_endpoints.map(({ endpoint }: Json) => endpoint.health_check_config),
    ),
    [[undefined], Array(2).fill({ disable_active_health_check: true })],
  )
})

test('a processor whose socket outlives it is given up later, since calls wait in it', () => {
  const read = readSettings({})
  assert.ok(read.ok)
  const thresholdOf = (more: Partial<BootFacts>): number => {
    const { static_resources } = bootstrapOf(read.settings, { ...facts, ...more }) as Json
    const { health_checks } = static_resources.clusters.find(
      ({ name }: Json) => name === 'ext_proc',
    )
    return health_checks[0].unhealthy_threshold
  }
  assert.equal(thresholdOf({}), 2)
  assert.equal(thresholdOf({ is_ext_proc_held: true }), 5)
})

const traced = { AGW_TRACE_URL: 'https://collector.test/v1/traces', AGW_TRACE_SAMPLE: '0.25' }

test('tracing is in every listener of our own Envoy: sampled by us alone, told to no API', () => {
  const read = readSettings({ ...traced, AGW_TRACE_HEADERS: 'authorization=the-token' })
  assert.ok(read.ok)
  const config = bootstrapOf(read.settings, facts) as Json
  const managers = config.static_resources.listeners.flatMap(({ filter_chains }: Json) =>
    filter_chains
      .map(({ filters }: Json) => filters[0].typed_config)
      .filter((filter: Json) => 'tracing' in filter),
  )
  // Base URLs, and of the forward proxy the entry and the insides of tunnels.
  assert.equal(managers.length, 4)
  for (const { tracing, http_filters, early_header_mutation_extensions } of managers) {
    assert.equal(tracing.no_context_propagation, true)
    const { sampler, grpc_service } = tracing.provider.typed_config
    assert.deepEqual(sampler.typed_config.sampling_percentage, {
      numerator: 2_500,
      denominator: 'MILLION',
    })
    assert.equal(grpc_service.envoy_grpc.cluster_name, 'ext_proc')
    const [early] = early_header_mutation_extensions
    const forgotten = early.typed_config.mutations.flatMap(({ remove }: Json) => remove ?? [])
    assert.ok(forgotten.includes('traceparent') && forgotten.includes('x-agw-traceparent'))
    assert.match(JSON.stringify(http_filters[0]), /"key":"traceparent"/)
  }
  // Envoy shows its configuration to whoever may use its admin interface.
  assert.doesNotMatch(JSON.stringify(config), /collector\.test|the-token/)
})

const VERSIONS: readonly (readonly [object, boolean, boolean?])[] = [
  [{ major_number: 1, minor_number: 40 }, true],
  [{ major_number: 1, minor_number: 39 }, true, true],
  [{ major_number: 1, minor_number: 39, patch: 1 }, true, true],
  [{ major_number: 1, minor_number: 39, patch: 2 }, true],
  [{ major_number: 1, minor_number: 38, patch: 3 }, false],
  [{ major_number: 1, minor_number: 38, patch: 4 }, false, true],
  [{ major_number: 1, minor_number: 41 }, false],
  [{ major_number: 2 }, true],
  [{}, true],
]

for (const [version, isSupported, hangs = false] of VERSIONS)
  test(`agw doctor about an Envoy of version ${JSON.stringify(version)}`, () => {
    const bootstrap = { node: { user_agent_build_version: { version } } }
    const found = checkBootstrap({ bootstrap } as unknown as Parameters<typeof checkBootstrap>[0])
    const says = (text: string): boolean => found.some((one) => one.says.includes(text))
    assert.equal(!says('is not supported'), isSupported)
    assert.equal(says('hangs in the handshake of each WebSocket'), hangs)
  })

test('an egress proxy is a part of the whole configuration alone, and refused for an Envoy of others', () => {
  const env = {
    AGW_EGRESS_PROXY: 'http://user:proxy-password@proxy.test:3128',
    AGW_VERDICT_SECRET: 'newest-secret',
    AGW_EXT_PROC_ADDRESS: 'unix:/run/agw/ext-proc.sock',
  }
  const read = readSettings(env)
  assert.ok(read.ok)
  const { static_resources } = bootstrapOf(read.settings, facts) as Json
  const names = static_resources.clusters.map(({ name }: Json) => name)
  assert.ok(names.includes('egress_proxy') && names.includes('own.proxied.https'))
  for (const mode of ['listener', 'virtual-host', 'filter', 'envoy-gateway', 'istio'] as const) {
    const hostname = mode === 'virtual-host' ? { hostname: ['agw.test'] } : {}
    const options = { mode, trustedCa: '/ca.pem', ...hostname }
    assert.throws(
      () => runEnvoyConfig(env, options, '/admin.sock'),
      (error: Error) =>
        /AGW_EGRESS_PROXY needs --mode standalone/.test(error.message) &&
        !error.message.includes('proxy-password'),
    )
  }
})
