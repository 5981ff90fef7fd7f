import { OTHER_ROUTE_POLICY } from '../core/catalogue/other-route-details.ts'
import type { ConfigPart } from './config-part.ts'

const TYPE = 'type.googleapis.com/envoy.extensions.filters.http.rbac.v3'

/** Name of the filter. */
export const OWN_ROUTES = 'agw.own_routes'

const rules = {
  action: 'DENY',
  policies: {
    [OTHER_ROUTE_POLICY]: {
      permissions: [{ header: { name: 'x-agw-pass', present_match: true } }],
      principals: [{ any: true }],
    },
  },
}

/**
 * Refuses a call that a processor has allowed if its new path matches a route of somebody else, who would receive the credential
 * and the verdict secret. It stands behind the processor, so that Envoy asks the route that was chosen after it.
 */
const filter = {
  name: OWN_ROUTES,
  typed_config: { '@type': `${TYPE}.RBAC`, rules },
} as const

/** For the routes of the gateway that forward. */
const IS_OWN_ROUTE: ConfigPart = { '@type': `${TYPE}.RBACPerRoute` }

/** For a virtual host: the filter is on, and refuses on the routes that do not have `IS_OWN_ROUTE`. */
export const NO_OWN_ROUTE: ConfigPart = { '@type': `${TYPE}.RBACPerRoute`, rbac: { rules } }

const PROCESSOR = 'envoy.filters.http.ext_proc'

/** The listener with the filter behind the processor. */
export function withOwnRoutes(listener: ConfigPart): ConfigPart {
  return mapped(listener) as ConfigPart
}

function mapped(value: unknown, member = ''): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    if (member === 'http_filters')
      return value.flatMap((one: ConfigPart) => (one['name'] === PROCESSOR ? [one, filter] : [one]))
    return value.map((one) => (member === 'routes' ? asOwnRoute(one) : mapped(one)))
  }
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, mapped(one, name)]))
}

/** The routes that forward, and the one behind them, which forwards nothing. */
const OURS = /^(?:pass-|no-verdict$)/

const asOwnRoute = (route: ConfigPart): ConfigPart =>
  OURS.test(String(route['name']))
    ? {
        ...route,
        typed_per_filter_config: {
          ...(route['typed_per_filter_config'] as object | undefined),
          [OWN_ROUTES]: IS_OWN_ROUTE,
        },
      }
    : route
