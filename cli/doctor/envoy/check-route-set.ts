import { OTHER_ROUTE_POLICY } from '../../../core/catalogue/other-route-details.ts'
import { OWN_ROUTES } from '../../../envoy/only-own-routes.ts'
import { type CheckResult, failed, warning } from '../check-result.ts'
import { TO_ADMIN_SERVICE } from './check-routes.ts'
import { at, type Message, messages, textAt } from './message.ts'
import {
  type Gateway,
  isOn,
  isVerdict,
  needsVerdict,
  perRouteConfig,
  VERDICT_HEADER,
} from './read-envoy-dump.ts'
import { type RoutePlace, renderedRoutes } from './rendered-routes.ts'

/** An operator looks for the first of them; a virtual host may have thousands. */
const SHOWN_ROUTES_LIMIT = 10

/**
 * Whether each virtual host of the gateway has the routes that `agw envoy-config` prints, before all others, and with the secret
 * that processors send.
 * @param secrets of AGW_VERDICT_SECRET, newest first; null if it is not set here
 */
export function checkRouteSet(gateway: Gateway, secrets: readonly string[] | null): CheckResult[] {
  const check = `envoy ${gateway.listener}: routes`
  return ownHosts(gateway).flatMap((host) => {
    const place = placeOf(gateway, host)
    const rendered = renderedRoutes(place)
    const isOurs = oursAmong(place, rendered)
    return [
      ...checkComplete(check, host, rendered),
      ...checkOrder(check, host, isOurs),
      ...checkOwnRoutes(check, gateway, host, isOurs),
      ...checkOwnOrder(check, host, place, rendered),
      ...checkSecrets(check, host, secrets),
    ]
  })
}

/** A virtual host that the company added to the listener of the gateway, such as for health checks, is none of them. */
function ownHosts(gateway: Gateway): readonly Message[] {
  const { filters, index, trees } = gateway
  const hosts = gateway.hosts.filter((host) => !trees.includes(host))
  const filterName = textAt(filters[index], 'name')
  const withFilter = new Set(gateway.routes.map(({ host }) => host))
  const own = hosts.filter(
    (host) =>
      messages(host['routes']).some((route) => needsVerdict(route) || isNoVerdict(route)) ||
      (at(host, 'typed_per_filter_config', filterName) !== undefined &&
        isOn(filters[index] ?? {}, [host])),
  )
  return own.length > 0 ? own : hosts.filter((host) => withFilter.has(host))
}

function placeOf({ config, filters, index }: Gateway, host: Message): RoutePlace {
  const filter = filters[index] ?? {}
  const authority = textAt(config, 'grpc_service', 'envoy_grpc', 'authority')
  if (authority === 'agw-forward-entry') return 'forward'
  if (authority.startsWith('agw-forward-')) return 'forward_inside'
  const isShared =
    textAt(filter, 'name').startsWith('agw.') ||
    messages(host['routes']).some((route) => textAt(route, 'name').startsWith('agw-'))
  if (!isShared) return 'listener'
  return isOn(filter, [host]) ? 'virtual-host' : 'filter'
}

function checkComplete(check: string, host: Message, rendered: readonly Message[]): CheckResult[] {
  const routes = new Set(messages(host['routes']).map(identityOf))
  const missing = rendered.filter((route) => !routes.has(identityOf(route)))
  const found: CheckResult[] = []
  const passes = missing.filter(needsVerdict)
  if (passes.length > 0)
    found.push(
      failed(
        check,
        `the virtual host ${textAt(host, 'name')} lacks the routes ${namesOf(passes)}, or they match something else: an allowed call that needs one is refused, or reaches another route with the credential of the API`,
        'Add all routes that agw envoy-config prints, with the same names and matches and in the same order.',
      ),
    )
  const others = missing.filter((route) => !needsVerdict(route))
  if (others.length > 0)
    found.push(
      failed(
        check,
        `the virtual host ${textAt(host, 'name')} lacks the routes ${namesOf(others)}, or they match something else: calls that must not be forwarded reach other routes`,
        'Add each route no-verdict that agw envoy-config prints, behind those that forward.',
      ),
    )
  return found
}

