import type { TokenNarrowing } from './token-client.ts'

export const PERMISSION_LEVELS = ['read', 'write', 'admin'] as const

/** What both allow; a list or a set of permissions that one of them leaves out is that of the other. */
export function narrowest(
  one: TokenNarrowing | null,
  other: TokenNarrowing | null,
): TokenNarrowing | null {
  if (one === null || other === null) return one ?? other
  const repositories = both(one.repositories, other.repositories, (a, b) =>
    a.filter((name) => b.includes(name)),
  )
  const permissions = both(one.permissions, other.permissions, (a, b) =>
    Object.fromEntries(
      Object.entries(a).flatMap(([name, level]) => {
        const second = b[name]
        return second === undefined ? [] : [[name, lower(level, second)] as const]
      }),
    ),
  )
  return {
    ...(repositories === undefined ? {} : { repositories }),
    ...(permissions === undefined ? {} : { permissions }),
  }
}

const both = <T>(one: T | undefined, other: T | undefined, join: (one: T, other: T) => T) =>
  one === undefined || other === undefined ? (one ?? other) : join(one, other)

const lower = (one: string, other: string): string =>
  PERMISSION_LEVELS.find((level) => level === one || level === other) ?? one
