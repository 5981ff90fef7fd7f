import { connect } from 'node:tls'
import { version } from '../../core/system/version.ts'
import { counted } from '../terminal/counted.ts'
import { ask } from './ask.ts'
import { certificateResult } from './check-machine.ts'
import { checkForwardCa } from './check-forward-ca.ts'
import { failed, type CheckResult, ok, warning } from './check-result.ts'

/** A complete kill takes milliseconds; the API waits at most one second for the edges. */
const KILL_NOTICE_MS = 1_000
const CONNECT_LIMIT_MS = 5_000
/** Pages of the list of webhooks that are read; the limit of an organization fits in them. */
const WEBHOOKS = '/webhooks?limit=200'

interface Edge {
  readonly edge_id: string
  readonly region: string
  /** Absent from services before 0.3. */
  readonly role?: 'active' | 'standby'
  readonly version?: string | null
  readonly in_flight: number
  readonly draining: boolean
  readonly beat_age_ms: number
  readonly forward_ca?: string | null
}

/** The state of a running deployment, as far as the role of the token allows. */
export async function checkGateway(url: string, token: string | null): Promise<CheckResult[]> {
  const health = await ask(url, '/healthz', null)
  const me = await ask(url, '/admin/whoami', token)
  const isDirect = health.status === 200
  // The proxy listener forwards /admin and no other path of the admin service.
  if (!isDirect && me.status !== 200 && me.status !== 401) {
    const says = health.problem ? `unreachable: ${health.problem}` : `answers ${health.status}`
    return [failed('admin', `${url} ${says}`, 'Correct --url, or start the admin service.')]
  }
  const findings = isDirect
    ? [ok('admin', `${url} answers`), ...(await checkReadiness(url))]
    : [ok('admin', `reachable through the proxy at ${url}, which does not report readiness`)]
  findings.push(...(await checkCertificate(url)))
  findings.push(tokenResult(me.status, me.body, token))
  if (token === null || (me.status !== 200 && me.status !== 404)) return findings
  const edges = await ask(url, '/admin/edges', token)
  const live = (edges.body as { readonly data?: readonly Edge[] } | null)?.data ?? []
  findings.push(...(await checkEdges(url, live)))
  findings.push(versionsResult(me.body, live))
  findings.push(...checkForwardCa(await ask(url, '/admin/ca', token), live, new Date()))
  findings.push(await lastKillResult(url, token))
  findings.push(await webhooksResult(url, token))
  return findings
}

function tokenResult(status: number, body: unknown, token: string | null): CheckResult {
  const check = 'token'
  if (token === null)
    return warning(
      check,
      'no token given; checks that require one are skipped',
      'Use --token, or set AGW_TOKEN.',
    )
  if (status === 401) return failed(check, 'is not accepted', 'Use a token of this deployment.')
  if (status === 404)
    return warning(
      check,
      'accepted by a gateway that does not report its role',
      'Upgrade the gateway to this version.',
    )
  if (status !== 200)
    return failed(check, `unexpected answer: HTTP ${status}`, 'Check the log of the admin service.')
  const { email, role, organization_id } = body as Readonly<Record<string, string>>
  return ok(check, `${email}, role ${role}, ${organization_id}`)
}

async function checkReadiness(url: string): Promise<CheckResult[]> {
  const { body } = await ask(url, '/readyz', null)
  const parts = (body as { readonly parts?: Readonly<Record<string, string>> } | null)?.parts
  if (parts === undefined)
    return [failed('ready', `${url}/readyz is unreachable`, 'Check the log of the admin service.')]
  const isStoreAway = parts['redis'] !== undefined && parts['redis'] !== 'ok'
  return Object.entries(parts).map(([part, says]) =>
    says === 'ok'
      ? ok(`ready: ${part}`, 'ok')
      : failed(
          `ready: ${part}`,
          says,
          isStoreAway && part !== 'redis'
            ? 'This follows from the store, which is unavailable.'
            : (READY_ADVICE[part] ?? 'Check its log.'),
        ),
  )
}

const READY_ADVICE: Readonly<Record<string, string>> = {
  redis: 'Start the store. Until then every call is refused.',
  edges: 'Start an ext-proc process, or check in its log why it receives no beacon.',
  store: 'Restore a backup: docs/guides/backup.md.',
  encryption_key: 'See the log of the admin service.',
  proxy:
    'Check that Envoy is running and can connect to its ext-proc. If agents call a listener of your own, set AGW_PROXY_PROBE_URL for the admin service, and switch off your filters on the routes of the gateway.',
}

