import type { CompiledIntegration, IntegrationTable } from './compile-integrations.ts'
import type { Target } from './parse-target.ts'

/**
 * The integration whose base URL is the longest that begins the target and ends on a segment boundary.
 * Walks at most as many steps as the target has segments, however many integrations there are.
 */
export function matchIntegration(
  table: IntegrationTable,
  target: Pick<Target, 'origin' | 'segments'>,
): CompiledIntegration | null {
  let node = table.get(target.origin)
  let found: CompiledIntegration | null = null
  for (let depth = 0; node !== undefined; depth++) {
    if (node.integration !== null) found = node.integration
    const segment = target.segments[depth]
    if (segment === undefined) break
    node = node.children.get(segment)
  }
  return found
}