/** Distinguishes the routes of the gateway from those of others in the same virtual host. */
function oursAmong(place: RoutePlace, rendered: readonly Message[]): (route: Message) => boolean {
  const names = new Set(rendered.map((route) => textAt(route, 'name')))
  if (place === 'listener') for (const name of TO_ADMIN_SERVICE) names.add(name)
  return (route) => needsVerdict(route) || isNoVerdict(route) || names.has(textAt(route, 'name'))
}

function checkOrder(
  check: string,
  host: Message,
  isOurs: (route: Message) => boolean,
): CheckResult[] {
  const routes = messages(host['routes'])
  const before = routes.slice(0, routes.findLastIndex(isOurs) + 1).filter((one) => !isOurs(one))
  if (before.length === 0) return []
  return [
    failed(
      check,
      `routes of the virtual host ${textAt(host, 'name')} stand before those of the gateway: ${namesOf(before)}; allowed calls whose path they match are refused; without the filter agw.own_routes, they receive them with the credential of the API and the verdict secret`,
      'Move the routes of the gateway before all other routes of the virtual host, in the order of agw envoy-config. If the filter was missing and agents have made calls, replace the credentials of the APIs and AGW_VERDICT_SECRET.',
    ),
  ]
}

/** The filter behind the processor that refuses an allowed call which matches a route of others: see envoy/only-own-routes.ts. */
function checkOwnRoutes(
  check: string,
  { filters, index, routes }: Gateway,
  host: Message,
  isOurs: (route: Message) => boolean,
): CheckResult[] {
  const others = messages(host['routes']).filter((route) => !isOurs(route))
  if (others.length === 0) return []
  const own = filters.slice(index + 1).find((filter) => textAt(filter, 'name') === OWN_ROUTES)
  // Whether it acts is decided by the route on which a call arrives, and what it refuses by the route that is chosen then.
  const acts =
    own !== undefined &&
    routes.filter((one) => one.host === host).every(({ route }) => isOn(own, [route, host]))
  const open = acts ? others.filter((route) => !refusesAllowed(own, route, host)) : others
  if (open.length === 0) return []
  return [
    warning(
      check,
      `the filter ${OWN_ROUTES} of agw envoy-config does not refuse allowed calls on routes of others in the virtual host ${textAt(host, 'name')}: ${namesOf(open)}; only the order of the routes keeps the credentials of APIs from them`,
      'Render the configuration again with agw envoy-config, and install its filters and routes.',
    ),
  ]
}

function refusesAllowed(filter: Message, route: Message, host: Message): boolean {
  const perRoute = perRouteConfig(filter, [route, host])
  const rules =
    perRoute === undefined ? at(filter, 'typed_config', 'rules') : at(perRoute, 'rbac', 'rules')
  return (
    textAt(rules, 'action') === 'DENY' && at(rules, 'policies', OTHER_ROUTE_POLICY) !== undefined
  )
}

/** Of two routes that match the same call the first takes it, so each of ours is where `agw envoy-config` has it. */
function checkOwnOrder(
  check: string,
  host: Message,
  place: RoutePlace,
  rendered: readonly Message[],
): CheckResult[] {
  const ordered = rendered.map(identityOf)
  // Those to the admin service stand between those that forward and no-verdict.
  const admin =
    place === 'listener' ? rendered.findIndex((route) => !needsVerdict(route)) - 0.5 : -1
  const placeOfRoute = (route: Message): number => {
    const at = TO_ADMIN_SERVICE.indexOf(textAt(route, 'name'))
    return at < 0 || admin < 0 ? ordered.indexOf(identityOf(route)) : admin + at / 10
  }
  const known = messages(host['routes']).filter((route) => placeOfRoute(route) >= 0)
  // While the secret is rotated, each secret has its own routes, and no call matches those of two.
  for (const secret of new Set(known.flatMap(secretsOf))) {
    const own = known.filter((route) => !needsVerdict(route) || secretsOf(route).includes(secret))
    const second = own.findIndex((route, i) => {
      const before = own[i - 1]
      return before !== undefined && placeOfRoute(route) < placeOfRoute(before)
    })
    const [early, late] = [own[second - 1], own[second]]
    if (early === undefined || late === undefined) continue
    return [
      failed(
        check,
        `routes of the gateway in the virtual host ${textAt(host, 'name')} are in the wrong order: ${nameOf(early)} stands before ${nameOf(late)} and takes its calls`,
        'Put the routes of the gateway in the order of agw envoy-config.',
      ),
    ]
  }
  return []
}

