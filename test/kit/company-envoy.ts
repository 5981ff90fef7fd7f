import { parse, stringify } from 'yaml'
import { asListener } from '../../envoy/as-listener.ts'
import { asParts } from '../../envoy/as-parts.ts'
import { mergeConfig } from '../../envoy/merge-config.ts'

/** Envoy's messages as they are parsed. */
type Json = any

export interface CompanyPorts {
  /** Of the company's own listener. */
  readonly company: number
  /** Of the API behind its route `/private`. */
  readonly api: number
}

/** How the gateway is added to the company's Envoy; `before` is without it. */
export type Adoption = 'before' | 'listener' | 'virtual-host' | 'filter'

export const GATEWAY_HOST = 'gateway.company.test'
export const COMPANY_TOKEN = 'of-the-company'

/** What decides about a company's own calls: 401 without its token, below `/private`. */
const AUTH = {
  name: 'company.auth',
  typed_config: {
    '@type': 'type.googleapis.com/envoy.extensions.filters.http.rbac.v3.RBAC',
    rules: {
      action: 'DENY',
      policies: {
        'no token': {
          principals: [{ any: true }],
          permissions: [
            {
              and_rules: {
                rules: [
                  { url_path: { path: { prefix: '/private' } } },
                  {
                    not_rule: {
                      header: { name: 'x-company-token', string_match: { exact: COMPANY_TOKEN } },
                    },
                  },
                ],
              },
            },
          ],
        },
      },
    },
  },
}

/** An Envoy with two routes, an auth filter, its own request ids and its own paths (normalized, slashes merged). */
const company = ({ company: port, api }: CompanyPorts, admin: Json): Json => ({
  admin,
  static_resources: {
    listeners: [
      {
        name: 'company',
        address: { socket_address: { address: '127.0.0.1', port_value: port } },
        filter_chains: [
          {
            filters: [
              {
                name: 'envoy.filters.network.http_connection_manager',
                typed_config: {
                  '@type':
                    'type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager',
                  stat_prefix: 'company',
                  normalize_path: true,
                  merge_slashes: true,
                  preserve_external_request_id: true,
                  upgrade_configs: [{ upgrade_type: 'websocket' }],
                  route_config: {
                    virtual_hosts: [
                      {
                        name: 'company',
                        domains: ['*'],
                        routes: [
                          {
                            match: { path: '/public' },
                            direct_response: { status: 200, body: { inline_string: 'public\n' } },
                          },
                          { match: { prefix: '/private' }, route: { cluster: 'company_api' } },
                        ],
                      },
                    ],
                  },
                  http_filters: [
                    AUTH,
                    {
                      name: 'envoy.filters.http.router',
                      typed_config: {
                        '@type':
                          'type.googleapis.com/envoy.extensions.filters.http.router.v3.Router',
                      },
                    },
                  ],
                },
              },
            ],
          },
        ],
      },
    ],
    clusters: [
      {
        name: 'company_api',
        type: 'STATIC',
        load_assignment: {
          cluster_name: 'company_api',
          endpoints: [
            {
              lb_endpoints: [
                {
                  endpoint: {
                    address: { socket_address: { address: '127.0.0.1', port_value: api } },
                  },
                },
              ],
            },
          ],
        },
      },
    ],
  },
})

/**
 * The company's Envoy with the gateway added, from the product's standalone configuration. `change` is done to the result, for
 * configurations that are broken on purpose.
 */
export const companyEnvoy =
  (adoption: Adoption, ports: CompanyPorts, change: (config: Json) => void = () => {}) =>
  (yaml: string): string => {
    const whole = parse(yaml, { maxAliasCount: -1 })
    const own = stringify(company(ports, whole.admin))
    const merged = adoption === 'before' ? own : merge(own, whole, adoption)
    const plain = parse(merged, { maxAliasCount: -1 })
    change(plain)
    return stringify(plain, { aliasDuplicateObjects: false })
  }

const HERE = { listener: null, virtual_host: null }

function merge(own: string, whole: Json, adoption: Exclude<Adoption, 'before'>): string {
  if (adoption === 'listener') return mergeConfig(own, asListener(whole), HERE, 'yaml')
  const kind =
    adoption === 'filter' ? { kind: adoption } : { kind: adoption, hostnames: [GATEWAY_HOST] }
  return mergeConfig(own, asParts(whole, kind), HERE, 'yaml')
}

/** The connection manager of the company's listener. */
export const managerOf = (config: Json): Json =>
  config.static_resources.listeners[0].filter_chains[0].filters[0].typed_config
