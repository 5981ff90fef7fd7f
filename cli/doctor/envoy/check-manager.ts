import { OWN_ROUTES } from '../../../envoy/only-own-routes.ts'
import { type CheckResult, failed, warning } from '../check-result.ts'
import { at, type Message, messages, textAt, typeOf, within } from './message.ts'
import { type Gateway, isOn } from './read-envoy-dump.ts'

/** Filters that may stand between ours and the router: they change neither route nor headers. */
const HARMLESS_BEHIND = new Set([
  'Config',
  'FilterConfig',
  'Router',
  'RBAC',
  'HTTPFault',
  'OnDemand',
  'PluginConfig',
  'Stats',
])

const oneOf = (...kinds: readonly string[]): ((kind: string) => boolean) => {
  const set = new Set(kinds)
  return (kind) => set.has(kind)
}

/** Other filters of the connection manager that are reported, each by the first row that applies to it. */
const ORDER: readonly {
  /** Where the filter stands, seen from that of the gateway. */
  readonly stands: 'in front' | 'behind'
  readonly concerns: (kind: string, name: string) => boolean
  readonly report: typeof warning
  /** Follows the name of the filter. */
  readonly says: string
  readonly advice: string
}[] = [
  {
    stands: 'behind',
    // These change headers, attach credentials or clear the route cache.
    concerns: oneOf(
      'Lua',
      'LuaPerRoute',
      'ExtAuthz',
      'JwtAuthentication',
      'ExternalProcessor',
      'HeaderMutation',
      'Wasm',
      'CredentialInjector',
      'OAuth2',
      'BasicAuth',
      'Rewrite',
      'GrpcJsonTranscoder',
      'Transform',
      'SetMetadata',
    ),
    report: failed,
    says: 'stands behind the filter of the gateway: it sees the credential, and if it clears the route cache every allowed call is refused',
    advice:
      'Move it in front of the filter of the gateway, or switch it off on the routes of the gateway.',
  },
  {
    stands: 'behind',
    concerns: (kind, name) => kind === 'RBAC' && name !== OWN_ROUTES,
    report: warning,
    says: 'stands behind the filter of the gateway and may refuse allowed calls',
    advice: 'Switch it off on the routes of the gateway.',
  },
  {
    stands: 'behind',
    concerns: (kind) => !HARMLESS_BEHIND.has(kind),
    report: warning,
    says: 'stands behind the filter of the gateway and sees the credential',
    advice: 'Move it in front of the filter of the gateway.',
  },
  {
    stands: 'in front',
    // These read the caller's `Authorization`, in which agents send the key of the gateway.
    concerns: oneOf('ExtAuthz', 'JwtAuthentication', 'OAuth2', 'BasicAuth', 'ApiKeyAuth'),
    report: warning,
    says: 'also checks the calls of agents, and refuses those without what it expects; their Authorization is a key of the gateway',
    advice: 'Switch it off on the routes of the gateway.',
  },
  {
    stands: 'in front',
    // These may refuse a call, by a configuration that says when.
    concerns: oneOf(
      'RBAC',
      'Lua',
      'LuaPerRoute',
      'ExternalProcessor',
      'Wasm',
      'LocalRateLimit',
      'RateLimit',
      'CsrfPolicy',
    ),
    report: warning,
    says: 'also sees the calls of agents and may refuse them',
    advice: 'Switch it off on the routes of the gateway, unless it is meant for them too.',
  },
]

/** Filters of `agw envoy-config` that act on what the processor has decided. */
const OURS_BEHIND = new Set([OWN_ROUTES, 'agw.base_url', 'agw.dynamic_forward_proxy'])
/** Their names in a listener of our own. On a listener of somebody else, a filter of this name is theirs. */
const FORWARD_PROXY = 'envoy.filters.http.dynamic_forward_proxy'

