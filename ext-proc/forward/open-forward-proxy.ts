import { loadAuthority } from '../../core/certificate/load-authority.ts'
import type { Authority } from '../../core/certificate/open-authority.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import type { KeyRing } from '../../core/seal.ts'
import type { DecisionServices } from '../call/decide-call.ts'
import type { CallStreamParts } from '../call/call-stream.ts'
import type { ForwardHop } from '../envoy/start-server.ts'
import type { HeldCalls } from '../kill/held-calls.ts'
import type { EdgeSettings } from '../process/read-edge-settings.ts'
import { decideEntry } from './decide-entry.ts'
import { decideInside } from './decide-inside.ts'
import { SecretService } from './secret-service.ts'
import { tunnelSeal } from './tunnel-seal.ts'

export interface ForwardProxy {
  readonly secrets: SecretService
  readonly decide: Readonly<Record<ForwardHop, CallStreamParts['decide']>>
  stop(): void
}

interface ForwardParts {
  readonly settings: EdgeSettings
  readonly services: DecisionServices
  readonly redis: RedisClient
  readonly held: HeldCalls
  readonly ring: KeyRing
  readonly log: Record<'warn' | 'error', (data: object, message: string) => void>
}

/** How often certificates are looked at that end soon. */
const RENEW_INTERVAL_MS = 3_600_000

/** What the calls of the forward proxy are decided by; null where it is off. */
export function openForwardProxy(parts: ForwardParts): ForwardProxy | null {
  const { settings, services, held, log } = parts
  if (settings.forwardPort === null) return null
  const secrets = new SecretService({ authority: keptAuthority(parts), nowMs: Date.now, log })
  const seal = tunnelSeal(settings.verdictSecrets ?? [settings.verdictSecret])
  const inside = { ...services, seal }
  const entry = {
    ...inside,
    held,
    settings: {
      ...services.settings,
      tunnels_per_agent: settings.forwardTunnelsPerAgent,
      connects_per_minute: settings.forwardConnectsPerMinute,
      blind_hosts: new Set(settings.forwardBlindHosts.map((host) => host.toLowerCase())),
    },
  }
  const renewing = setInterval(() => {
    secrets.renew().catch((error: unknown) => {
      log.error({ error: String(error) }, 'certificates could not be renewed')
    })
  }, RENEW_INTERVAL_MS)
  renewing.unref()
  return {
    secrets,
    decide: {
      entry: (headers, io, record) => decideEntry(entry, headers, io, record),
      https: (headers, io, record) => decideInside(inside, 'https', headers, io, record),
      http: (headers, io, record) => decideInside(inside, 'http', headers, io, record),
    },
    stop: () => {
      clearInterval(renewing)
      secrets.stop()
    },
  }
}

/** Read when it is first needed, and again until it is there: the admin service makes it at its first start. */
function keptAuthority({ settings, redis, ring }: ForwardParts): () => Promise<Authority> {
  let reading: Promise<Authority> | null = null
  const read = async (): Promise<Authority> => {
    const authority = await loadAuthority(redis, ring, settings)
    if (authority === null) throw new Error('the store has no CA for the forward proxy yet')
    return authority
  }
  return () => {
    reading ??= read().catch((error: unknown) => {
      reading = null
      throw error
    })
    return reading
  }
}
