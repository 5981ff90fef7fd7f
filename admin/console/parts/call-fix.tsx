import type { Scope } from '../api-types.ts'
import type { FixableEntry, ScopeFixKind } from '../fixes-of.ts'
import { nearestRule } from '../nearest-rule.ts'
import {
  BATCH_FIXES,
  extendFixes,
  isToolName,
  ruleFixes,
  sizeFixes,
  socketFixes,
  toolFixes,
  undeniedBy,
} from '../scope-options.ts'
import { type Judged, judgedCall } from '../use-judged.ts'
import { RaiseLimit } from './raise-limit.tsx'
import { type FixedCall, ScopeFix, type ScopeOption } from './scope-fix.tsx'
import { TrustText } from './trust-text.tsx'

/** Fixes that change scopes. */
export function CallFix({
  kind,
  of,
  onClose,
}: {
  kind: ScopeFixKind
  of: Judged
  onClose: () => void
}) {
  const { entry, integration } = of
  const judged = judgedCall(of)
  if (integration === null || judged === null || entry.agent_id === null) return null
  const call: FixedCall = {
    agent_id: entry.agent_id,
    agent_name: entry.agent_name ?? entry.agent_id,
    integration_id: integration.integration_id,
    integration_name: integration.name,
    endpoint: entry.endpoint ?? '',
    ...judged,
  }
  const scopes = scopesToChange(kind, of, judged)
  const shared = { call, scopes, onClose }
  if (kind === 'limit') return <RaiseLimit entry={entry} {...shared} />
  if (kind === 'text') return <TrustText entry={entry} {...shared} />
  const { title, options } = planOf(kind, entry, judged)
  return (
    <ScopeFix title={title} options={options} isTried={canTry(kind, entry)} {...shared}>
      {kind === 'tool' && <AboutTool entry={entry} scopes={scopes} />}
      {kind === 'batch' && (
        <p class="notice warn">
          The gateway does not see which calls they contain; the rules then hold for those that it
          can read.
        </p>
      )}
    </ScopeFix>
  )
}

/** The log has the size of some refused requests, and of no response. */
const canTry = (kind: ScopeFixKind, { bytes_in }: FixableEntry): boolean =>
  kind !== 'response_size' && (kind !== 'body_size' || bytes_in !== null)

interface Plan {
  readonly title: string
  readonly options: readonly ScopeOption[]
}

function planOf(
  kind: Exclude<ScopeFixKind, 'limit' | 'text'>,
  entry: FixableEntry,
  { method, path }: { method: string; path: string },
): Plan {
  const limit = Number(entry.data['limit_bytes'])
  switch (kind) {
    case 'rule':
      return { title: 'Allow this call', options: ruleFixes(method, path) }
    case 'socket':
      return { title: 'Allow this WebSocket', options: socketFixes(path) }
    case 'batch':
      return { title: 'Allow batches that cannot be read', options: BATCH_FIXES }
    case 'extend':
      return {
        title: 'Extend the scope',
        options: extendFixes(Date.now(), entry.data['reason']),
      }
    case 'tool':
      return { title: 'Allow this tool', options: toolFixes(entry) }
    case 'body_size':
      return {
        title: 'Raise the limit of request bodies',
        options: sizeFixes('max_body_bytes', limit, entry.bytes_in),
      }
    case 'response_size':
      return {
        title: 'Raise the limit of scanned responses',
        options: sizeFixes('max_response_bytes', limit, null),
      }
  }
}

/** The strictest of all scopes that match a call decides, so all of them have to change; a rule is needed in one alone. */
function scopesToChange(
  kind: ScopeFixKind,
  { entry, scopes }: Judged,
  { method, path }: { method: string; path: string },
): readonly Scope[] {
  const all = scopes ?? []
  if (kind === 'extend')
    return all
      .filter(
        ({ name, expires_at, not_before }) =>
          name === entry.data['scope'] &&
          (expires_at === entry.data['expires_at'] || not_before === entry.data['not_before']),
      )
      .slice(0, 1)
  if (kind === 'rule' || kind === 'socket') {
    const own = all.filter(({ agent_id }) => agent_id !== null)
    const nearest = nearestRule(own, method, path)?.scope ?? own[0]
    return nearest === undefined ? [] : [nearest]
  }
  return all.filter(
    (scope) =>
      scope.scope_id === entry.scope_id ||
      nearestRule([scope], method, path)?.missing === 'nothing',
  )
}

function AboutTool({ entry, scopes }: { entry: FixableEntry; scopes: readonly Scope[] }) {
  const name = entry.data['tool_name']
  if (!isToolName(name)) return null
  const lifted = undeniedBy(scopes, name)
  return (
    <>
      <p>
        The agent has called the tool <code>{name}</code>.
      </p>
      {lifted.length > 0 && (
        <p class="notice warn">
          These patterns of the scope forbid it, and are removed for all other tools too:{' '}
          <code>{lifted.join(', ')}</code>
        </p>
      )}
    </>
  )
}
