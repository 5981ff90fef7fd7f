import { closedHosts } from '../../core/decision/unlisted-hosts.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import type { KeyRing } from '../../core/keys/seal.ts'
import type { DecisionServices } from '../call/decide-call.ts'
import type { CallStreamParts } from '../call/call-stream.ts'
import type { ForwardHop } from '../envoy/start-server.ts'
import type { CallsInFlight } from '../kill/calls-in-flight.ts'
import type { EdgeSettings } from '../process/read-edge-settings.ts'
import { decideEntry } from './decide-entry.ts'
import { decideInside } from './decide-inside.ts'
import { keptAuthority } from './kept-authority.ts'
import { SecretService } from './secret-service.ts'
import { tunnelSeal } from './tunnel-seal.ts'

export interface ForwardProxy {
  readonly secrets: SecretService
  readonly decide: Readonly<Record<ForwardHop, CallStreamParts['decide']>>
  /** Reads the CA again. When it resolves, no certificate of another one is presented any more; it never rejects. */
  readonly replaceAuthority: () => Promise<void>
  /** The same if the CA has been replaced; it never rejects. */
  readonly catchUpAuthority: () => Promise<void>
  /** Null before a certificate was issued. */
  readonly authorityFingerprint: () => string | null
  stop(): void
}

interface ForwardParts {
  readonly settings: EdgeSettings
  readonly services: DecisionServices
  readonly redis: RedisClient
  readonly inFlight: CallsInFlight
  readonly ring: KeyRing
  readonly log: Record<'warn' | 'error', (data: object, message: string) => void>
}

/** How often certificates are looked at that end soon. */
const RENEW_INTERVAL_MS = 3_600_000
/** How often the CA is read again. Clients that trust only the new one fail until then. */
const AUTHORITY_INTERVAL_MS = 2_000

/** What the calls of the forward proxy are decided by; null where it is off. */
export function openForwardProxy(parts: ForwardParts): ForwardProxy | null {
  const { settings, services, inFlight, log } = parts
  if (settings.forwardPort === null) return null
  const authority = keptAuthority(parts.redis, parts.ring, settings)
  const secrets = new SecretService({ authority: authority.current, nowMs: Date.now, log })
  const seal = tunnelSeal(settings.verdictSecrets ?? [settings.verdictSecret])
  const blind = settings.forwardBlindHosts.map((host) => host.toLowerCase())
  const closed_hosts = closedHosts(blind, services.settings.gateway.proxy_url)
  const inside = { ...services, seal, closed_hosts }
  const entry = {
    ...inside,
    inFlight,
    settings: {
      ...services.settings,
      tunnels_per_agent: settings.forwardTunnelsPerAgent,
      connects_per_minute: settings.forwardConnectsPerMinute,
      blind_hosts: new Set(blind),
    },
  }
  const stopRenewing = repeat(RENEW_INTERVAL_MS, () => secrets.renew(), {
    failed: (error) => log.error({ error }, 'certificates could not be renewed'),
  })
  const catchUp = async (): Promise<void> => {
    if (await authority.isReplaced()) await secrets.reissue()
  }
  const couldNotRead = (error: unknown): void =>
    log.warn({ error }, 'the CA of the forward proxy could not be read')
  const stopReading = repeat(AUTHORITY_INTERVAL_MS, catchUp, { failed: couldNotRead })
  return {
    secrets,
    decide: {
      entry: (headers, io, record) => decideEntry(entry, headers, io, record),
      https: (headers, io, record) => decideInside(inside, 'https', headers, io, record),
      http: (headers, io, record) => decideInside(inside, 'http', headers, io, record),
    },
    catchUpAuthority: () => catchUp().catch(couldNotRead),
    authorityFingerprint: authority.fingerprint,
    replaceAuthority: async () => {
      authority.forget()
      await secrets.reissue().catch((error: unknown) => {
        log.error({ error: String(error) }, 'the new CA of the forward proxy cannot be used')
        secrets.withdraw()
      })
      await secrets.taken()
    },
    stop: () => {
      stopRenewing()
      stopReading()
      secrets.stop()
    },
  }
}

/** One run at a time. A problem that lasts is reported once. */
function repeat(
  interval_ms: number,
  work: () => Promise<void>,
  { failed }: { readonly failed: (error: string) => void },
): () => void {
  let isRunning = false
  let reported = ''
  const run = async (): Promise<void> => {
    if (isRunning) return
    isRunning = true
    const problem = await work().then(() => '', String)
    if (problem !== '' && problem !== reported) failed(problem)
    reported = problem
    isRunning = false
  }
  const timer = setInterval(() => void run(), interval_ms)
  timer.unref()
  return () => clearInterval(timer)
}
