import { readSettings, type Environment } from '../core/settings.ts'
import { renderBootstrap } from '../envoy/render-bootstrap.ts'
import { writeOwnFile } from './launcher/data-dir.ts'
import { extProcAddresses } from './launcher/ext-proc-addresses.ts'
import { envoyHeapBytes, memoryLimits } from './launcher/memory-limits.ts'

export interface EnvoyConfigOptions {
  readonly output?: string
  readonly trustedCa: string
  readonly envoyAdminSocket: string
  /** Bytes of the host on which Envoy will run. */
  readonly envoyMemory?: number | 'cgroup'
}

/**
 * `agw envoy-config`: the bootstrap for an Envoy that somebody else starts. Both sides must know the same
 * AGW_VERDICT_SECRET, and where ext-proc and the admin service listen.
 * @throws a message for the operator when a setting is wrong or missing
 */
export function runEnvoyConfig(env: Environment, options: EnvoyConfigOptions): void {
  const read = readSettings(env)
  if (!read.ok) throw new Error(read.problems.join('\n'))
  const { settings } = read
  const { verdictSecrets, extProcAddress, adminSocket, echoOrigin } = settings
  if (verdictSecrets === null || extProcAddress === null) {
    throw new Error(
      'AGW_VERDICT_SECRET and AGW_EXT_PROC_ADDRESS are required: the secret shared by ext-proc and Envoy, and the address of ext-proc.',
    )
  }
  const bootstrap = renderBootstrap(settings, {
    envoy_admin_socket: options.envoyAdminSocket,
    ext_proc_addresses: extProcAddresses(settings, ''),
    access_log_address: settings.accessLogAddress,
    admin_socket: adminSocket,
    verdict_secret: verdictSecrets[0] ?? '',
    older_verdict_secrets: verdictSecrets.slice(1),
    echo_origin: echoOrigin,
    trusted_ca_file: options.trustedCa,
    heap_limit_bytes: heapLimit(options.envoyMemory),
  })
  if (options.output === undefined) process.stdout.write(bootstrap)
  else writeOwnFile(options.output, bootstrap)
}

function heapLimit(memory: EnvoyConfigOptions['envoyMemory']): number | null {
  if (memory === 'cgroup') return null
  return memory === undefined ? memoryLimits().envoy_bytes : envoyHeapBytes(memory)
}
