import type { RedisClient } from '../../core/redis/run-script.ts'

export interface Durability {
  /** Messages; with any of these the service must not start. */
  readonly problems: readonly string[]
  readonly warnings: readonly string[]
}

/**
 * The store is the only copy of keys, kills and credentials: it must neither evict them nor forget them in a restart.
 * Managed services hide their configuration; there only a warning is possible.
 */
export async function checkDurability(redis: RedisClient): Promise<Durability> {
  const policy = await readConfig(redis, 'maxmemory-policy')
  const appendOnly = await readConfig(redis, 'appendonly')
  const problems: string[] = []
  const warnings: string[] = []
  if (policy === null)
    warnings.push(
      'The store does not report its maxmemory-policy. It must be noeviction, otherwise kills and keys can be lost.',
    )
  else if (policy !== 'noeviction')
    problems.push(
      `The store evicts keys (maxmemory-policy ${policy}). Set maxmemory-policy noeviction.`,
    )
  if (appendOnly === null)
    warnings.push(
      'The store does not report whether it writes an append-only file. Without one, a restart of the store can undo kills.',
    )
  else if (appendOnly !== 'yes')
    problems.push(
      'The store writes no append-only file, so a restart can undo kills. Set appendonly yes.',
    )
  return { problems, warnings }
}

async function readConfig(redis: RedisClient, name: string): Promise<string | null> {
  try {
    const answer: unknown = await redis.config('GET', name)
    return Array.isArray(answer) && typeof answer[1] === 'string' ? answer[1] : null
  } catch (error) {
    if (
      error instanceof Error &&
      /unknown command|NOPERM|not allowed|disabled/i.test(error.message)
    )
      return null
    throw error
  }
}
