import { ENVOY_VERSIONS } from '../../../envoy/envoy-versions.ts'
import { type CheckResult, failed, warning } from '../check-result.ts'
import { at, messages, textAt } from './message.ts'
import type { EnvoyDump } from './read-envoy-dump.ts'

const GRACEFUL_CLOSE = 'envoy.reloadable_features.ext_proc_graceful_grpc_close'
const VERSION = ['node', 'user_agent_build_version', 'version'] as const
const VERSION_PARTS = ['major_number', 'minor_number'] as const
/** Of cached gRPC clients; the default is 50 s. */
const IDLE_MIN_S = 24 * 3_600

/** The two fields of the bootstrap without which Envoy resets streams or crashes, and the admin interface. */
export function checkBootstrap({ bootstrap }: EnvoyDump): CheckResult[] {
  const check = 'envoy bootstrap'
  const layers = messages(at(bootstrap, 'layered_runtime', 'layers'))
  const isGraceful =
    layers
      .map((layer) => at(layer, 'static_layer', GRACEFUL_CLOSE))
      .filter((value) => value !== undefined)
      .at(-1) === true
  const idle_s = Number.parseFloat(
    textAt(bootstrap, 'grpc_async_client_manager_config', 'max_cached_entry_idle_duration') || '50',
  )
  const found: CheckResult[] = []
  if (!isGraceful)
    found.push(
      failed(
        check,
        'Envoy resets every ext_proc stream; after about 1,000 of them all calls in flight are cut',
        `Set ${GRACEFUL_CLOSE}: true in a static runtime layer.`,
      ),
    )
  if (idle_s < IDLE_MIN_S)
    found.push(
      failed(
        check,
        isGraceful
          ? 'Envoy crashes when a stream ends after a minute without other calls'
          : 'gRPC clients are dropped while their streams are open',
        'Set grpc_async_client_manager_config: { max_cached_entry_idle_duration: 31536000s }.',
      ),
    )
  const version = VERSION_PARTS.map((part) => String(at(bootstrap, ...VERSION, part))).join('.')
  // An Envoy of somebody else's build may not name its version.
  if (/^\d+\.\d+$/.test(version) && !ENVOY_VERSIONS.includes(version))
    found.push(
      failed(
        check,
        `Envoy ${version} is not supported: the configuration relies on what each version does`,
        `Use Envoy ${ENVOY_VERSIONS.join(' or ')}.`,
      ),
    )
  const patch = Number(at(bootstrap, ...VERSION, 'patch') ?? 0)
  if ((version === '1.38' && patch >= 4) || (version === '1.39' && patch <= 1))
    found.push(
      warning(
        check,
        `Envoy ${version}.${patch} hangs in the handshake of each WebSocket that a rule allows`,
        'Use Envoy 1.39.2 or newer, or allow no upgrade in rules.',
      ),
    )
  const admin = at(bootstrap, 'admin', 'address', 'socket_address')
  if (admin !== undefined)
    found.push(
      warning(
        check,
        'the admin interface is a TCP port; its /config_dump shows the verdict secret, and other paths stop Envoy',
        'Use a Unix socket (admin.address.pipe), or restrict access to the port.',
      ),
    )
  return found
}