/** Never prints a secret: only the names of the routes. */
function checkSecrets(
  check: string,
  host: Message,
  configured: readonly string[] | null,
): CheckResult[] {
  const passes = messages(host['routes']).filter(needsVerdict)
  const names = new Set(passes.map(nameOf))
  const without = (secret: string): readonly string[] => {
    const accepting = passes.filter((route) => secretsOf(route).includes(secret)).map(nameOf)
    return [...names].filter((name) => !accepting.includes(name))
  }
  const [newest] = configured ?? []
  if (newest !== undefined) {
    const refusing = without(newest)
    if (refusing.length === 0) return []
    const those = refusing.length === names.size ? 'the routes' : `the routes ${list(refusing)}`
    return [
      failed(
        check,
        `${those} of the virtual host ${textAt(host, 'name')} need another verdict secret than AGW_VERDICT_SECRET has here: calls that ext-proc allows with it are refused with 503`,
        'Give ext-proc, agw envoy-config and this command the same AGW_VERDICT_SECRET, and install the configuration again.',
      ),
    ]
  }
  const lacking = passes.flatMap(secretsOf).map(without)
  const [fewest] = lacking.toSorted((one, other) => one.length - other.length)
  if (fewest === undefined || fewest.length === 0) return []
  return [
    failed(
      check,
      `the routes ${list(fewest)} of the virtual host ${textAt(host, 'name')} need another verdict secret than the other routes: calls that need them are refused with 503`,
      'Install the routes of one run of agw envoy-config, with the AGW_VERDICT_SECRET of ext-proc.',
    ),
  ]
}

const secretsOf = (route: Message): readonly string[] =>
  messages(at(route, 'match', 'headers'))
    .filter(isVerdict)
    .map((header) => textAt(header, 'string_match', 'exact'))

/** The cluster has no endpoints. */
const isNoVerdict = (route: Message): boolean =>
  /^(?:agw_)?nowhere$/.test(textAt(route, 'route', 'cluster'))

/** Name and match, whatever the secret is and in whatever order the headers stand. */
function identityOf(route: Message): string {
  const headers = messages(at(route, 'match', 'headers')).map((header) =>
    sorted(isVerdict(header) ? { name: VERDICT_HEADER, string_match: { exact: '' } } : header),
  )
  const match = { ...(at(route, 'match') as Message | undefined), headers: headers.toSorted() }
  return `${textAt(route, 'name')} ${sorted(match)}`
}

/** JSON in which the order of members makes no difference. */
function sorted(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(sorted).join(',')}]`
  const members = Object.entries(value).map(([name, one]) => `${name}:${sorted(one)}`)
  return `{${members.toSorted().join(',')}}`
}

const namesOf = (routes: readonly Message[]): string => list([...new Set(routes.map(nameOf))])

function list(names: readonly string[]): string {
  const more = names.length - SHOWN_ROUTES_LIMIT
  const shown = names.slice(0, SHOWN_ROUTES_LIMIT).join(', ')
  return more > 0 ? `${shown} and ${more} more` : shown
}

/** Many routes have no name; what they match tells them apart. */
function nameOf(route: Message): string {
  const name = textAt(route, 'name')
  if (name !== '') return name
  const { headers: _, ...path } = (at(route, 'match') ?? {}) as Message
  const shown = JSON.stringify(path)
  return `${shown.slice(0, SHOWN_MATCH_LIMIT)} (without a name)`
}

/** Of a match that may hold a long pattern. */
const SHOWN_MATCH_LIMIT = 100