/** Filters of the gateway in front of its processor, where they have nothing to act on yet. */
function checkOwnOrder({ filters, index, listener }: Gateway): CheckResult[] {
  const isOwnListener = textAt(filters[index], 'name') === 'envoy.filters.http.ext_proc'
  const early = filters.slice(0, index).flatMap((filter) => {
    const name = textAt(filter, 'name')
    const isOurs =
      OURS_BEHIND.has(name) ||
      (isOwnListener &&
        (name === FORWARD_PROXY || JSON.stringify(filter).includes('"agw.base_url"')))
    return isOurs ? [name] : []
  })
  if (early.length === 0) return []
  return [
    failed(
      `envoy ${listener}: filters`,
      `${textAt(filters[index], 'name')} stands behind ${early.join(', ')} of the gateway, which then act before a call is decided`,
      'Put the filters of the gateway directly before the router, in the order of agw envoy-config.',
    ),
  ]
}

/** The other filters of the connection manager. */
export function checkFilterOrder(gateway: Gateway): CheckResult[] {
  const { filters, index, listener } = gateway
  const check = `envoy ${listener}: filters`
  const isOnHere = (filter: Message): boolean =>
    gateway.routes.length === 0
      ? filter['disabled'] !== true
      : gateway.routes.some(({ route, host }) => isOn(filter, [route, host]))
  const found = checkOwnOrder(gateway)
  for (const [i, filter] of filters.entries()) {
    if (i === index || !isOnHere(filter)) continue
    const name = textAt(filter, 'name')
    const kind = kindOf(filter)
    const stands = i < index ? 'in front' : 'behind'
    const row = ORDER.find((one) => one.stands === stands && one.concerns(kind, name))
    if (row !== undefined) found.push(row.report(check, `${name} ${row.says}`, row.advice))
  }
  return found
}

function kindOf(filter: Message): string {
  const kind = typeOf(filter['typed_config'])
  return kind === 'ExtensionWithMatcher'
    ? typeOf(at(filter, 'typed_config', 'extension_config', 'typed_config'))
    : kind
}

/** Headers with which a call is marked as allowed, and where it goes. */
const ONLY_OURS = ['x-agw-pass', 'x-agw-up', 'x-agw-host', 'x-agw-retry']

/** Options of the connection manager. */
export function checkManager(gateway: Gateway): CheckResult[] {
  const { listener, manager } = gateway
  const check = `envoy ${listener}: connection manager`
  const found: CheckResult[] = []
  const warn = (says: string, advice: string): void => void found.push(warning(check, says, advice))
  const removed = removedFromCallers(gateway)
  const kept = ONLY_OURS.filter((name) => !removed.has(name))
  if (kept.length > 0)
    found.push(
      failed(
        check,
        `callers can send ${kept.join(', ')}, which only the gateway may set`,
        'Remove them with early_header_mutation_extensions, or with a header_mutation filter in front of that of the gateway.',
      ),
    )
  const change = (option: string): string =>
    isShared(gateway)
      ? 'With --mode filter or virtual-host this cannot be changed for the gateway alone. If it matters, use --mode listener.'
      : `Set ${option}.`
  if (manager['normalize_path'] === true)
    warn(
      'normalize_path resolves dots before the decision; targets with dots are decided as they are then',
      change('normalize_path: false'),
    )
  if (manager['merge_slashes'] === true)
    warn(
      'merge_slashes changes paths of targets with empty segments',
      change('merge_slashes: false'),
    )
  if (/UNESCAPE|REJECT/.test(textAt(manager, 'path_with_escaped_slashes_action')))
    warn(
      'encoded slashes are changed or refused before the decision',
      change('path_with_escaped_slashes_action: KEEP_UNCHANGED'),
    )
  if (rewritesRefusals(manager))
    warn(
      'local_reply_config replaces the error bodies of the gateway, or their status, which clients of agents read',
      `Put first a mapper with the filter response.code_details.startsWith('agw_') and body_format_override "${UNCHANGED_BODY}".`,
    )
  const sets = setByUs(gateway)
  if (manager['preserve_external_request_id'] === true && !sets.has('x-request-id'))
    warn(
      'callers choose the request id that the activity log shows',
      'Set preserve_external_request_id: false.',
    )
  if (manager['use_remote_address'] !== true && !sets.has('x-envoy-external-address'))
    warn(
      'the address of a caller is what the caller says',
      'Set use_remote_address: true, and xff_num_trusted_hops for proxies in front.',
    )
  const tracing = at(manager, 'tracing')
  if (tracing !== undefined && at(tracing, 'max_path_tag_length') !== 0)
    warn(
      'spans of tracing have the URL that was sent to the API, with a credential if there is one in its query',
      'Set tracing.max_path_tag_length: 0.',
    )
  return [...found, ...checkUpgrades(gateway, check)]
}

