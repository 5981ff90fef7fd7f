import { randomBytes } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { join, relative } from 'node:path'
import { isIP } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { DiskReserve } from '../../core/redis/disk-reserve.ts'
import {
  type Environment,
  readSettings,
  unknownSettings,
  type Settings,
} from '../../core/settings/settings.ts'
import { urlOf } from '../../core/system/url-of.ts'
import { bootstrapOf } from '../../envoy/render-bootstrap.ts'
import { sdsFiles } from '../../envoy/tls-contexts.ts'
import { trustedCaFile } from '../../envoy/trusted-ca.ts'
import { findEnvoy, findValkey } from '../deployment/binaries.ts'
import {
  accessLogSpec,
  adminServiceSocket,
  adminSpec,
  type Boot,
  diskReserveFile,
  echoSpec,
  envoyAdminSocket,
  envoyConfigFile,
  envoySpec,
  extProcSpecs,
  valkeyConfigFile,
  valkeySpec,
} from '../launcher/child-specs.ts'
import { drainEnvoy } from '../launcher/drain-envoy.ts'
import { checkStoreIdentity } from '../launcher/check-store-identity.ts'
import { choosePorts, type Ports } from '../launcher/choose-ports.ts'
import { type DataDir, openDataDir, ownSecrets, writeOwnFile } from '../launcher/data-dir.ts'
import { endLeftovers, noteChildren } from '../launcher/end-leftovers.ts'
import { endsWithParent } from '../launcher/ends-with-parent.ts'
import { activeProcessors, extProcAddresses } from '../launcher/ext-proc-addresses.ts'
import { findOwnToken } from '../launcher/find-own-token.ts'
import { hasTerminal } from '../launcher/has-terminal.ts'
import { holdSocket } from '../launcher/hold-socket.ts'
import { lockDataDir } from '../launcher/lock-data-dir.ts'
import { memoryLimits } from '../launcher/memory-limits.ts'
import type { LogFormat } from '../launcher/process-log.ts'
import { rollingRestart } from '../launcher/rolling-restart.ts'
import { type Command, serveCommand } from '../launcher/serve-command.ts'
import { StartOutput } from '../launcher/start-output.ts'
import { type ChildSpec, Supervisor } from '../launcher/supervisor.ts'
import { systemdService } from '../launcher/systemd-service.ts'
import { counted } from '../terminal/counted.ts'
import { valkeyConfig, valkeySocket } from '../launcher/valkey-config.ts'

const FAILED = 1
/** Its configuration files, locks and the first writes of the store need less. */
const START_BYTES = 4 << 20
const READY_LIMIT_MS = 60_000
const READY_POLL_MS = 100
/** How long each kind of child may take to stop: Envoy stops at once, our services after they have drained, the store last. */
/** Longer than envoy/bootstrap.yaml lets the access log wait for its batch. */
const LAST_BATCH_MS = 250
const STOP_LIMITS_MS = { envoy: 5_000, services: 9_000, valkey: 10_000 }

export interface StartOptions {
  readonly isNewStore: boolean
  readonly logFormat: LogFormat
  readonly isVerbose: boolean
}

/** `agw start`: runs the whole gateway until it is stopped. Returns the exit code. */
export async function runStart(env: Environment, options: StartOptions): Promise<number> {
  const output = new StartOutput(options.logFormat, options.isVerbose)
  const { say, report } = output
  process.umask(0o077)
  const read = readSettings(env)
  if (!read.ok) {
    report(
      `The gateway cannot start:\n${read.problems.map((problem) => `- ${problem}`).join('\n')}`,
    )
    return FAILED
  }
  for (const notice of unknownSettings(env)) say(`Note: ${notice}`)
  try {
    return await startIn(openDataDir(read.settings.dataDir), read.settings, env, {
      isNewStore: options.isNewStore,
      output,
    })
  } catch (error) {
    report(`The gateway cannot start: ${(error as Error).message}`)
    return FAILED
  }
}

