import type { Integration } from '../../core/catalogue/model.ts'
import { compileIntegrations } from '../../core/decision/compile-integrations.ts'
import { matchIntegration } from '../../core/decision/match-integration.ts'
import { parsePathPattern } from '../../core/decision/path-pattern.ts'
import { parseTarget } from '../../core/request/parse-target.ts'

/** The integration that has the URL of a request for access; null if there is none, or it is not clear which. */
export function coveringIntegration(
  texts: readonly string[],
  url: string,
): {
  readonly integration: Integration
  readonly text: string
  /** A pattern for the path. */
  readonly path: string
  readonly origin: string
} | null {
  const parsed = parseTarget(`/${url}`)
  if (!parsed.ok) return null
  const { target } = parsed
  const all = texts.map((text) => JSON.parse(text) as Integration)
  const { integration: found, is_ambiguous } = matchIntegration(compileIntegrations(all), target)
  // A host that an integration lists has its own rules.
  if (found === null || is_ambiguous || found.listing !== null) return null
  const text = texts[all.indexOf(found.integration)]
  const { length } = found.base.segments
  const path = `/${target.raw_path
    .split('/')
    .slice(length + 1)
    .join('/')}`.replaceAll('*', '%2A')
  const pattern = parsePathPattern(path)
  // Exactly the path that was asked for.
  const [literals, ...others] = typeof pattern === 'string' ? [] : pattern.blocks
  const isExact =
    others.length === 0 &&
    JSON.stringify(literals) === JSON.stringify(target.segments.slice(length))
  const { origin } = target
  return text !== undefined && isExact
    ? { integration: found.integration, text, path, origin }
    : null
}
