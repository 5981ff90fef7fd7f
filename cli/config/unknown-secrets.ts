import { randomUUID } from 'node:crypto'
import type { Environment } from '../../core/settings/settings.ts'

/** Replaces a secret that this process does not have. No secret contains it, since each process has its own. */
const UNKNOWN = `agw-not-set-${randomUUID()}`

/** Whether a value contains a secret that the environment lacks, so that it cannot be compared. */
export const isUnknownSecret = (value: unknown): boolean =>
  typeof value === 'string' && value.includes(UNKNOWN)

export interface PartialEnvironment {
  readonly env: Environment
  /** The variables that were asked for and are not set. */
  readonly missing: ReadonlySet<string>
}

/** An environment in which a variable that is not set has an unknown value, for commands that only compare. */
export function partialEnvironment(env: Environment): PartialEnvironment {
  const missing = new Set<string>()
  const get = (target: Environment, name: string | symbol): string | undefined => {
    if (typeof name !== 'string') return undefined
    if (target[name] === undefined) missing.add(name)
    return target[name] ?? UNKNOWN
  }
  return { env: new Proxy(env, { get }), missing }
}
