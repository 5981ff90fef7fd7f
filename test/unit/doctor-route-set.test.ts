import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkRoutes } from '../../cli/doctor/envoy/check-routes.ts'
import { checkRouteSet } from '../../cli/doctor/envoy/check-route-set.ts'
import { readEnvoyDump } from '../../cli/doctor/envoy/read-envoy-dump.ts'
import { type RoutePlace, renderedRoutes } from '../../cli/doctor/envoy/rendered-routes.ts'
import { OTHER_ROUTE_POLICY } from '../../core/catalogue/other-route-details.ts'
import { OWN_ROUTES } from '../../envoy/only-own-routes.ts'

/** Envoy's messages as they are parsed. */
type Json = any

const EXT_PROC = 'agw.ext_proc'

/** The listener of the gateway, without routes. */
const GATEWAY = {
  listener: 'company',
  manager: {},
  filters: [{ name: EXT_PROC }],
  index: 0,
  config: {},
  routes: [],
  hosts: [],
  trees: [],
}

/** It refuses allowed calls on routes of the company. */
const OWN_ROUTES_FILTER = {
  name: OWN_ROUTES,
  disabled: true,
  typed_config: { rules: { action: 'DENY', policies: { [OTHER_ROUTE_POLICY]: {} } } },
}

/** What `agw doctor` says about a virtual host of somebody else with these routes. */
function saysOf(routes: readonly Json[], secrets: readonly string[] | null = null): string[] {
  const host = { name: 'theirs', routes }
  const gateway = {
    ...GATEWAY,
    filters: [{ name: EXT_PROC, disabled: true }, OWN_ROUTES_FILTER],
    hosts: [host, { name: 'other', routes: [{ match: { prefix: '/' } }] }],
  }
  return checkRouteSet(gateway, secrets).map(({ state, says }) => `${state}: ${says}`)
}

const rendered = (place: RoutePlace = 'filter'): Json[] =>
  structuredClone([...renderedRoutes(place)])
const withSecret = (exact: string): Json[] => {
  const routes = rendered()
  for (const { match } of routes)
    if (match.headers?.[0]?.string_match?.exact === 'any') match.headers[0].string_match = { exact }
  return routes
}
const passesOf = (routes: readonly Json[]): Json[] =>
  routes.filter(({ name }) => name.startsWith('agw-pass-'))

test('every place has routes that forward, and ends with one that does not', () => {
  for (const place of [
    'listener',
    'forward',
    'forward_inside',
    'virtual-host',
    'filter',
  ] as const) {
    const names = rendered(place).map(({ name }) => name.replace(/^agw-/, ''))
    assert.ok(names.includes('pass-http') && names.at(-1).startsWith('no-verdict'), place)
    assert.ok(names.includes('pass-https') !== (place === 'forward'), place)
  }
})

test('what is rendered is complete, also in another order of headers, and with routes of the company behind', () => {
  assert.deepEqual(saysOf(rendered()), [])
  const routes = rendered()
  for (const { match } of routes) match.headers?.reverse()
  assert.deepEqual(saysOf([...routes, { match: { prefix: '/' } }]), [])
})

test('a route to no cluster with endpoints is not one of the company', () => {
  const more = {
    name: 'agw-more',
    match: { prefix: '/', headers: [{ name: 'x-agw-pass', present_match: true }] },
    route: { cluster: 'agw_nowhere' },
  }
  const routes = rendered()
  const forwarding = passesOf(routes)
  assert.deepEqual(saysOf([...forwarding, more, ...routes.slice(forwarding.length)]), [])
  const [says = '', ...others] = saysOf([...routes, { match: { prefix: '/v1' } }, more])
  assert.match(says, /^failed: .*stand before those of the gateway: \{"prefix":"\/v1"\}/)
  assert.deepEqual(others, [])
})

test('of many routes the first ten are named', () => {
  const before = Array.from({ length: 12 }, (_, i) => ({ name: `r${i}`, match: { prefix: '/' } }))
  const [says = '', ...others] = saysOf([...before, ...rendered()])
  assert.match(says, /gateway: r0, r1, .*, r9 and 2 more; /)
  assert.deepEqual(others, [])
})

test('a route that has the name of ours and forwards without a verdict is missing', () => {
  const routes = rendered()
  const index = routes.findIndex(({ name }) => name === 'agw-pass-https')
  routes[index] = { name: 'agw-pass-https', match: { prefix: '/' }, route: { cluster: 'company' } }
  assert.match(saysOf(routes)[0] ?? '', /^failed: .*lacks the routes agw-pass-https, /)
})

test('while the secret is rotated, every route needs a copy for the secret that processors send', () => {
  const [older, newer] = ['older-secret-older-secret', 'newer-secret-newer-secret']
  const both = [...passesOf(withSecret(newer)), ...withSecret(older)]
  for (const secrets of [null, [newer], [newer, older], [older]])
    assert.deepEqual(saysOf(both, secrets), [])
  const partial = both.slice(1)
  assert.deepEqual(saysOf(partial), [])
  assert.deepEqual(saysOf(partial, [older]), [])
  const [says = '', ...others] = saysOf(partial, [newer, older])
  assert.match(says, /^failed: the routes agw-pass-https-own of .* than AGW_VERDICT_SECRET/)
  assert.deepEqual(others, [])
  const [mixed = ''] = saysOf([...withSecret(newer).slice(0, 1), ...withSecret(older).slice(1)])
  assert.match(mixed, /^failed: the routes agw-pass-https-own of .* than the other routes/)
  for (const text of [says, mixed]) assert.doesNotMatch(text, /secret-/)
})

