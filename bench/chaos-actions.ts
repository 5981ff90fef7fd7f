import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { fromRoot } from '../core/system/root.ts'
import { SeededRandom } from '../test/kit/seeded-random.ts'
import type { SharedStack } from '../test/kit/shared-stack.ts'
import type { KitRelay, RelayMode } from '../test/kit/start-relay.ts'
import type { KitSentinels } from '../test/kit/start-sentinels.ts'
import type { ChildRole } from '../test/kit/start-stack.ts'
import { until } from '../test/kit/until.ts'

const STOP_MAX_MS = 4_000
const ACTIONS = ['kill', 'kill', 'stop', 'restart', 'failover'] as const
const ROLES = ['ext-proc', 'ext-proc', 'access-log', 'admin', 'envoy'] as const
const RELAYED_ACTIONS = [...ACTIONS.slice(0, -1), 'cut', 'cut'] as const
const RELAYED_ROLES = [...ROLES, 'valkey', 'second-admin'] as const
const CUTS: readonly RelayMode[] = ['closed', 'silent', 'no_answers', 'no_messages']

/** A store behind relays, and a second admin service. */
export interface RelayedParts {
  readonly relays: readonly KitRelay[]
  readonly restart: Readonly<Record<'valkey' | 'second-admin', () => Promise<void>>>
  readonly pid: Readonly<Record<'valkey' | 'second-admin', () => number>>
}

interface ChaosChoice {
  readonly seed: number
  /** Names of actions and of roles; all of a kind of which none is named. */
  readonly only: readonly string[]
}

/** Returns what does the next thing at random, resolves when it is done, and says what it was. */
export function chaosActions(
  stack: SharedStack,
  {
    sentinels,
    relayed,
  }: { readonly sentinels: KitSentinels | null; readonly relayed: RelayedParts | null },
  { seed, only }: ChaosChoice,
): () => Promise<string> {
  const random = new SeededRandom(seed)
  const namedOf = <T extends string>(all: readonly T[]): readonly T[] => {
    const named = all.filter((one) => only.includes(one))
    return named.length === 0 ? all : named
  }
  const oneOf = <T>(some: readonly T[]): T => some[random.below(some.length)] as T
  const roles = namedOf<ChildRole | 'second-admin'>(relayed === null ? ROLES : RELAYED_ROLES)
  let round = 0
  const signal = async (
    role: ChildRole | 'second-admin',
    name: NodeJS.Signals,
  ): Promise<number> => {
    if (role === 'second-admin' || (role === 'valkey' && relayed !== null)) {
      const pid = relayed?.pid[role]() ?? 0
      process.kill(pid, name)
      return pid
    }
    // One that was killed a moment ago may not have been started again.
    const pids = await until(`a process of ${role}`, async () => {
      const found = await stack.pids(role)
      return found.length > 0 && found
    })
    const pid = oneOf(pids)
    process.kill(pid, name)
    return pid
  }
  const kill = async (role: ChildRole | 'second-admin'): Promise<string> => {
    if (relayed !== null && (role === 'valkey' || role === 'second-admin'))
      await relayed.restart[role]()
    else await signal(role, 'SIGKILL')
    return `kill -9 of ${role}`
  }
  const stop = async (role: ChildRole | 'second-admin'): Promise<string> => {
    const pid = await signal(role, 'SIGSTOP')
    await wait(500 + random.below(STOP_MAX_MS))
    try {
      process.kill(pid, 'SIGCONT')
    } catch {
      // The watchdog has ended it.
    }
    return `stop of ${role}`
  }
  const restart = async (): Promise<string> => {
    const child = spawn(process.execPath, [fromRoot('dist', 'cli', 'bin.js'), 'restart'], {
      env: { PATH: process.env['PATH'], AGW_DATA_DIR: stack.dataDir },
      stdio: 'ignore',
    })
    const [code] = (await once(child, 'exit')) as [number | null]
    return code === 0 ? 'agw restart' : 'agw restart that was refused'
  }
  const failOver = async (): Promise<string> => {
    if (sentinels === null) return await kill('valkey')
    const failure = await sentinels.failure(round++)
    await failure.begin()
    const hasPrimary = (limit_ms: number): Promise<unknown> =>
      until('the store has a primary', () => failure.isOver().catch(() => false), limit_ms)
    // Sentinels give a handover up that takes too long, as on a busy machine, and only repeat one that a failure began.
    await hasPrimary(30_000).catch(async () => {
      if (failure.name === 'SENTINEL FAILOVER') await failure.begin()
      await hasPrimary(120_000)
    })
    await failure.repair()
    await until('the store is whole', () => sentinels.isWhole().catch(() => false), 120_000)
    return failure.name
  }
  const cut = async (): Promise<string> => {
    const relay = oneOf(relayed?.relays ?? [])
    const mode = oneOf(CUTS)
    relay.set(mode)
    await wait(random.below(STOP_MAX_MS))
    relay.set('passes')
    return `store: ${mode}`
  }
  const actions = {
    cut,
    kill: () => kill(oneOf(roles)),
    stop: () => stop(oneOf(roles)),
    restart,
    failover: failOver,
  }
  const names = namedOf<keyof typeof actions>(relayed === null ? ACTIONS : RELAYED_ACTIONS)
  return () => actions[oneOf(names)]()
}