async function checkEdges(url: string, edges: readonly Edge[]): Promise<CheckResult[]> {
  if (edges.length === 0)
    return [
      failed(
        'edge',
        'none is running',
        'Start an ext-proc process. Until then every call is refused.',
      ),
    ]
  const metrics = await ask(url, '/metrics', null)
  return edges.map(({ edge_id, region, role, in_flight, draining, beat_age_ms }) => {
    const check = `edge ${edge_id}`
    const lease = leaseOf(metrics.text, edge_id)
    const says = [
      region,
      role === 'standby' ? 'stands by' : '',
      lease === null ? '' : lease ? 'holds its lease' : 'does not hold its lease',
      `${counted(in_flight, 'call')} in flight`,
      `last heartbeat ${beat_age_ms} ms ago`,
    ]
    const told = says.filter(Boolean).join(', ')
    if (lease === false)
      return failed(check, told, 'It refuses all calls. Check its connection to the store.')
    return draining
      ? warning(
          check,
          `${told}, draining`,
          'It stops after its last call. Make sure that another edge is serving.',
        )
      : ok(check, told)
  })
}

/** Null if the metrics do not contain it. */
function leaseOf(metrics: string, edge_id: string): boolean | null {
  const head = `agw_lease_held{edge="${edge_id}"} `
  const line = metrics.split('\n').find((one) => one.startsWith(head))
  return line === undefined ? null : line.slice(head.length).trim() === '1'
}

function versionsResult(me: unknown, edges: readonly Edge[]): CheckResult {
  const { gateway_version = 'unknown' } = (me ?? {}) as { readonly gateway_version?: string }
  const all = new Map([
    ['this command', version],
    ['admin', gateway_version],
    ...edges.map(({ edge_id, version: its }) => [`edge ${edge_id}`, its ?? 'unknown'] as const),
  ])
  const says = [...all].map(([who, its]) => `${who} ${its}`).join(', ')
  return new Set(all.values()).size === 1
    ? ok('versions', `all ${version}`)
    : warning('versions', says, 'Upgrade all to one version: edges first, then admin.')
}

async function lastKillResult(url: string, token: string | null): Promise<CheckResult> {
  const { body } = await ask(url, '/admin/activity?event=agent_killed&limit=1', token)
  const [last] = (body as { data?: readonly Killed[] } | null)?.data ?? []
  if (last === undefined) return ok('last kill', 'none logged')
  const { propagation_ms } = last.data
  const says = `${last.timestamp}, ${propagation_ms == null ? 'not acknowledged by every edge' : `in force everywhere after ${propagation_ms} ms`}`
  return propagation_ms == null || propagation_ms > KILL_NOTICE_MS
    ? warning(
        'last kill',
        says,
        'Check the edges listed in its receipt and their connection to the store.',
      )
    : ok('last kill', says)
}

interface Killed {
  readonly timestamp: string
  readonly data: { readonly propagation_ms?: number | null }
}

async function webhooksResult(url: string, token: string | null): Promise<CheckResult> {
  const { status, body } = await ask(url, WEBHOOKS, token)
  const check = 'webhooks'
  if (status !== 200)
    return warning(
      check,
      `HTTP ${status}`,
      'Use the --url of the admin service itself; only that one serves /webhooks.',
    )
  const { data } = body as {
    readonly data: readonly { readonly name: string; readonly status: string }[]
  }
  const failing = data.filter((webhook) => webhook.status === 'failing').map(({ name }) => name)
  return failing.length > 0
    ? warning(
        check,
        `${failing.length} of ${data.length} fail: ${failing.join(', ')}`,
        'See GET /webhooks/{webhook_id}/deliveries for the cause.',
      )
    : ok(check, `${data.length}, none failing`)
}

/** For an admin service behind TLS. */
async function checkCertificate(url: string): Promise<CheckResult[]> {
  const { protocol, hostname, port } = new URL(url)
  if (protocol !== 'https:') return []
  const valid_to = await new Promise<string | null>((resolve) => {
    // The requests have verified the certificate; only its dates are read here.
    const socket = connect({
      host: hostname,
      port: Number(port || 443),
      servername: hostname,
      rejectUnauthorized: false,
    })
    socket.setTimeout(CONNECT_LIMIT_MS, () => socket.destroy())
    socket.once('secureConnect', () => {
      resolve(socket.getPeerCertificate().valid_to)
      socket.destroy()
    })
    socket.once('error', () => resolve(null))
    socket.once('close', () => resolve(null))
  })
  return valid_to === null ? [] : [certificateResult('certificate of admin', valid_to, new Date())]
}
