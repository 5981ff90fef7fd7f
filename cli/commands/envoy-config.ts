import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { readSettings, type Environment, type Settings } from '../../core/settings/settings.ts'
import {
  extProcAddress,
  virtualHostDomain,
  hostPattern,
  type SettingKind,
} from '../../core/settings/setting-kinds.ts'
import { type ConfigMode, renderConfig } from '../../envoy/render-config.ts'
import type { MergeForm, MergePlace } from '../../envoy/merge-config.ts'
import { sdsFiles } from '../../envoy/tls-contexts.ts'
import { writeOwnFile } from '../launcher/data-dir.ts'
import { activeProcessors, extProcAddresses } from '../launcher/ext-proc-addresses.ts'
import { envoyHeapBytes, memoryLimits } from '../launcher/memory-limits.ts'
import { UsageError } from '../terminal/usage-error.ts'

export interface EnvoyConfigOptions {
  readonly mode: ConfigMode
  readonly output?: string
  /** A bootstrap to which the gateway is added. */
  readonly merge?: string
  /** A listener of it, or `listener/virtual host`. */
  readonly into?: string
  readonly format?: MergeForm
  /** Where Envoy finds the SDS files of its certificates. */
  readonly sds?: string
  readonly extProc?: readonly string[]
  readonly accessLog?: string
  readonly hostname?: readonly string[]
  /** Of the manifests for Kubernetes. */
  readonly namespace?: string
  readonly trustedCa: string
  readonly envoyAdminSocket?: string
  /** Bytes of the host on which Envoy will run. */
  readonly envoyMemory?: number | 'cgroup'
}

/**
 * `agw envoy-config`: the configuration of an Envoy that somebody else starts, or parts of it. Both sides must know the same
 * AGW_VERDICT_SECRET. Nothing is read from this machine but the settings: addresses and files are those of the Envoy's.
 * @throws a message for the operator when a setting is wrong or missing
 */
export function runEnvoyConfig(
  env: Environment,
  options: EnvoyConfigOptions,
  usualAdminSocket: string,
): void {
  const { mode, accessLog, extProc, output, hostname = [] } = options
  const { envoyAdminSocket, envoyMemory, namespace, merge, into, format = 'yaml' } = options
  checkMode(options)
  for (const address of extProc ?? []) check('--ext-proc', extProcAddress, address)
  const kind = mode === 'virtual-host' ? virtualHostDomain : hostPattern
  for (const name of hostname) check('--hostname', kind, name)
  const isKubernetes = isForKubernetes(mode)
  const own = {
    ...(isKubernetes ? mountedFiles(env) : {}),
    ...(extProc === undefined ? {} : { AGW_EXT_PROC_ADDRESS: extProc[0] }),
    ...(accessLog === undefined ? {} : { AGW_ACCESS_LOG_ADDRESS: accessLog }),
  }
  const read = readSettings({ ...env, ...own }, 'elsewhere')
  if (!read.ok) throw new Error(read.problems.join('\n'))
  const { settings } = read
  const { verdictSecrets, adminSocket, echoOrigin } = settings
  const addresses = extProc ?? addressesOf(settings, env)
  if (verdictSecrets === null || addresses.length === 0) {
    throw new Error(
      'AGW_VERDICT_SECRET and AGW_EXT_PROC_ADDRESS (or --ext-proc) are required: the secret shared by ext-proc and Envoy, and the address of ext-proc.',
    )
  }
  const facts = {
    envoy_admin_socket: envoyAdminSocket ?? usualAdminSocket,
    ext_proc_addresses: addresses,
    ...(extProc === undefined && isSet(env, 'AGW_EXT_PROC_WORKERS', 'AGW_ENVOY_CONCURRENCY')
      ? { ext_proc_active: activeProcessors(settings) }
      : {}),
    access_log_address: settings.accessLogAddress,
    admin_socket: adminSocket,
    verdict_secret: verdictSecrets[0] ?? '',
    older_verdict_secrets: verdictSecrets.slice(1),
    echo_origin: echoOrigin,
    trusted_ca_file: options.trustedCa,
    heap_limit_bytes: heapLimit(envoyMemory),
    ...(options.sds === undefined ? {} : { sds_directory: options.sds }),
  }
  const isForwardSet = (env['AGW_FORWARD_PORT']?.trim() ?? '') !== ''
  if (isForwardSet && settings.forwardPort !== null && mode !== 'standalone')
    throw new Error('AGW_FORWARD_PORT, the forward proxy, needs --mode standalone.')
  if (settings.egressProxy !== null && mode !== 'standalone')
    throw new Error(
      'AGW_EGRESS_PROXY needs --mode standalone: the other modes have no listener for tunnels. Unset it, and configure the egress of that Envoy and of ext-proc with its network.',
    )
  const place = {
    mode,
    merge:
      merge === undefined
        ? null
        : { bootstrap: readFileSync(merge, 'utf8'), into: placeOf(into), form: format },
    hostnames: isKubernetes && hostname.length === 0 ? ['*'] : hostname,
    namespace: namespace ?? (mode === 'istio' ? ISTIO_NAMESPACE : 'agw'),
  }
  const config = renderConfig(place, settings, facts)
  if (output === undefined) process.stdout.write(config)
  else {
    const files = options.sds === undefined ? null : sdsFiles(settings, config)
    for (const [name, text] of Object.entries(files ?? {}))
      writeOwnFile(join(dirname(output), name), text)
    writeOwnFile(output, config)
  }
}

