import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readSettings } from '../../core/settings/settings.ts'
import { bootstrapOf } from '../../envoy/render-bootstrap.ts'

function bootstrap(env: Readonly<Record<string, string>>): any {
  const read = readSettings(env)
  assert.ok(read.ok)
  return bootstrapOf(read.settings, {
    envoy_admin_socket: '/run/admin.sock',
    ext_proc_addresses: ['unix:/run/ext-proc.sock'],
    access_log_address: null,
    admin_socket: '/run/agw.sock',
    verdict_secret: 'the-verdict-secret',
    older_verdict_secrets: ['an-older-secret'],
    echo_origin: 'http://127.0.0.1:8082',
    trusted_ca_file: '/ca.pem',
    heap_limit_bytes: 1_000_000_000,
  })
}

const ON = { AGW_FORWARD_PORT: '8083' }

/** All values of a member, wherever it is. */
function allOf(value: unknown, name: string): unknown[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, member]) => [
    ...(key === name ? [member] : []),
    ...allOf(member, name),
  ])
}

test('without a port there is nothing of the forward proxy', () => {
  const text = JSON.stringify(bootstrap({ AGW_FORWARD_PORT: 'off' }))
  assert.ok(!/forward_inside|internal_listener|x-agw-tunnel|connect_matcher/.test(text))
})

test('what makes the forward proxy safe is in its configuration', () => {
  const config = bootstrap(ON)
  // Envoy aborts without them.
  assert.ok(config.node.id !== '' && config.node.cluster !== '')
  const shared = allOf(config, 'on_request_headers')
    .flat()
    .filter((one) => (one as { shared_with_upstream?: string }).shared_with_upstream !== undefined)
  assert.deepEqual(
    shared.map((one) => {
      const { object_key, factory_key } = one as Record<string, string>
      return [object_key, factory_key]
    }),
    [
      // A plain string is no part of the key of Envoy's pool: a caller could get the connection of another.
      ['agw.tunnel', 'envoy.hashable_string'],
      ['agw.tunnel_host', 'envoy.string'],
      ['envoy.filters.listener.original_dst.remote_ip', undefined],
      ['envoy.filters.listener.original_dst.local_ip', undefined],
    ],
  )
  // Certificates, and in each of the three listeners clusters.
  assert.deepEqual(allOf(config, 'api_type'), Array(5).fill('DELTA_GRPC'))
  assert.deepEqual(allOf(config, 'disable_stateless_session_resumption'), [true])
  assert.deepEqual(allOf(config, 'disable_stateful_session_resumption'), [true])
  assert.deepEqual(allOf(config, 'accept_http_10'), [true])
  const inside = config.static_resources.listeners.find(
    (one: { name: string }) => one.name === 'forward_inside',
  )
  assert.equal(inside.continue_on_listener_filters_timeout, false)
  assert.deepEqual(allOf(inside, 'xff_num_trusted_hops'), [0, 0])
})

test('clients are asked to open a new tunnel before a process that drains closes the old one', () => {
  for (const [env, drain_s] of [
    [{}, 30],
    [{ AGW_DRAIN_TIMEOUT: '1s' }, 1],
    [{ AGW_DRAIN_TIMEOUT: '1h' }, 3_600],
  ] as const) {
    const config = bootstrap({ ...ON, ...env })
    const durations = allOf(config, 'max_connection_duration')
    // For TLS and for plaintext inside of tunnels, and for no other listener.
    assert.equal(durations.length, 2)
    assert.deepEqual(allOf(config, 'http1_safe_max_connection_duration'), [true, true])
    const [jitter] = allOf(config, 'max_connection_duration_jitter') as { value: number }[]
    const [goaway] = allOf(config, 'drain_timeout')
    const longest_s =
      Number.parseFloat(String(durations[0])) * (1 + (jitter?.value ?? 0) / 100) +
      Number.parseFloat(String(goaway))
    assert.ok(longest_s <= drain_s * 0.8, `${longest_s} of ${drain_s} s`)
    // A new tunnel costs several times what a call costs.
    assert.ok(Number.parseFloat(String(durations[0])) >= drain_s * 0.65, String(durations[0]))
  }
})

test('every listener forwards only what has a verdict, and removes what callers must not set', () => {
  const config = bootstrap({ ...ON, AGW_FORWARD_BLIND_HOSTS: 'example.com:443' })
  for (const listener of config.static_resources.listeners) {
    for (const routes of allOf(listener, 'routes') as {
      name: string
      match: object
      route: { cluster: string }
    }[][])
      for (const { name, match, route } of routes) {
        if (['admin', 'agents-door', 'no-verdict'].includes(name)) continue
        const [header] = (match as { headers: Record<string, { exact: string } | string>[] })
          .headers
        assert.equal(header?.['name'], 'x-agw-pass', `${listener.name} ${name} ${route.cluster}`)
      }
    const removed = (allOf(listener, 'remove') as unknown[]).filter(
      (one) => typeof one === 'string',
    )
    for (const name of ['x-agw-pass', 'x-agw-up', 'x-agw-host', 'x-request-id'])
      assert.ok(removed.includes(name), `${listener.name} ${name}`)
    if (listener.name !== 'agents')
      for (const name of ['x-agw-tunnel', 'x-agw-sni']) assert.ok(removed.includes(name), name)
  }
  const admins = config.static_resources.listeners.filter((one: object) =>
    allOf(one, 'cluster').includes('admin'),
  )
  assert.deepEqual(
    admins.map(({ name }: { name: string }) => name),
    ['agents'],
  )
})

test('each listener has an authority of its own towards ext-proc', () => {
  const config = bootstrap(ON)
  assert.deepEqual(
    config.static_resources.listeners.map((listener: object) => allOf(listener, 'authority')),
    [['agw-with-access-log'], ['agw-forward-entry'], ['agw-forward-https', 'agw-forward-http']],
  )
})
