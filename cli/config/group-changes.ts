import { BULK_AGENTS } from '../../admin/agents/agent-schemas.ts'
import { BULK_LIMIT } from '../../admin/resources/bulk-limit.ts'
import { BULK_SCOPES } from '../../admin/scopes/scope-schemas.ts'
import type { ConfigChange } from './plan-changes.ts'
import type { Section } from './section-resources.ts'

/** Sections whose resources can be created several at a time. */
export const BULK: Partial<Record<Section, { readonly path: string }>> = {
  agents: BULK_AGENTS,
  scopes: BULK_SCOPES,
}

/** Half of what the admin API accepts: generated ids are added. */
const GROUP_LIMIT_BYTES = 1_048_576

/** Changes that one request makes. The order stays; only creations of one section share a request. */
export function groupChanges(
  changes: readonly ConfigChange[],
): readonly (readonly ConfigChange[])[] {
  const groups: ConfigChange[][] = []
  let bytes = 0
  for (const change of changes) {
    const last = groups.at(-1)
    const size = sizeOf(change)
    if (last !== undefined && canJoin(change, last) && bytes + size <= GROUP_LIMIT_BYTES) {
      last.push(change)
      bytes += size
    } else {
      groups.push([change])
      bytes = size
    }
  }
  return groups
}

function canJoin(change: ConfigChange, [first, ...others]: readonly ConfigChange[]): boolean {
  if (change.action !== 'create' || first?.action !== 'create') return false
  const { kind } = first.entry
  return change.entry.kind === kind && BULK[kind] !== undefined && others.length + 1 < BULK_LIMIT
}

const sizeOf = (change: ConfigChange): number =>
  change.action === 'create' ? Buffer.byteLength(JSON.stringify(change.entry.wanted)) : 0
