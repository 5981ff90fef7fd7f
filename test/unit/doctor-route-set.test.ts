import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkRouteSet } from '../../cli/doctor/envoy/check-route-set.ts'
import { type RoutePlace, renderedRoutes } from '../../cli/doctor/envoy/rendered-routes.ts'

/** Envoy's messages as they are parsed. */
type Json = any

const EXT_PROC = 'agw.ext_proc'

/** What `agw doctor` says about a virtual host of somebody else with these routes. */
function saysOf(routes: readonly Json[], secrets: readonly string[] | null = null): string[] {
  const host = { name: 'theirs', routes }
  const gateway = {
    listener: 'company',
    manager: {},
    filters: [{ name: EXT_PROC, disabled: true }],
    index: 0,
    config: {},
    routes: [],
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
