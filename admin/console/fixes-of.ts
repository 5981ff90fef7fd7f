import type { Reason } from '../../core/catalogue/reasons.ts'
import type { ActivityEntry, Role } from './api-types.ts'

/** What of an entry decides how it can be fixed; the policy tester has the same of a call that was not made. */
export type FixableEntry = Pick<
  ActivityEntry,
  | 'event'
  | 'reason'
  | 'status'
  | 'data'
  | 'agent_id'
  | 'agent_name'
  | 'integration_id'
  | 'scope_id'
  | 'method'
  | 'endpoint'
  | 'bytes_in'
>

interface FixRow {
  readonly label: string
  readonly role: Role
  /** "Only an admin can …" */
  readonly to: string
}

const admin = (label: string, to: string): FixRow => ({ label, role: 'admin', to })

/** Fixes that change the scopes of the agent. */
export const SCOPE_FIXES = {
  rule: admin('Allow this …', 'allow this call'),
  batch: admin('Allow such batches …', 'allow such batches'),
  extend: admin('Extend the scope …', 'extend the scope'),
  socket: admin('Allow this WebSocket …', 'allow this WebSocket'),
  tool: admin('Allow this tool …', 'allow this tool'),
  text: admin('Not an attack …', 'trust this text'),
  limit: admin('Raise the limit …', 'raise the limit'),
  body_size: admin('Raise the limit …', 'raise the limit'),
  response_size: admin('Raise the limit …', 'raise the limit'),
} as const satisfies Record<string, FixRow>
export type ScopeFixKind = keyof typeof SCOPE_FIXES

/** Fixes that change something else. */
export const OTHER_FIXES = {
  api: admin('Add this API …', 'add this API'),
  host: admin('Allow this host …', 'allow this host'),
  reactivate: admin('Reactivate …', 'reactivate this agent'),
  unlock: admin('Lift the lock …', 'lift the lock'),
  connect: admin('Connect …', 'connect it'),
  key: admin('Create a key …', 'create a key'),
} as const satisfies Record<string, FixRow>
export type OtherFixKind = keyof typeof OTHER_FIXES

/** Where it can be judged or changed. */
export const FIX_LINKS = {
  request: 'Open the request',
  integration: 'Open the integration',
} as const satisfies Record<string, string>
export type FixLinkKind = keyof typeof FIX_LINKS

export type FixKind = ScopeFixKind | OtherFixKind | FixLinkKind
export const isScopeFix = (kind: FixKind): kind is ScopeFixKind => Object.hasOwn(SCOPE_FIXES, kind)
export const isLink = (kind: FixKind): kind is FixLinkKind => Object.hasOwn(FIX_LINKS, kind)

/** The caller has to change something; there is nothing for an operator to allow. */
const BY_CALLER = (): readonly FixKind[] => []
const always =
  (...kinds: readonly FixKind[]) =>
  (): readonly FixKind[] =>
    kinds

/** By reason; a new one has a row, or it does not compile. */
const BY_REASON: Readonly<Record<Reason, (entry: FixableEntry) => readonly FixKind[]>> = {
  invalid_target_url: BY_CALLER,
  ambiguous_request: BY_CALLER,
  bad_request: BY_CALLER,
  upgrade_not_supported: ({ status }) => (status === 426 ? ['socket'] : []),
  loop_detected: always('integration'),
  integration_not_found: always('api', 'host'),
  oauth_not_supported: always('key'),
  ambiguous_target: BY_CALLER,
  authentication_required: always('key'),
  invalid_api_key: always('key'),
  key_not_allowed: always('key'),
  agent_id_required: BY_CALLER,
  agent_not_found: BY_CALLER,
  agent_mismatch: always('key'),
  agent_killed: always('reactivate'),
  locked: always('unlock'),
  permission_denied: ofPermission,
  rate_limit_exceeded: always('limit'),
  inspection_busy: BY_CALLER,
  mcp_tool_blocked: ({ data }) => (data['reason'] === 'tool_name_invalid' ? [] : ['tool']),
  request_too_large: always('body_size'),
  response_too_large: always('response_size'),
  credential_echoed: always('integration'),
  unsupported_content_encoding: BY_CALLER,
  security_block: always('text'),
  approval_required: always('request'),
  approval_denied: always('request'),
  approval_expired: always('request'),
  approvals_busy: always('request'),
  credential_unavailable: always('integration'),
  connection_required: always('connect'),
  misdirected_request: BY_CALLER,
  tunnel_limit_exceeded: BY_CALLER,
  upstream_unreachable: always('integration'),
  upstream_reset: always('integration'),
  redirect_refused: always('integration'),
  upstream_timeout: always('integration'),
  request_timeout: BY_CALLER,
  headers_too_large: BY_CALLER,
  gateway_unavailable: BY_CALLER,
}

function ofPermission({ data }: FixableEntry): readonly FixKind[] {
  if (data['batch'] === 'unread') return ['batch']
  // What a batch does at another API cannot be allowed in the scope of this one.
  if (data['batch'] === 'elsewhere') return []
  return data['reason'] === 'scope_expired' || data['reason'] === 'scope_not_yet'
    ? ['extend']
    : ['rule']
}

/** What can be done about entries that report no refusal. */
const BY_EVENT: Readonly<Partial<Record<ActivityEntry['event'], readonly FixKind[]>>> = {
  agent_killed: ['reactivate'],
  locked: ['unlock'],
  injection_detected: ['text'],
  access_requested: ['request'],
}

/** The fixes of an entry, the one that fits best first. */
export function fixesOf(entry: FixableEntry): readonly FixKind[] {
  const reason = entry.reason ?? ''
  return Object.hasOwn(BY_REASON, reason)
    ? BY_REASON[reason as Reason](entry)
    : (BY_EVENT[entry.event] ?? [])
}