const WRONG_ORDER =
  /^failed: routes of the gateway in .* theirs are in the wrong order: (\S+) stands before (\S+) /

test('each route of ours that stands before one that should come first is named', () => {
  const routes = rendered()
  const nameAt = (i: number): string => routes[i].name
  for (let late = 0; late < routes.length; late++)
    for (let early = late + 1; early < routes.length; early++) {
      const swapped = [...routes]
      swapped[late] = routes[early]
      swapped[early] = routes[late]
      const [says = '', ...others] = saysOf(swapped)
      const [, before = '', after = ''] = WRONG_ORDER.exec(says) ?? []
      assert.deepEqual(
        [before, after],
        [nameAt(early), nameAt(late + 1 === early ? late : late + 1)],
      )
      assert.deepEqual(others, [])
    }
})

test('the order is that of the routes of each secret, and of the route to the admin service', () => {
  const [older, newer] = ['older-secret-older-secret', 'newer-secret-newer-secret']
  const interleaved = passesOf(withSecret(newer)).flatMap((route, i) => [
    route,
    passesOf(withSecret(older))[i],
  ])
  assert.deepEqual(saysOf([...interleaved, ...rendered().slice(interleaved.length / 2)]), [])
  const admin = { name: 'admin', match: { prefix: '/admin/' }, route: { cluster: 'admin' } }
  const routes = rendered('listener')
  const at = routes.findIndex(({ name }) => name === 'no-verdict')
  const host = (all: readonly Json[]) => ({ name: 'all', routes: all })
  const says = (all: readonly Json[]): string[] =>
    checkRouteSet(
      { ...GATEWAY, filters: [{ name: 'envoy.filters.http.ext_proc' }], hosts: [host(all)] },
      null,
    ).map((one) => one.says)
  assert.deepEqual(says(routes.toSpliced(at, 0, admin)), [])
  assert.match(says([admin, ...routes])[0] ?? '', /: admin stands before pass-https-own and/)
  assert.match(says([...routes, admin])[0] ?? '', /: no-verdict stands before admin and/)
})

/** A dump in which a virtual host has a match tree in place of routes. */
function withTree(tree: Json, filter: Json, more: readonly Json[] = []): Json {
  const typed_config = {
    '@type': 'type.googleapis.com/envoy.extensions.filters.http.ext_proc.v3.ExternalProcessor',
    metadata_options: { receiving_namespaces: { untyped: ['agw'] } },
  }
  const manager = {
    '@type':
      'type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager',
    http_filters: [{ name: EXT_PROC, ...filter, typed_config }],
    route_config: { virtual_hosts: [{ name: 'tree', ...tree }, ...more] },
  }
  const listener = { name: 'company', filter_chains: [{ filters: [{ typed_config: manager }] }] }
  const type = 'type.googleapis.com/envoy.admin.v3.ListenersConfigDump'
  return { configs: [{ '@type': type, static_listeners: [{ listener }] }] }
}

const actionOf = (route: Json): Json => ({
  matcher_list: {
    matchers: [
      { on_match: { action: { name: 'route', typed_config: { '@type': 'x.Route', ...route } } } },
    ],
  },
})

test('a match tree in which the filter may be on fails, as it is not read', () => {
  const theirs = { match: { prefix: '/' }, route: { cluster: 'company' } }
  const on = { typed_per_filter_config: { [EXT_PROC]: { overrides: {} } } }
  const off = { typed_per_filter_config: { [EXT_PROC]: { disabled: true } } }
  const ours = { name: 'theirs', ...on, routes: rendered() }
  const [pass] = passesOf(rendered())
  const rows: readonly (readonly [string, Json, Json, boolean])[] = [
    ['our routes', { matcher: actionOf(pass) }, { disabled: true }, true],
    [
      'a route that switches the filter on',
      { matcher: actionOf({ ...theirs, ...on }) },
      { disabled: true },
      true,
    ],
    ['the filter is on for all', { matcher: actionOf(theirs) }, {}, true],
    [
      'the filter is on for the host',
      { matcher: actionOf(theirs), ...on },
      { disabled: true },
      true,
    ],
    ['the filter is off for the host', { matcher: actionOf(theirs), ...off }, {}, false],
    ['the filter is off', { matcher: actionOf(theirs) }, { disabled: true }, false],
    ['no tree', { routes: [theirs] }, { disabled: true }, false],
  ]
  for (const [name, tree, filter, isNamed] of rows) {
    const dump = readEnvoyDump(withTree(tree, filter, [ours]))
    const [gateway] = dump.gateways
    assert.ok(gateway, name)
    const found = [...checkRoutes(gateway, dump), ...checkRouteSet(gateway, null)]
    const named = found.filter(({ says }) => / host tree has a match tree/.test(says))
    assert.deepEqual(
      named.map(({ state }) => state),
      isNamed ? ['failed'] : [],
      name,
    )
    assert.ok(!found.some(({ says }) => /tree lacks|no route needs/.test(says)), name)
  }
})
