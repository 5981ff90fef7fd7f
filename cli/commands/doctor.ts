import { join } from 'node:path'
import type { Writable } from 'node:stream'
import {
  type Environment,
  readSettings,
  type Settings,
  unknownSettings,
} from '../../core/settings/settings.ts'
import type { StoreAccess } from '../../core/redis/store-access.ts'
import { urlOf } from '../../core/system/url-of.ts'
import { type AdminOptions, givenAccess, ownToken } from '../deployment/admin-access.ts'
import { counted } from '../terminal/counted.ts'
import { ask } from '../doctor/ask.ts'
import { checkArchive } from '../doctor/check-archive.ts'
import { checkEgressProxy } from '../doctor/check-egress-proxy.ts'
import { checkEnvoy, type KnownSettings } from '../doctor/envoy/check-envoy.ts'
import { checkGateway } from '../doctor/check-gateway.ts'
import {
  checkBinaries,
  checkCertificates,
  checkDataDir,
  checkDisk,
  checkNode,
  checkPorts,
} from '../doctor/check-machine.ts'
import { checkKeys } from '../doctor/check-keys.ts'
import { keepPass } from '../doctor/keep-pass.ts'
import { checkStore } from '../doctor/check-store.ts'
import { failed, type CheckResult, ok, warning } from '../doctor/check-result.ts'
import { dataDirAt } from '../launcher/data-dir.ts'
import { findStore } from '../deployment/find-store.ts'
import { terminalJson, terminalLines } from '../terminal/terminal-text.ts'

/**
 * `agw doctor`: checks this machine and the gateway running on it or, with a URL, another deployment, and reports for
 * each check the result and what to do. With the admin address of an Envoy, checks its configuration. It changes and installs nothing,
 * except for the file of AGW_DOCTOR_PASS_FILE.
 * @returns the exit code: 0 no check failed, 1 at least one failed
 */
export async function runDoctor(
  options: AdminOptions & { readonly envoyAdmin?: string },
  env: Environment,
  stdout: Writable,
): Promise<number> {
  if (options.envoyAdmin !== undefined) {
    const known = knownSettings(env)
    const found = known.ok ? await checkEnvoy(options.envoyAdmin, known.settings) : known.problems
    const kept = keepPass(env['AGW_DOCTOR_PASS_FILE'], options.envoyAdmin, found, new Date())
    return report([...found, ...kept], options, stdout)
  }
  const isElsewhere = (options.url ?? env['AGW_URL'] ?? '') !== ''
  const { url, token } = givenAccess(options, env)
  const findings = [
    checkNode(),
    ...(isElsewhere ? await checkGateway(url, token) : await checkHere(token, env)),
  ]
  const isByEnvironment = isElsewhere && options.url === undefined
  return report(findings, options, stdout, isByEnvironment ? NOT_HERE : null)
}

const NOT_HERE =
  'Only the deployment that AGW_URL names was checked, not this machine. To check this machine: env -u AGW_URL agw doctor'

type Known =
  | { readonly ok: true; readonly settings: KnownSettings }
  | { readonly ok: false; readonly problems: readonly CheckResult[] }

/** The other settings need not be valid here. */
function knownSettings(env: Environment): Known {
  const isSet = (name: string): boolean => (env[name]?.trim() ?? '') !== ''
  const names = ['AGW_EGRESS_ALLOW_CIDRS', 'AGW_VERDICT_SECRET', 'AGW_VERDICT_SECRET_FILE']
  const read = readSettings(Object.fromEntries(names.map((name) => [name, env[name]])))
  if (!read.ok)
    return {
      ok: false,
      problems: read.problems.map((problem) =>
        failed('settings', problem, 'Correct it. No other checks were made.'),
      ),
    }
  const { egressAllowCidrs, verdictSecrets } = read.settings
  return {
    ok: true,
    settings: {
      egress_allow_cidrs: isSet('AGW_EGRESS_ALLOW_CIDRS') ? egressAllowCidrs : null,
      verdict_secrets: verdictSecrets,
    },
  }
}

/** @param note a line below the table */
function report(
  findings: readonly CheckResult[],
  options: AdminOptions,
  stdout: Writable,
  note: string | null = null,
): number {
  const hasFailed = findings.some(({ state }) => state === 'failed')
  if (options.output === 'json')
    stdout.write(`${terminalJson({ ok: !hasFailed, checks: findings })}\n`)
  else stdout.write(terminalLines(`${asTable(findings)}${note === null ? '' : `${note}\n`}`))
  return hasFailed ? 1 : 0
}

async function checkHere(token: string | null, env: Environment): Promise<CheckResult[]> {
  const read = readSettings(env)
  const notices = unknownSettings(env).map((notice) =>
    warning('settings', notice, 'See docs/reference/settings.md for all settings.'),
  )
  // The other checks need valid settings.
  if (!read.ok)
    return [
      ...read.problems.map((problem) =>
        failed('settings', problem, 'Correct it. No other checks were made.'),
      ),
      ...notices,
    ]
  const { settings } = read
  const dataDir = dataDirAt(settings.dataDir)
  const store = await findStore(settings)
  return [
    ...(notices.length > 0 ? notices : [ok('settings', 'valid')]),
    ...checkDataDir(dataDir.path, settings),
    await checkDisk(settings.dataDir),
    ...(await checkArchive(settings.archiveDir ?? join(settings.dataDir, 'archive'))),
    ...(await checkBinaries(settings)),
    ...(await checkPorts(settings, store)),
    ...checkCertificates(settings, new Date()),
    ...(await checkEgressProxy(settings)),
    ...(await checkRunning(settings, store, token)),
  ]
}

/** A gateway that is not running is not a failure. */
async function checkRunning(
  settings: Settings,
  access: StoreAccess | null,
  token: string | null,
): Promise<CheckResult[]> {
  const dataDir = dataDirAt(settings.dataDir)
  const store = access === null ? [] : await checkStore(access)
  // The check of the clock needs an answer.
  const isReachable = store.some(({ check }) => check === 'clock')
  const url = urlOf('http', settings.apiHost, settings.apiPort)
  const isRunning = (await ask(url, '/healthz', null)).status === 200
  return [
    ...store,
    ...(access === null || !isReachable ? [] : await checkKeys(access, settings)),
    ...(isRunning
      ? await checkGateway(url, token ?? settings.adminToken ?? ownToken(dataDir.path))
      : [
          warning(
            'gateway',
            `not running on this machine (${url})`,
            'Run agw start or, with an Envoy of your own, agw admin. Use --url to check another deployment.',
          ),
        ]),
  ]
}

function asTable(findings: readonly CheckResult[]): string {
  const width = Math.max(...findings.map(({ check }) => check.length))
  const lines = findings.map(({ check, state, says, advice }) => {
    const head = `${state.padEnd('warning'.length)}  ${check.padEnd(width)}  ${says}`
    return advice === undefined ? head : `${head}\n${' '.repeat(width + 11)}→ ${advice}`
  })
  const count = (state: CheckResult['state']): number =>
    findings.filter((finding) => finding.state === state).length
  lines.push(
    `${count('ok')} ok, ${counted(count('warning'), 'warning')}, ${count('failed')} failed`,
  )
  return `${lines.join('\n')}\n`
}
