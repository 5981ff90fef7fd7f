import { compileToolGlob, matchesToolGlob } from '../../core/mcp/tool-glob.ts'
import type { Injection, Rule, ScopeSettings } from './api-types.ts'
import type { FixableEntry } from './fixes-of.ts'
import type { ScopeOption } from './parts/scope-fix.tsx'
import { ruleOptions } from './rule-options.ts'

/** How a scope can be changed for each refusal, the narrowest change first. Texts of the caller never become wildcards. */

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

const withRule = (words: string, rule: Rule): ScopeOption => ({
  words,
  patch: ({ rules }) => ({ rules: [...rules, rule] }),
})

export const ruleFixes = (method: string, path: string): readonly ScopeOption[] =>
  ruleOptions(method, path).map(({ words, rule }) => withRule(words, rule))

export const socketFixes = (path: string): readonly ScopeOption[] =>
  ruleOptions('GET', path)
    .slice(0, 2)
    .map(({ words, rule }) =>
      withRule(`WebSocket: ${words}`, { ...rule, upgrade: ['websocket'] } as Rule),
    )

export const BATCH_FIXES: readonly ScopeOption[] = [
  {
    words: 'Batches that cannot be read, whatever they contain',
    patch: ({ allow_batches }) => (allow_batches ? null : { allow_batches: true }),
  },
]

export function extendFixes(now_ms: number, reason: unknown): readonly ScopeOption[] {
  if (reason === 'scope_not_yet')
    return [{ words: 'From now on', patch: () => ({ not_before: null }) }]
  const until = (words: string, ms: number): ScopeOption => ({
    words,
    patch: () => ({ expires_at: new Date(now_ms + ms).toISOString() }),
  })
  return [
    until('For another hour', HOUR_MS),
    until('For another day', DAY_MS),
    until('For another 7 days', 7 * DAY_MS),
    { words: 'Without an end', patch: () => ({ expires_at: null }) },
  ]
}

/** A name with a star would allow other tools too. */
export const isToolName = (name: unknown): name is string =>
  typeof name === 'string' && name !== '' && !name.includes('*') && name.length <= 200

export function toolFixes({ data }: FixableEntry): readonly ScopeOption[] {
  const name = data['tool_name']
  if (!isToolName(name)) return []
  const matches = (glob: string): boolean => matchesToolGlob(compileToolGlob(glob), name)
  const isDenied = (glob: string): boolean =>
    matchesToolGlob(compileToolGlob(glob.toLowerCase()), name.toLowerCase())
  return [
    {
      words: `The tool ${name} only`,
      patch: ({ mcp_tools: { allow, deny } }) => {
        const isAllowed = allow.some(matches)
        if (isAllowed && !deny.some(isDenied)) return null
        return {
          mcp_tools: {
            allow: isAllowed ? allow : [...allow, name],
            deny: deny.filter((glob) => !isDenied(glob)),
          },
        }
      },
    },
  ]
}

/** What `deny` of a scope would no longer forbid apart from the tool itself. */
export const undeniedBy = (settings: readonly ScopeSettings[], name: string): readonly string[] =>
  settings.flatMap(({ mcp_tools: { deny } }) =>
    deny.filter(
      (glob) =>
        glob.includes('*') &&
        matchesToolGlob(compileToolGlob(glob.toLowerCase()), name.toLowerCase()),
    ),
  )

const injection = (settings: ScopeSettings, more: Partial<Injection>): Partial<ScopeSettings> => ({
  injection_detection: { ...settings.injection_detection, ...more },
})

export const trustFix = (hash: string | null, speaker: string | null): ScopeOption => ({
  words: 'Exactly this text',
  isReady: hash !== null,
  patch: (scope) => {
    const { trusted_texts = [] } = scope.injection_detection
    const trusted = speaker === null ? hash : `${hash}/${speaker}`
    if (hash === null || trusted === null || trusted_texts.includes(trusted)) return null
    return injection(scope, { trusted_texts: [...trusted_texts, trusted] })
  },
})

export const patternFix = (name: string): ScopeOption => ({
  words: `Every text with the pattern ${name}, in this scope`,
  patch: (scope) => {
    const { disabled_patterns } = scope.injection_detection
    return disabled_patterns.includes(name)
      ? null
      : injection(scope, { disabled_patterns: [...disabled_patterns, name] })
  },
})

export const customPatternFix = (pattern: string): ScopeOption => ({
  words: `Every text with your own pattern ${pattern}, in this scope`,
  patch: (scope) => {
    const { custom_patterns } = scope.injection_detection
    return custom_patterns.includes(pattern)
      ? injection(scope, { custom_patterns: custom_patterns.filter((one) => one !== pattern) })
      : null
  },
})

/** Round enough to be read, and not below what is needed. */
export function roundUp(value: number): number {
  const step = 10 ** Math.max(0, Math.floor(Math.log10(Math.max(1, value))) - 1)
  return Math.ceil(value / step) * step
}

/** @param peak the most calls of a minute that were seen */
export function limitFixes(limit: number, peak: number): readonly ScopeOption[] {
  const narrow = roundUp(Math.max(peak, limit + 1))
  return [narrow, narrow * 2, narrow * 5].map((wanted) => ({
    words: `${wanted.toLocaleString()} calls a minute`,
    limit: wanted,
    patch: ({ rate_limiting }) => {
      const { requests_per_minute } = rate_limiting
      if (requests_per_minute === null || requests_per_minute >= wanted) return null
      return { rate_limiting: { ...rate_limiting, requests_per_minute: wanted } }
    },
  }))
}

const MIB = 1_048_576
const bytes = (count: number): string =>
  count < MIB
    ? `${Math.ceil(count / 1024).toLocaleString()} KiB`
    : `${(count / MIB).toFixed(1)} MiB`

/** The limits of a scope for bodies; null is that of the gateway. */
export function sizeFixes(
  member: 'max_body_bytes' | 'max_response_bytes',
  limit: number,
  size: number | null,
): readonly ScopeOption[] {
  const kib = (count: number): number => Math.ceil(count / 1024) * 1024
  const narrow = kib(Math.max(size ?? 0, limit * 2))
  const raise = (wanted: number): ScopeOption => ({
    words: `Up to ${bytes(wanted)}`,
    patch: (scope) => {
      const now = scope[member]
      return now === null || now >= wanted ? null : { [member]: wanted }
    },
  })
  return [
    raise(narrow),
    raise(narrow * 4),
    {
      words: 'Up to the limit of the gateway',
      patch: (scope) => (scope[member] === null ? null : { [member]: null }),
    },
    ...(member === 'max_body_bytes'
      ? []
      : [
          {
            words: 'Any size: the end of large responses is not scanned',
            patch: ({ over_limit }: ScopeSettings) =>
              over_limit === 'pass_unscanned' ? null : { over_limit: 'pass_unscanned' as const },
          },
        ]),
  ]
}
