import { REDIS_KEY_ROWS, REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { table } from './table.ts'

/** Every Redis key, from the catalogue. */
export const redisKeysPage = (): string => `# Redis keys

All keys share one hash tag, so that a script can use several of them on a Redis Cluster. Secrets are stored as hashes (keys,
tokens) or sealed (credentials, webhook URLs and secrets).

${table(
  ['key', 'type', 'content'],
  (Object.keys(REDIS_KEY_ROWS) as (keyof typeof REDIS_KEY_ROWS)[]).map((name) => {
    const { of, type, holds } = REDIS_KEY_ROWS[name]
    const key = REDIS_KEYS[name] as string | ((...parts: string[]) => string)
    const shown = typeof key === 'string' ? key : key(...of.map((part) => `<${part}>`))
    return [`\`${shown}\``, type, holds]
  }),
)}
`