async function startIn(
  dataDir: DataDir,
  settings: Settings,
  env: Environment,
  { isNewStore, output }: { isNewStore: boolean; output: StartOutput },
): Promise<number> {
  const commands: Record<string, Command> = {}
  const unlock = await lockDataDir(dataDir, (socket) => serveCommand(socket, commands))
  if (unlock === null) {
    throw new Error(
      `another gateway is using the data directory ${dataDir.path}. Stop it, or set AGW_DATA_DIR to another directory.`,
    )
  }
  try {
    if ((await endLeftovers(dataDir)) > 0)
      output.say('Stopped processes that an earlier start had left behind.')
    await makeRoomToStart(dataDir, settings, output)
    const ports = await choosePorts(settings)
    if (!('proxyPort' in ports))
      throw new Error(`\n${ports.map((problem) => `- ${problem}`).join('\n')}`)
    const boot = await prepareBoot(dataDir, { ...settings, ...ports }, env, output)
    return await runChildren(boot, { isNewStore, commands, output })
  } finally {
    unlock()
  }
}

/** On a full disk no file can be written, and the store may not start either. Kills work only when all of it runs. */
async function makeRoomToStart(
  dataDir: DataDir,
  settings: Settings,
  { report }: StartOutput,
): Promise<void> {
  const file = diskReserveFile({ dataDir, settings }) ?? null
  const reserve = DiskReserve.from({ ...settings, diskReserveFile: file })
  if (reserve === null || (await reserve.freeBytes()) >= START_BYTES) return
  const freed_bytes = await reserve.shrinkBy(START_BYTES)
  if (freed_bytes > 0)
    report(
      `The disk of ${dataDir.path} is full. ${freed_bytes} bytes of its reserve were given up.`,
    )
}

async function prepareBoot(
  dataDir: DataDir,
  settings: Settings & Ports,
  env: Environment,
  { say }: StartOutput,
): Promise<Boot> {
  // One after the other, so that a failure leaves no deployment half done.
  const envoy = await findEnvoy(settings, say)
  const valkey = settings.redisUrl === null ? await findValkey(settings, say) : null
  const ext_proc_addresses = extProcAddresses(settings, dataDir.sockets)
  const boot: Boot = {
    env,
    settings,
    dataDir,
    secrets: ownSecrets(dataDir, settings),
    redisUrl: settings.redisUrl ?? `unix://${valkeySocket(dataDir)}`,
    verdict_secret: randomBytes(32).toString('hex'),
    edge_boot: randomBytes(6).toString('hex'),
    echo_origin: `http://127.0.0.1:${settings.echoPort}`,
    ext_proc_addresses,
    ext_proc_fd: holdOnlySocket(ext_proc_addresses),
    access_log_address:
      settings.accessLogAddress ?? `unix:${join(dataDir.sockets, 'access-log.sock')}`,
    binaries: { envoy, valkey },
    wrap: await endsWithParent(),
    admin_fds: {
      api: isIP(settings.apiHost)
        ? holdSocket({ host: settings.apiHost, port: settings.apiPort })
        : null,
      socket: holdSocket({ path: adminServiceSocket(dataDir) }),
    },
  }
  const limits = memoryLimits()
  mkdirSync(join(dataDir.path, 'valkey'), { recursive: true, mode: 0o700 })
  writeOwnFile(valkeyConfigFile(dataDir), valkeyConfig(dataDir, limits.valkey_bytes))
  const bootstrap = bootstrapOf(boot.settings, {
    envoy_admin_socket: envoyAdminSocket(dataDir),
    ext_proc_addresses: boot.ext_proc_addresses,
    ext_proc_active: activeProcessors(settings),
    is_ext_proc_held: boot.ext_proc_fd !== null,
    access_log_address: boot.access_log_address,
    admin_socket: adminServiceSocket(dataDir),
    verdict_secret: boot.verdict_secret,
    echo_origin: boot.echo_origin,
    trusted_ca_file: trustedCaFile(dataDir.path, settings.upstreamCaFile),
    heap_limit_bytes: limits.envoy_bytes,
    sds_directory: dataDir.path,
  })
  // JSON is YAML too, and takes a fraction of the time to write.
  const config = JSON.stringify(bootstrap, null, 1)
  for (const [name, text] of Object.entries(sdsFiles(boot.settings, config) ?? {}))
    writeOwnFile(join(dataDir.path, name), text)
  writeOwnFile(envoyConfigFile(dataDir), config)
  return boot
}

