import { request } from 'node:http'
import { counted } from '../../terminal/counted.ts'
import { type CheckResult, failed, ok } from '../check-result.ts'
import { checkBootstrap } from './check-bootstrap.ts'
import { checkForwardClusters, checkProcessorCluster } from './check-clusters.ts'
import { checkFilterOrder, checkManager } from './check-manager.ts'
import { checkAccessLog, checkProcessor } from './check-processor.ts'
import { checkRouteSet } from './check-route-set.ts'
import { checkRoutes } from './check-routes.ts'
import { readEnvoyDump } from './read-envoy-dump.ts'

/** A dump of many thousand routes takes Envoy a while. */
const ASK_LIMIT_MS = 30_000
const SHOWN_ERROR_LIMIT = 300

/** Settings of the gateway, as far as they are known where doctor runs; null for one that is not set there. */
export interface KnownSettings {
  /** Private ranges that integrations may reach (AGW_EGRESS_ALLOW_CIDRS). */
  readonly egress_allow_cidrs: readonly string[] | null
  /** AGW_VERDICT_SECRET, newest first. */
  readonly verdict_secrets: readonly string[] | null
}

const NOTHING_KNOWN: KnownSettings = { egress_allow_cidrs: null, verdict_secrets: null }

/** Reads the configuration of a running Envoy from its admin interface, and checks what concerns the gateway. */
export async function checkEnvoy(admin: string, known: KnownSettings): Promise<CheckResult[]> {
  const dump = await read(admin, '/config_dump')
  if (!dump.ok)
    return [
      failed(
        'envoy admin',
        `${admin} ${dump.problem}`,
        'Check that Envoy is running, and the address of --envoy-admin.',
      ),
    ]
  const stats = await read(admin, '/stats?filter=update_rejected')
  let config: unknown
  try {
    config = JSON.parse(dump.text)
  } catch {
    const says = `${admin} is not the admin interface of an Envoy`
    return [failed('envoy admin', says, 'Check the address of --envoy-admin.')]
  }
  return checkEnvoyConfig(config, stats.ok ? stats.text : '', known)
}

/**
 * @param dump of `/config_dump`
 * @param stats of `/stats`
 */
export function checkEnvoyConfig(
  dump: unknown,
  stats: string,
  known: KnownSettings = NOTHING_KNOWN,
): CheckResult[] {
  const read = readEnvoyDump(dump)
  const rejected = [...stats.matchAll(/^(\S*update_rejected): ([1-9]\d*)$/gm)].map(
    ([, name = '', count = '']) =>
      failed(
        'envoy updates',
        `Envoy has refused ${counted(Number(count), 'update')} of its configuration (${name}) and runs with the one before`,
        'See error_state in /config_dump, or the log of Envoy.',
      ),
  )
  const refused = read.refused.map((details) =>
    failed(
      'envoy updates',
      `Envoy refuses a part of its configuration: ${details.slice(0, SHOWN_ERROR_LIMIT)}`,
      'Correct it; Envoy runs with the part before.',
    ),
  )
  if (read.gateways.length === 0)
    return [
      ...rejected,
      ...refused,
      failed(
        'envoy',
        'no listener asks ext-proc of this gateway',
        'Add the configuration that agw envoy-config prints.',
      ),
    ]
  const found = [
    ...rejected,
    ...refused,
    ...checkBootstrap(read),
    ...read.gateways.flatMap((gateway) => [
      ...checkProcessor(gateway),
      ...checkFilterOrder(gateway),
      ...checkManager(gateway),
      ...checkRoutes(gateway, read),
      ...checkRouteSet(gateway, known.verdict_secrets),
      ...checkProcessorCluster(gateway, read),
      ...checkForwardClusters(gateway, read, known.egress_allow_cidrs),
      ...checkAccessLog(gateway),
    ]),
  ]
  const listeners = [...new Set(read.gateways.map(({ listener }) => listener))].join(', ')
  return found.some(({ state }) => state === 'failed')
    ? found
    : [
        ok(
          'envoy',
          `the configuration of ${listeners} is complete; agw doctor without --envoy-admin checks that calls reach ext-proc`,
        ),
        ...found,
      ]
}

type Read =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly problem: string }

/** @param admin `http://host:port` or `unix:/path` */
function read(admin: string, path: string): Promise<Read> {
  const where = admin.startsWith('unix:')
    ? { socketPath: admin.slice('unix:'.length), path }
    : new URL(path, admin)
  return new Promise((resolve) => {
    const fail = (error: Error): void => resolve({ ok: false, problem: error.message })
    const options = { agent: false as const, signal: AbortSignal.timeout(ASK_LIMIT_MS) }
    const answered = (answer: import('node:http').IncomingMessage): void => {
      let text = ''
      answer.setEncoding('utf8').on('data', (part: string) => {
        text += part
      })
      answer.once('error', fail)
      answer.once('end', () =>
        resolve(
          answer.statusCode === 200
            ? { ok: true, text }
            : { ok: false, problem: `returned ${answer.statusCode}` },
        ),
      )
    }
    const call =
      where instanceof URL
        ? request(where, options, answered)
        : request({ ...where, ...options }, answered)
    call.once('error', fail)
    call.end()
  })
}
