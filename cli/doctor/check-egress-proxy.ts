import { classifyFailure } from '../../core/egress/classify-failure.ts'
import { egressProxyOf, type EgressProxySettings } from '../../core/egress/egress-proxy.ts'
import { openTunnel, ProxyRefused } from '../../core/egress/open-tunnel.ts'
import { failed, type CheckResult, ok, warning } from './check-result.ts'

/** What a proxy has to refuse: itself, a private network, and the metadata service of its cloud. */
const PRIVATE_TARGETS = [
  ['localhost', 443],
  ['10.0.0.1', 443],
  ['169.254.169.254', 80],
] as const
const LIMIT_MS = 5_000

/**
 * Whether the egress proxy responds and accepts user and password and, where names are resolved there alone, whether it refuses
 * private addresses.
 */
export async function checkEgressProxy(settings: EgressProxySettings): Promise<CheckResult[]> {
  const proxy = egressProxyOf(settings)
  if (proxy === null) return []
  const place = `${proxy.host}:${proxy.port}`
  const ask = async (host: string, port: number): Promise<number | string> => {
    try {
      const socket = await openTunnel(proxy, host, port, LIMIT_MS)
      socket.destroy()
      return 200
    } catch (error) {
      return error instanceof ProxyRefused ? error.status : classifyFailure(error)
    }
  }
  const targets = proxy.resolves ? PRIVATE_TARGETS : PRIVATE_TARGETS.slice(0, 1)
  const answers = await Promise.all(
    targets.map(async ([host, port]) => ({ to: `${host}:${port}`, answer: await ask(host, port) })),
  )
  if (answers.some(({ answer }) => answer === 407 || answer === 401))
    return [failed(CHECK, `${place} refuses the user and password`, 'Correct AGW_EGRESS_PROXY.')]
  if (answers.every(({ answer }) => typeof answer === 'string' && answer !== 'timeout'))
    return [
      failed(CHECK, `${place} does not respond (${answers[0]?.answer})`, 'Check AGW_EGRESS_PROXY.'),
    ]
  if (!proxy.resolves) return [ok(CHECK, `${place} responds`)]
  const found = answers.flatMap(({ to, answer }): CheckResult[] => {
    if (answer === 200) return [failed(CHECK, `${place} connects to ${to}`, REFUSE)]
    const isRefused = typeof answer === 'number' && answer >= 400 && answer < 500
    return isRefused
      ? []
      : [warning(CHECK, `${place} may connect to ${to}: it answers ${answer}, not 403`, REFUSE)]
  })
  return found.length > 0 ? found : [ok(CHECK, `${place} refuses private addresses`)]
}

const CHECK = 'egress proxy'
const REFUSE =
  'Names are not checked here (AGW_EGRESS_PROXY_RESOLVES), so the proxy must refuse private, loopback, link-local and metadata addresses.'