function holdOnlySocket([first = '', ...others]: readonly string[]): number | null {
  const isHeld = others.length === 0 && first.startsWith('unix:')
  return isHeld ? holdSocket({ path: first.slice('unix:'.length) }) : null
}

async function runChildren(
  boot: Boot,
  {
    isNewStore,
    commands,
    output,
  }: { isNewStore: boolean; commands: Record<string, Command>; output: StartOutput },
): Promise<number> {
  const { say, report } = output
  let endWith: (code: number) => void = () => undefined
  const ended = new Promise<number>((resolve) => {
    endWith = resolve
  })
  const supervisor = new Supervisor({
    write: output.log,
    giveUp: (why) => {
      report(`The gateway is stopping: ${why}`)
      endWith(FAILED)
    },
    spawned: () => noteChildrenIfPossible(boot.dataDir, supervisor, report),
    silence_limit_ms: boot.settings.watchdogTimeout_ms,
  })
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => endWith(0))
  const killAll = (): void => supervisor.killAll()
  process.once('exit', killAll)
  const systemd = systemdService(boot.env)
  const starting = startChildren(boot, supervisor, { isNewStore, output })
    .then(() => {
      commands['restart'] = restartOf(boot, supervisor)
      return systemd.notify('READY=1')
    })
    .catch((error: Error) => {
      report(`The gateway cannot start: ${error.message}`)
      endWith(FAILED)
    })
  const hadTerminal = hasTerminal()
  process.on('SIGHUP', () => {
    // Closing a terminal ends the programs in it. Without a terminal, the signal asks a service to reload.
    if (hadTerminal && !hasTerminal()) endWith(0)
    else void commands['restart']?.(say).catch((error: Error) => report(error.message))
  })
  const code = await ended
  await systemd.notify('STOPPING=1')
  supervisor.beginStop()
  say('Stopping …')
  await drainEnvoy(envoyAdminSocket(boot.dataDir))
  // Envoy buffers the access log of the last calls until the batch is full or old. Stopping it earlier would lose them.
  // SIGINT asks them for a quick stop: nothing takes new calls, so waiting for long ones has no use.
  await supervisor.stop((name) => name.startsWith('ext-proc'), STOP_LIMITS_MS.services, 'SIGINT')
  await wait(LAST_BATCH_MS)
  await supervisor.stop((name) => name === 'envoy', STOP_LIMITS_MS.envoy)
  await supervisor.stop((name) => name !== 'valkey', STOP_LIMITS_MS.services)
  await supervisor.stop(() => true, STOP_LIMITS_MS.valkey)
  await Promise.race([starting, wait(0)])
  process.removeListener('exit', killAll)
  return code
}

/** A full disk must not end the gateway. The next start would then not find what a killed launcher leaves behind. */
function noteChildrenIfPossible(
  dataDir: DataDir,
  supervisor: Supervisor,
  report: (line: string) => void,
): void {
  try {
    noteChildren(dataDir, supervisor.pids())
  } catch (error) {
    report(`The list of processes could not be written: ${(error as Error).message}`)
  }
}

/** One at a time, since two would take two processors out of service at once. */
function restartOf(boot: Boot, supervisor: Supervisor): Command {
  let isRunning = false
  const envoySocket = envoyAdminSocket(boot.dataDir)
  const { drainTimeout_ms: drain_ms } = boot.settings
  const names = [...extProcSpecs(boot), accessLogSpec(boot), adminSpec(boot)].map(
    ({ name }) => name,
  )
  return async (sayTo) => {
    if (isRunning) throw new Error('A restart is already running.')
    isRunning = true
    try {
      if (boot.ext_proc_addresses.length === 1)
        sayTo('There is one ext-proc process: calls wait for it, and after a few seconds get 503.')
      await rollingRestart({ supervisor, names, envoySocket, drain_ms, say: sayTo })
    } finally {
      isRunning = false
    }
  }
}

