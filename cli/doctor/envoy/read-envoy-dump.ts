import { at, type Message, messages, textAt, typeOf, within } from './message.ts'

/** Where a processor of this gateway is asked: one connection manager, and the routes that its filter is on for. */
export interface Gateway {
  /** Name of the listener. */
  readonly listener: string
  readonly manager: Message
  readonly filters: readonly Message[]
  /** The place of our filter among them. */
  readonly index: number
  /** Its configuration, without a matcher around it. */
  readonly config: Message
  readonly routes: readonly GatewayRoute[]
  /** All virtual hosts, with the routes that the filter is off for. */
  readonly hosts: readonly Message[]
  /** Those with a match tree in place of routes in which the filter may be on. */
  readonly trees: readonly Message[]
}

export interface GatewayRoute {
  readonly name: string
  readonly route: Message
  readonly host: Message
  /** It forwards only what has a verdict. */
  readonly needs_verdict: boolean
  /** It takes CONNECT, and forwards bytes that nothing is added to. */
  readonly is_tunnel: boolean
}

export interface EnvoyDump {
  readonly bootstrap: Message
  readonly clusters: ReadonlyMap<string, Message>
  readonly gateways: readonly Gateway[]
  /** Dynamic resources that Envoy has refused, with its message. */
  readonly refused: readonly string[]
}

/** Reads what concerns the gateway in Envoy's `/config_dump`. */
export function readEnvoyDump(dump: unknown): EnvoyDump {
  const configs = messages(at(dump, 'configs'))
  const of = (type: string): Message => configs.find((one) => typeOf(one) === type) ?? {}
  const clusters = of('ClustersConfigDump')
  const listeners = of('ListenersConfigDump')
  const routes = of('RoutesConfigDump')
  const dynamic = messages(listeners['dynamic_listeners'])
  const found = [
    ...messages(listeners['static_listeners']).map((one) => at(one, 'listener')),
    ...dynamic.map((one) => at(one, 'active_state', 'listener')),
  ]
  const routeConfigs = new Map(
    [...messages(routes['static_route_configs']), ...messages(routes['dynamic_route_configs'])].map(
      (one) => [textAt(one, 'route_config', 'name'), at(one, 'route_config')],
    ),
  )
  return {
    bootstrap: (at(of('BootstrapConfigDump'), 'bootstrap') ?? {}) as Message,
    clusters: new Map(
      [
        ...messages(clusters['static_clusters']),
        ...messages(clusters['dynamic_active_clusters']),
      ].map((one) => [textAt(one, 'cluster', 'name'), (at(one, 'cluster') ?? {}) as Message]),
    ),
    gateways: found.flatMap((listener) => gatewaysOf(listener, routeConfigs)),
    refused: [
      ...dynamic,
      ...messages(clusters['dynamic_active_clusters']),
      ...messages(clusters['dynamic_warming_clusters']),
      ...messages(routes['dynamic_route_configs']),
    ].flatMap((one) => textAt(one, 'error_state', 'details') || []),
  }
}

function gatewaysOf(
  listener: unknown,
  routeConfigs: ReadonlyMap<string, unknown>,
): readonly Gateway[] {
  const chains = [...messages(at(listener, 'filter_chains')), at(listener, 'default_filter_chain')]
  const managers = chains
    .flatMap((chain) => messages(at(chain, 'filters')).map((one) => at(one, 'typed_config')))
    .filter((one): one is Message => typeOf(one) === 'HttpConnectionManager')
  return managers.flatMap((manager) => {
    const routeConfig =
      manager['route_config'] ?? routeConfigs.get(textAt(manager, 'rds', 'route_config_name'))
    const filters = messages(manager['http_filters'])
    return filters.flatMap((filter, index) => {
      const config = processorOf(filter)
      if (config === null) return []
      const routes = routesOf(routeConfig, filter)
      const isOurs =
        routes.some(({ needs_verdict }) => needs_verdict) ||
        JSON.stringify(config['metadata_options'] ?? '').includes('"agw"') ||
        textAt(config, 'grpc_service', 'envoy_grpc', 'authority').startsWith('agw')
      const name = textAt(listener, 'name')
      const hosts = messages(at(routeConfig, 'virtual_hosts'))
      const trees = hosts.filter((host) => isTree(filter, host, routeConfig))
      return isOurs
        ? [{ listener: name, manager, filters, index, config, routes, hosts, trees }]
        : []
    })
  })
}

/** Of an ext_proc filter, with or without a matcher around it. */
function processorOf(filter: Message): Message | null {
  for (const one of within(filter['typed_config']))
    if (typeOf(one) === 'ExternalProcessor') return one
  return null
}

function routesOf(routeConfig: unknown, filter: Message): readonly GatewayRoute[] {
  return messages(at(routeConfig, 'virtual_hosts')).flatMap((host) =>
    messages(host['routes']).flatMap((route) =>
      isOn(filter, [route, host, routeConfig])
        ? [
            {
              name: textAt(route, 'name'),
              route,
              host,
              needs_verdict: needsVerdict(route),
              is_tunnel: at(route, 'match', 'connect_matcher') !== undefined,
            },
          ]
        : [],
    ),
  )
}

/** The tree itself is not followed: which of its routes takes a call depends on any input of Envoy's. */
function isTree(filter: Message, host: Message, routeConfig: unknown): boolean {
  const { matcher } = host
  if (matcher === undefined) return false
  if (isOn(filter, [host, routeConfig])) return true
  return [...within(matcher)].some(
    (one) => needsVerdict(one) || isOn(filter, [one, host, routeConfig]),
  )
}

/** What the innermost level that names a filter says of it. */
export const perRouteConfig = (filter: Message, levels: readonly unknown[]): unknown =>
  levels
    .map((level) => at(level, 'typed_per_filter_config', textAt(filter, 'name')))
    .find((own) => own !== undefined)

/** Whether a filter acts on calls of a route. */
export const isOn = (filter: Message, levels: readonly unknown[]): boolean =>
  at(perRouteConfig(filter, levels) ?? filter, 'disabled') !== true

export const VERDICT_HEADER = 'x-agw-pass'

/** Whether a header of a match asks for the verdict secret. */
export const isVerdict = (header: Message): boolean =>
  textAt(header, 'name').toLowerCase() === VERDICT_HEADER &&
  textAt(header, 'string_match', 'exact') !== ''

/** Whether a route forwards only what has a verdict. */
export const needsVerdict = (route: Message): boolean =>
  messages(at(route, 'match', 'headers')).some(isVerdict)