/** @throws when an option has no effect in the mode */
function checkMode(options: EnvoyConfigOptions): void {
  const { mode, output, hostname = [], namespace, envoyAdminSocket, envoyMemory } = options
  const isKubernetes = isForKubernetes(mode)
  if (mode === 'virtual-host' && hostname.length === 0)
    throw new UsageError('--mode virtual-host needs --hostname NAMES.')
  if (!isKubernetes && mode !== 'virtual-host' && hostname.length > 0)
    throw new UsageError(
      '--hostname, the host names of the virtual host, goes with --mode virtual-host, envoy-gateway or istio.',
    )
  if (namespace !== undefined && !isKubernetes)
    throw new UsageError('--namespace goes with --mode envoy-gateway or istio.')
  // In the other modes, these parts of the bootstrap are not the gateway's.
  if (mode !== 'standalone' && (envoyAdminSocket ?? envoyMemory) !== undefined)
    throw new UsageError('--envoy-admin-socket and --envoy-memory go with --mode standalone.')
  if (isKubernetes && hostname.length > HOSTNAMES_LIMIT)
    throw new UsageError(`--hostname takes at most ${HOSTNAMES_LIMIT} names.`)
  if (options.sds !== undefined && (isKubernetes || output === undefined))
    throw new UsageError(
      '--sds goes with --output, beside which the SDS files are written. Manifests for Kubernetes contain them.',
    )
  if (options.merge !== undefined && (isKubernetes || mode === 'standalone'))
    throw new UsageError('--merge goes with --mode listener, virtual-host or filter.')
  if (options.merge === undefined && options.format === 'json-patch')
    throw new UsageError(
      '--format json-patch needs --merge FILE, the configuration that it changes.',
    )
  if (options.into !== undefined && (options.merge === undefined || mode === 'listener'))
    throw new UsageError('--into goes with --merge and --mode virtual-host or filter.')
}

function placeOf(into: string | undefined): MergePlace {
  const [listener = null, virtual_host = null] = into?.split('/') ?? []
  return { listener, virtual_host }
}

const isForKubernetes = (mode: ConfigMode): boolean => mode === 'envoy-gateway' || mode === 'istio'

/** Every name repeats the routes. */
const HOSTNAMES_LIMIT = 16

/** Where the pods of the ingress gateway run: an EnvoyFilter acts on pods of its own namespace. */
const ISTIO_NAMESPACE = 'istio-system'

/** Where the manifests mount the Secret with Envoy's certificate, unless the settings name another place. */
const TLS_MOUNT = '/etc/agw/tls'

function mountedFiles(env: Environment): Environment {
  const files = { CERT: 'tls.crt', KEY: 'tls.key', CA: 'ca.crt' }
  const names = Object.keys(files).map((name) => `AGW_EXT_PROC_TLS_${name}_FILE`)
  if (names.some((name) => (env[name] ?? '') !== '')) return {}
  return Object.fromEntries(
    Object.values(files).map((file, i) => [names[i], `${TLS_MOUNT}/${file}`]),
  )
}

function check(option: string, kind: SettingKind<string>, text: string): void {
  const parsed = kind.parse(text)
  if (!parsed.ok) throw new UsageError(`${option}: "${text}" ${parsed.problem}.`)
}

/** The number of processes is only known where it is set: Envoy need not run on a machine like this one. */
function addressesOf(settings: Settings, env: Environment): readonly string[] {
  if (settings.extProcAddress === null) return []
  const extProcWorkers = isSet(env, 'AGW_EXT_PROC_WORKERS') ? settings.extProcWorkers : 1
  return extProcAddresses({ ...settings, extProcWorkers }, '')
}

const isSet = (env: Environment, ...names: readonly string[]): boolean =>
  names.every((name) => (env[name] ?? '') !== '')

function heapLimit(memory: EnvoyConfigOptions['envoyMemory']): number | null {
  if (memory === 'cgroup') return null
  return memory === undefined ? memoryLimits().envoy_bytes : envoyHeapBytes(memory)
}