async function startChildren(
  boot: Boot,
  supervisor: Supervisor,
  { isNewStore, output }: { isNewStore: boolean; output: StartOutput },
): Promise<void> {
  const { say } = output
  if (boot.binaries.valkey !== null) {
    await supervisor.start(valkeySpec(boot, boot.binaries.valkey))
    say('The store runs.')
  }
  await checkStoreIdentity(boot, isNewStore)
  const edges = extProcSpecs(boot)
  const parts = {
    'The admin service runs.': [adminSpec(boot)],
    [`ext-proc runs in ${counted(edges.length, 'process', 'processes')}.`]: edges,
    'The access log receiver runs.': [accessLogSpec(boot)],
    'The echo API runs.': [echoSpec(boot)],
    'Envoy runs.': [envoySpec(boot)],
  }
  const start = async ([line, specs]: readonly [string, readonly ChildSpec[]]): Promise<void> => {
    await Promise.all(specs.map((spec) => supervisor.start(spec)))
    say(line)
  }
  await Promise.all(Object.entries(parts).map(start))
  const apiUrl = urlOf('http', boot.settings.apiHost, boot.settings.apiPort)
  await becomesReady(apiUrl, output)
  const scheme = boot.settings.tlsCertFile === null ? 'http' : 'https'
  const tokenFile = join(boot.dataDir.path, 'admin-token')
  const shownFile = relative(process.cwd(), tokenFile)
  const token = await findOwnToken(boot, tokenFile)
  output.welcome({
    proxyUrl: urlOf(scheme, boot.settings.proxyHost, boot.settings.proxyPort),
    apiUrl,
    forwardUrl: forwardUrl(boot),
    echoOrigin: boot.echo_origin,
    token,
    tokenInShell: token.kind === 'not_used' ? '$AGW_TOKEN' : tokenInShell(boot, tokenFile),
    tokenFile: shownFile.startsWith('..') ? tokenFile : shownFile,
  })
}

function forwardUrl({ settings: { forwardPort, forwardTls, proxyHost } }: Boot): string | null {
  return forwardPort === null ? null : urlOf(forwardTls ? 'https' : 'http', proxyHost, forwardPort)
}

function tokenInShell({ settings, env }: Boot, keptFile: string): string {
  if (settings.adminToken === null) return `$(cat '${keptFile}')`
  return env['AGW_ADMIN_TOKEN']?.trim() ? '$AGW_ADMIN_TOKEN' : '$(cat "$AGW_ADMIN_TOKEN_FILE")'
}

async function becomesReady(apiUrl: string, { report }: StartOutput): Promise<void> {
  const deadline = Date.now() + READY_LIMIT_MS
  let missing = 'no answer'
  while (Date.now() < deadline) {
    const answer = await fetch(`${apiUrl}/readyz`).catch(() => null)
    if (answer?.status === 200) return
    missing = (await answer?.text().catch(() => null)) ?? missing
    const problem = onlyStoreProblem(missing)
    if (problem !== null) return report(`Warning: ${problem}.`)
    await wait(READY_POLL_MS)
  }
  throw new Error(`${apiUrl}/readyz did not become ready in ${READY_LIMIT_MS / 1000} s: ${missing}`)
}

/** The gateway runs, and its operator has to acknowledge what the store has lost. */
function onlyStoreProblem(readiness: string): string | null {
  try {
    const { parts = {} } = JSON.parse(readiness) as { readonly parts?: Record<string, string> }
    const problems = Object.entries(parts).filter(([, says]) => says !== 'ok')
    const [part, problem] = problems[0] ?? []
    return problems.length === 1 && part === 'store' ? (problem ?? null) : null
  } catch {
    return null
  }
}