/** The listener also serves routes that the filter is off for. */
const isShared = ({ filters, index, hosts, routes }: Gateway): boolean =>
  filters[index]?.['disabled'] === true &&
  hosts.flatMap((host) => messages(host['routes'])).length > routes.length

/** The format of a body that stays as it is. */
const UNCHANGED_BODY = '%LOCAL_REPLY_BODY%'

/** The first mapper that matches decides; without a format of its own, `body_format` is applied. */
function rewritesRefusals(manager: Message): boolean {
  const config = at(manager, 'local_reply_config')
  for (const mapper of messages(at(config, 'mappers'))) {
    const format = mapper['body_format_override'] ?? at(config, 'body_format')
    const text =
      textAt(format, 'text_format_source', 'inline_string') || textAt(format, 'text_format')
    const keeps =
      (format === undefined || text === UNCHANGED_BODY) && mapper['status_code'] === undefined
    // Whether the filter of another mapper matches a refusal is not known.
    if (!keeps) return true
    if (JSON.stringify(mapper['filter'] ?? '').includes("startsWith('agw_')")) return false
  }
  return at(config, 'body_format') !== undefined
}

function checkUpgrades({ manager, routes }: Gateway, check: string): CheckResult[] {
  const takesTunnels = routes.some(({ is_tunnel, needs_verdict }) => is_tunnel && needs_verdict)
  const allowed = messages(manager['upgrade_configs']).filter(
    ({ enabled, upgrade_type }) =>
      enabled !== false &&
      String(upgrade_type).toLowerCase() !== 'websocket' &&
      !(takesTunnels && String(upgrade_type).toUpperCase() === 'CONNECT'),
  )
  const open = allowed.filter(({ upgrade_type }) =>
    routes.some(
      ({ route }) =>
        !messages(at(route, 'route', 'upgrade_configs')).some(
          (own) =>
            String(own['upgrade_type']).toLowerCase() === String(upgrade_type).toLowerCase() &&
            own['enabled'] === false,
        ),
    ),
  )
  return open.map(({ upgrade_type }) =>
    warning(
      check,
      `upgrades to ${String(upgrade_type)} are allowed; processors refuse them, but one with a body waits for a timeout`,
      `Set upgrade_configs: [{ upgrade_type: ${String(upgrade_type)}, enabled: false }] on the routes of the gateway.`,
    ),
  )
}

/** Header mutations that are made before our filter. */
function* mutations({ manager, filters, index, routes }: Gateway): Generator<Message> {
  for (const one of within(manager['early_header_mutation_extensions'])) yield one
  for (const filter of filters.slice(0, index)) {
    if (kindOf(filter) !== 'HeaderMutation') continue
    const name = textAt(filter, 'name')
    const perRoute = routes.map(
      ({ route, host }) =>
        at(route, 'typed_per_filter_config', name) ?? at(host, 'typed_per_filter_config', name),
    )
    // What is not done on every route can be avoided.
    if (perRoute.length > 0 && perRoute.every((one) => one !== undefined))
      yield* within(perRoute[0])
    else if (filter['disabled'] !== true) yield* within(filter['typed_config'])
  }
}

function removedFromCallers(gateway: Gateway): ReadonlySet<string> {
  return new Set(
    [...mutations(gateway)].flatMap((one) => textAt(one, 'remove').toLowerCase() || []),
  )
}

function setByUs(gateway: Gateway): ReadonlySet<string> {
  return new Set(
    [...mutations(gateway)].flatMap((one) => textAt(one, 'append', 'header', 'key') || []),
  )
}
