import { type CheckResult, failed, warning } from '../check-result.ts'
import { at, type Message, messages, textAt } from './message.ts'
import {
  type EnvoyDump,
  type Gateway,
  type GatewayRoute,
  VERDICT_HEADER,
} from './read-envoy-dump.ts'

/** Routes of the listener to the admin service, in their order; not every deployment has them. */
export const TO_ADMIN_SERVICE: readonly string[] = ['agents-door', 'admin']

/** A shorter one can be guessed. */
const SECRET_MIN_LENGTH = 16

/** The routes that the filter is on for. */
export function checkRoutes(gateway: Gateway, dump: EnvoyDump): CheckResult[] {
  const { routes, listener } = gateway
  const check = `envoy ${listener}: routes`
  const passes = routes.filter(({ needs_verdict }) => needs_verdict)
  const found = gateway.trees.map((host) => unreadTree(check, host))
  if (passes.length === 0 && found.length > 0) return found
  if (passes.length === 0)
    return [
      failed(
        check,
        `no route needs a verdict (the header ${VERDICT_HEADER} with its secret)`,
        'Use the routes that agw envoy-config prints.',
      ),
    ]
  const others = routes.filter(
    ({ needs_verdict, name }) =>
      !needs_verdict && !TO_ADMIN_SERVICE.includes(name) && name !== 'agw-admin',
  )
  const open = others.filter(({ route }) => forwards(route, dump))
  for (const { name } of open)
    found.push(
      failed(
        check,
        `the route ${name || '(without a name)'} forwards calls that have no verdict, for example when a processor ends early`,
        `Let it match the header ${VERDICT_HEADER}, or switch the filter of the gateway off there.`,
      ),
    )
  return [...found, ...passes.flatMap((pass) => checkPass(check, pass, dump))]
}

/** A failure and not a warning: no credential may be attached to calls of routes that were not checked. */
const unreadTree = (check: string, host: Message): CheckResult =>
  failed(
    check,
    `the virtual host ${textAt(host, 'name')} has a match tree (matcher) in place of routes, which this command cannot check: it may forward calls without a verdict, or take allowed calls with their credential`,
    'List the routes of the gateway in routes of a virtual host, or switch the filter of the gateway off in this one.',
  )

function checkPass(
  check: string,
  { name, route, host, is_tunnel }: GatewayRoute,
  dump: EnvoyDump,
): CheckResult[] {
  const found: CheckResult[] = []
  const cluster = dump.clusters.get(textAt(route, 'route', 'cluster'))
  if (!is_tunnel && textAt(route, 'route', 'host_rewrite_header').toLowerCase() !== 'x-agw-host')
    found.push(
      failed(
        check,
        `the route ${name} sends calls, with their credential, to the host that the caller names`,
        'Set host_rewrite_header: x-agw-host.',
      ),
    )
  if (cluster === undefined && !takesOwnClusters(route))
    found.push(failed(check, `the route ${name} names a cluster that does not exist`, 'Add it.'))
  const isRetry = messages(at(route, 'match', 'headers')).some(
    (header) => textAt(header, 'string_match', 'exact') !== '' && header['name'] === 'x-agw-retry',
  )
  const policy = at(route, 'route', 'retry_policy') ?? host['retry_policy']
  const retries = policy === undefined ? 0 : Number(at(policy, 'num_retries') ?? 1)
  if (!isRetry && retries > 0 && textAt(policy, 'retry_on') !== '')
    found.push(
      warning(
        check,
        `the route ${name} repeats calls that may have been carried out`,
        'Set retry_policy: { num_retries: 0 } on it.',
      ),
    )
  const secrets = messages(at(route, 'match', 'headers'))
    .filter((header) => header['name'] === VERDICT_HEADER)
    .map((header) => textAt(header, 'string_match', 'exact'))
  if (secrets.some((secret) => secret.length < SECRET_MIN_LENGTH))
    found.push(
      warning(
        check,
        `the verdict secret of the route ${name} has fewer than ${SECRET_MIN_LENGTH} characters`,
        'Set AGW_VERDICT_SECRET to the output of openssl rand -hex 32, here and for ext-proc.',
      ),
    )
  return found
}

/** For integrations with connection settings of their own, whose clusters ext-proc names. */
const takesOwnClusters = (route: Message): boolean =>
  textAt(route, 'route', 'cluster_header').toLowerCase() === 'x-agw-cluster' &&
  messages(at(route, 'match', 'headers')).some(
    (header) =>
      header['name'] === 'x-agw-cluster' && textAt(header, 'string_match', 'prefix') === 'own.',
  )

/** A cluster without endpoints forwards nothing. */
function forwards(route: Message, { clusters }: EnvoyDump): boolean {
  const action = at(route, 'route')
  if (action === undefined) return false
  const name = textAt(action, 'cluster')
  const cluster = clusters.get(name)
  if (name !== '' && cluster === undefined) return false
  const isStatic = textAt(cluster, 'type') === 'STATIC' || textAt(cluster, 'type') === ''
  const hasEndpoints =
    at(cluster, 'cluster_type') !== undefined ||
    messages(at(cluster, 'load_assignment', 'endpoints')).length > 0
  return !isStatic || hasEndpoints
}
