import { request } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { fromRoot } from '../../core/system/root.ts'
import { type Environment, type Settings, withoutSecrets } from '../../core/settings/settings.ts'
import type { DataDir, OwnSecrets } from './data-dir.ts'
import type { Wrap } from './ends-with-parent.ts'
import { activeProcessors } from './ext-proc-addresses.ts'
import { PROGRAMS } from './programs.ts'
import { type ChildSpec, FIRST_FD, type ProbeResult } from './supervisor.ts'
import { valkeySocket } from './valkey-config.ts'

/** Everything that is decided before the first child is started. */
export interface Boot {
  readonly env: Environment
  readonly settings: Settings
  readonly dataDir: DataDir
  readonly secrets: OwnSecrets
  readonly redisUrl: string
  readonly verdict_secret: string
  /** Makes the ids of this start's edges unique (`AGW_EDGE_BOOT`). */
  readonly edge_boot: string
  readonly echo_origin: string
  readonly ext_proc_addresses: readonly string[]
  readonly access_log_address: string
  readonly binaries: { readonly envoy: string; readonly valkey: string | null }
  readonly wrap: Wrap
  /** Listening sockets of the admin service that this process holds; null where it has to bind by itself. */
  readonly admin_fds: { readonly api: number | null; readonly socket: number | null }
  /** The same for the only processor. Of several, a dead one has to refuse connections, so that Envoy asks the others at once. */
  readonly ext_proc_fd: number | null
}

/** An edge id has at most 64 characters; the number of the process needs a few of them. */
const EDGE_NAME_LIMIT = 58
const ASK_LIMIT_MS = 500
/** A store that waits for a slow disk is not helped by a restart, in which it reads everything from that disk. */
const STORE_PATIENCE = 3

/** Envoy and Valkey get no settings, so no secrets either. */
function foreignEnv(env: Environment): Environment {
  return Object.fromEntries(
    ['PATH', 'HOME', 'TMPDIR', 'LANG', 'TZ'].map((name) => [name, env[name]]),
  )
}

/** Secrets that the launcher has read or made; each child gets those it needs. */
const DECIDED_HERE = ['AGW_ADMIN_TOKEN', 'REDIS_URL', 'AGW_ENCRYPTION_KEY', 'AGW_VERDICT_SECRET']

function ownEnv({ env, redisUrl, secrets, settings }: Boot, more: Environment): Environment {
  return {
    ...withoutSecrets(env, DECIDED_HERE),
    // One address cannot be that of several processes.
    AGW_HEALTH_ADDRESS: undefined,
    AGW_PROXY_PORT: String(settings.proxyPort),
    AGW_API_PORT: String(settings.apiPort),
    AGW_FORWARD_PORT: String(settings.forwardPort ?? 'off'),
    REDIS_URL: redisUrl,
    ...(secrets.encryptionKeyFile === null
      ? { AGW_ENCRYPTION_KEY: secrets.encryptionKey ?? undefined }
      : { AGW_ENCRYPTION_KEY_FILE: secrets.encryptionKeyFile }),
    ...more,
  }
}

export const valkeyConfigFile = (dataDir: DataDir): string => join(dataDir.path, 'valkey.conf')
export const envoyConfigFile = (dataDir: DataDir): string => join(dataDir.path, 'envoy.yaml')
/** What this machine remembers of its store. */
export const deploymentFile = ({ dataDir, settings }: Pick<Boot, 'dataDir' | 'settings'>): string =>
  settings.deploymentIdFile ?? join(dataDir.path, 'deployment-id')
/** Only where this machine has the disk of the store. */
export const diskReserveFile = ({
  dataDir,
  settings,
}: Pick<Boot, 'dataDir' | 'settings'>): string | undefined =>
  settings.diskReserveFile ??
  (settings.redisUrl === null ? join(dataDir.path, 'reserve') : undefined)
export const envoyAdminSocket = (dataDir: DataDir): string =>
  join(dataDir.sockets, 'envoy-admin.sock')
export const adminServiceSocket = (dataDir: DataDir): string => join(dataDir.sockets, 'admin.sock')

export function valkeySpec(boot: Boot, binary: string): ChildSpec {
  const [command, args] = boot.wrap(binary, [valkeyConfigFile(boot.dataDir)])
  const socket = valkeySocket(boot.dataDir)
  return {
    name: 'valkey',
    command,
    args,
    env: foreignEnv(boot.env),
    probe: () => answersPing(socket),
    patience: STORE_PATIENCE,
    sockets: [socket],
  }
}

export function envoySpec(boot: Boot): ChildSpec {
  const socket = envoyAdminSocket(boot.dataDir)
  const [command, args] = boot.wrap(boot.binaries.envoy, [
    '-c',
    envoyConfigFile(boot.dataDir),
    '--use-dynamic-base-id',
    '--concurrency',
    String(boot.settings.envoyConcurrency),
    '--log-level',
    'warning',
    // Envoy logs at each start that the protobuf message of the address ranges is work in progress.
    '--component-log-level',
    'misc:error',
    // On a stop every connection is closed with its next response, not only some (drain-envoy.ts).
    '--drain-strategy',
    'immediate',
  ])
  return {
    name: 'envoy',
    command,
    args,
    env: foreignEnv(boot.env),
    probe: () => isLive(socket),
    sockets: [socket],
  }
}

