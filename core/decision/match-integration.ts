import {
  type CompiledIntegration,
  type IntegrationNode,
  type IntegrationTable,
  listedIntegration,
  type OriginIntegrations,
} from './compile-integrations.ts'
import { foldSegment, isFolded } from '../request/fold-segments.ts'
import type { Target } from '../request/parse-target.ts'

export interface IntegrationMatch {
  /** The integration whose base URL is the longest prefix of the target on a segment boundary. */
  readonly integration: CompiledIntegration | null
  /**
   * Whether the target would belong to another integration with case folded, encoded slashes split or empty segments dropped.
   * Then it is not clear whose credential and scopes apply.
   */
  readonly is_ambiguous: boolean
}

type MatchedTarget = Pick<
  Target,
  'scheme' | 'host' | 'port' | 'origin' | 'segments' | 'split_readings'
>

const NO_MATCH: IntegrationMatch = { integration: null, is_ambiguous: false }

/** Takes at most one step per segment of the target, however many integrations there are. */
export function matchIntegration(table: IntegrationTable, target: MatchedTarget): IntegrationMatch {
  const there = table.get(target.origin)
  if (there === undefined) {
    const listed = listedIntegration(table, target)
    return listed === null ? NO_MATCH : { integration: listed, is_ambiguous: false }
  }
  const integration = deepest(there.written, target.segments, asWritten)[0] ?? null
  return { integration, is_ambiguous: isAmbiguous(there, target, integration) }
}

function isAmbiguous(
  { folded, depth, is_folded }: OriginIntegrations,
  { segments, split_readings }: MatchedTarget,
  written: CompiledIntegration | null,
): boolean {
  if (is_folded && split_readings.length === 0 && isReadAsWritten(segments, depth)) return false
  const readings = [segments, ...split_readings.map((reading) => reading.flat())]
  return readings.some((reading) => {
    const found = deepest(folded, reading, foldSegment)
    return written === null ? found.length > 0 : !found.includes(written)
  })
}

/** Whether an upstream that ignores case and empty segments reads the first segments as they are written. */
function isReadAsWritten(segments: readonly string[], depth: number): boolean {
  for (let i = 0; i < depth && i < segments.length; i++) {
    const segment = segments[i] ?? ''
    if (segment === '' || !isFolded(segment)) return false
  }
  return true
}

const NOBODY: readonly CompiledIntegration[] = []
const asWritten = (segment: string): string => segment

/** The integrations with the longest matching base URL; segments that `read` makes empty do not count. */
function deepest(
  root: IntegrationNode,
  segments: readonly string[],
  read: (segment: string) => string,
): readonly CompiledIntegration[] {
  let found = root.integrations.length > 0 ? root.integrations : NOBODY
  let node: IntegrationNode | undefined = root
  for (const segment of segments) {
    const name = read(segment)
    if (name === '' && read !== asWritten) continue
    node = node.children.get(name)
    if (node === undefined) break
    if (node.integrations.length > 0) found = node.integrations
  }
  return found
}
