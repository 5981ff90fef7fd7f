import { readSettings } from '../../../core/settings/settings.ts'
import { asParts } from '../../../envoy/as-parts.ts'
import { type BootFacts, baseUrlBootstrap, bootstrapOf } from '../../../envoy/render-bootstrap.ts'
import { at, type Message, messages, textAt } from './message.ts'

/** Where routes of the gateway stand: on its own listener, on those of its forward proxy, or in a virtual host of somebody else. */
export type RoutePlace = 'listener' | 'forward' | 'forward_inside' | 'virtual-host' | 'filter'

/** Nothing that the routes, which every deployment has, depend on. */
const FACTS: BootFacts = {
  envoy_admin_socket: '/nowhere/admin.sock',
  ext_proc_addresses: ['unix:/nowhere/ext-proc.sock'],
  access_log_address: null,
  admin_socket: null,
  verdict_secret: 'any',
  echo_origin: null,
  trusted_ca_file: '/nowhere/ca.pem',
  heap_limit_bytes: 1,
}

/** The routes that `agw envoy-config` prints for a place whatever the settings are, in their order. */
export function renderedRoutes(place: RoutePlace): readonly Message[] {
  const read = readSettings({}, 'elsewhere')
  if (!read.ok) throw new Error(read.problems.join('\n'))
  const routes = routesIn(place, read.settings)
  return messages(JSON.parse(JSON.stringify(routes)))
}

function routesIn(place: RoutePlace, settings: Parameters<typeof bootstrapOf>[0]): unknown {
  if (place === 'filter') return asParts(baseUrlBootstrap(settings, FACTS), { kind: place }).routes
  if (place === 'virtual-host') {
    const parts = asParts(baseUrlBootstrap(settings, FACTS), { kind: place, hostnames: ['*'] })
    return parts.virtual_host?.routes
  }
  const bootstrap = bootstrapOf(settings, FACTS)
  const name = place === 'listener' ? 'agents' : place
  const listener = messages(at(bootstrap, 'static_resources', 'listeners')).find(
    (one) => textAt(one, 'name') === name,
  )
  const manager = at(listener, 'filter_chains', 0, 'filters', 0, 'typed_config')
  return at(manager, 'route_config', 'virtual_hosts', 0, 'routes')
}