export function extProcSpecs(boot: Boot): ChildSpec[] {
  return boot.ext_proc_addresses.map((address, index) => ({
    name: `ext-proc-${index + 1}`,
    command: process.execPath,
    args: PROGRAMS['ext-proc'],
    env: ownEnv(boot, {
      AGW_EXT_PROC_ADDRESS: address,
      AGW_EXT_PROC_FD: boot.ext_proc_fd === null ? undefined : String(FIRST_FD),
      AGW_ACCESS_LOG_ADDRESS: boot.access_log_address,
      AGW_EDGE_ID: `${edgeName(boot)}-${index + 1}`,
      AGW_EDGE_BOOT: boot.edge_boot,
      AGW_EDGE_STANDBY: String(index >= activeProcessors(boot.settings)),
      AGW_VERDICT_SECRET: boot.verdict_secret,
      AGW_ECHO_ORIGIN: boot.echo_origin,
    }),
    probe: 'ipc',
    ...(boot.ext_proc_fd === null
      ? { sockets: socketFile(address) }
      : { sockets: [], fds: [boot.ext_proc_fd] }),
  }))
}

export function accessLogSpec(boot: Boot): ChildSpec {
  const address = boot.access_log_address
  return {
    name: 'access-log',
    command: process.execPath,
    args: PROGRAMS['access-log'],
    env: ownEnv(boot, {
      AGW_ACCESS_LOG_ADDRESS: address,
      AGW_EDGE_ID: `${edgeName(boot)}-log`,
      AGW_EDGE_BOOT: boot.edge_boot,
    }),
    probe: 'ipc',
    sockets: socketFile(address),
  }
}

const edgeName = ({ settings }: Boot): string => settings.edgeId.slice(0, EDGE_NAME_LIMIT)

const socketFile = (address: string): readonly string[] =>
  address.startsWith('unix:') ? [address.slice('unix:'.length)] : []

/** The store is not that of the data directory, and no setting says which admin token it has. */
export const mayShareStore = ({ settings }: Boot): boolean =>
  settings.redisUrl !== null && settings.adminToken === null

export function adminSpec(boot: Boot): ChildSpec {
  const socket = adminServiceSocket(boot.dataDir)
  const { api, socket: socketFd } = boot.admin_fds
  const fds = [api, socketFd].filter((fd) => fd !== null)
  const inChild = (fd: number | null): string | undefined =>
    fd === null ? undefined : String(FIRST_FD + fds.indexOf(fd))
  return {
    name: 'admin',
    command: process.execPath,
    args: PROGRAMS.admin,
    env: ownEnv(boot, {
      // A generated token must not replace the tokens of a store that other hosts may use.
      [mayShareStore(boot) ? 'AGW_GENERATED_ADMIN_TOKEN' : 'AGW_ADMIN_TOKEN']:
        boot.secrets.adminToken,
      AGW_ADMIN_SOCKET: socket,
      AGW_DEPLOYMENT_ID_FILE: deploymentFile(boot),
      AGW_API_FD: inChild(api),
      AGW_ADMIN_SOCKET_FD: inChild(socketFd),
      AGW_DISK_RESERVE_FILE: diskReserveFile(boot),
      AGW_ARCHIVE_DIR: boot.settings.archiveDir ?? join(boot.dataDir.path, 'archive'),
      AGW_ECHO_ORIGIN: boot.echo_origin,
    }),
    probe: 'ipc',
    sockets: socketFd === null ? [socket] : [],
    fds,
    replaced_with: fds.length === 2 ? 'SIGHUP' : undefined,
  }
}

export function echoSpec(boot: Boot): ChildSpec {
  return {
    name: 'echo',
    command: process.execPath,
    args: [fromRoot('dist', 'cli', 'echo-api.js')],
    env: { ...foreignEnv(boot.env), AGW_ECHO_ORIGIN: boot.echo_origin },
    probe: 'ipc',
    sockets: [],
  }
}

/** The store answers with an error while it loads its data. */
function answersPing(path: string): Promise<ProbeResult> {
  return new Promise((resolve) => {
    const socket = connect(path, () => socket.write('PING\r\n'))
    socket.setTimeout(ASK_LIMIT_MS, () => socket.destroy())
    socket.once('data', (answer) => {
      resolve(answer.toString().startsWith('+PONG') ? 'ready' : 'starting')
      socket.destroy()
    })
    socket.once('error', () => resolve('silent'))
    socket.once('close', () => resolve('silent'))
  })
}

function isLive(socketPath: string): Promise<ProbeResult> {
  return new Promise((resolve) => {
    const call = request({ socketPath, path: '/ready', timeout: ASK_LIMIT_MS }, (answer) => {
      answer.resume()
      resolve(answer.statusCode === 200 ? 'ready' : 'starting')
    })
    call.once('timeout', () => call.destroy())
    call.once('error', () => resolve('silent'))
    call.end()
  })
}
