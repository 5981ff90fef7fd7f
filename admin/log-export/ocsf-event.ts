import type { ActivityEntry } from '../../core/activity/activity-entry.ts'
import { EVENTS, type EventName } from '../../core/catalogue/events.ts'
import { version } from '../../core/system/version.ts'
import { activityView } from '../activity/activity-view.ts'
import type { ExportedEntry } from './exported-entry.ts'
import type { ExportGap } from './log-target.ts'

/** Of the Open Cybersecurity Schema Framework (schema.ocsf.io). */
const OCSF_VERSION = '1.4.0'

/** Severities of OCSF. */
const [INFORMATIONAL, LOW, MEDIUM, HIGH, CRITICAL] = [1, 2, 3, 4, 5] as const
type Severity = typeof INFORMATIONAL | typeof LOW | typeof MEDIUM | typeof HIGH | typeof CRITICAL

const CLASSES = {
  base: { class_uid: 0, class_name: 'Base Event', category_uid: 0 },
  finding: { class_uid: 2004, class_name: 'Detection Finding', category_uid: 2 },
  account: { class_uid: 3001, class_name: 'Account Change', category_uid: 3 },
  call: { class_uid: 6003, class_name: 'API Activity', category_uid: 6 },
} as const

/** A finding of the scanner has the severity of its pattern. */
const KINDS: Readonly<Record<EventName, readonly [keyof typeof CLASSES, Severity]>> = {
  request_allowed: ['call', INFORMATIONAL],
  request_rejected: ['call', LOW],
  permission_denied: ['call', LOW],
  rate_limit_exceeded: ['call', LOW],
  mcp_tool_blocked: ['call', MEDIUM],
  admin_action: ['call', INFORMATIONAL],
  injection_blocked: ['finding', HIGH],
  injection_detected: ['finding', HIGH],
  anomaly_detected: ['finding', HIGH],
  changes_lost: ['finding', CRITICAL],
  access_requested: ['call', LOW],
  access_decided: ['call', LOW],
  locked: ['call', HIGH],
  unlocked: ['call', LOW],
  connection_changed: ['account', LOW],
  agent_killed: ['account', HIGH],
  agent_reactivated: ['account', LOW],
}
const PATTERN_SEVERITIES: Readonly<Record<string, Severity>> = {
  critical: CRITICAL,
  high: HIGH,
  medium: MEDIUM,
}

const OTHER = 99
const [CREATE, READ, UPDATE, DELETE] = [1, 2, 3, 4] as const
const METHODS: Readonly<Record<string, number>> = {
  GET: READ,
  HEAD: READ,
  OPTIONS: READ,
  POST: CREATE,
  PUT: UPDATE,
  PATCH: UPDATE,
  DELETE,
}
const VERBS: Readonly<Record<string, number>> = {
  create: CREATE,
  read: READ,
  update: UPDATE,
  delete: DELETE,
}
const [ENABLE, DISABLE] = [2, 5] as const
/** OCSF 1.4 knows no other names; `api.operation` has each. */
const NAMED_METHODS = ['CONNECT', 'DELETE', 'GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'TRACE']

/** `action_id` and `disposition_id` of the profile security_control. */
const OUTCOMES = {
  allowed: { action_id: 1, disposition_id: 1, status_id: 1, status: 'Success' },
  blocked: { action_id: 2, disposition_id: 2, status_id: 2, status: 'Failure' },
  terminated: { action_id: 2, disposition_id: 6, status_id: 2, status: 'Failure' },
} as const

const [ADMIN, SYSTEM] = [2, 3] as const
const RULE = 1
const BEHAVIORAL = 2

/** Also the source of entries that the gateway writes on its own. */
const PRODUCT = 'Agent Access Gateway'

export interface OcsfEvent {
  readonly severity_id: Severity
  readonly time: number
  readonly [member: string]: unknown
}

interface Source {
  readonly organization_id: string
  readonly installation_id: string
}

/** A log entry as an event of OCSF. The members of the entry for which OCSF has no place are in `unmapped`. */
export function ocsfEvent({ entry, text, at_ms }: ExportedEntry, source: Source): OcsfEvent {
  if (entry === null) {
    const message = 'An entry of the activity log cannot be read.'
    return baseEvent('unreadable', message, at_ms, LOW, { text }, source)
  }
  const [kind, usual] = KINDS[entry.event]
  const severity_id = PATTERN_SEVERITIES[String(entry.data['severity'])] ?? usual
  const activity_id = activityOf(kind, entry)
  return {
    ...classOf(kind, activity_id),
    time: at_ms,
    severity_id,
    message: messageOf(entry),
    metadata: {
      ...metadataOf(entry.event, source),
      uid: entry.id,
      original_time: entry.timestamp,
      ...(entry.request_id === null ? {} : { correlation_uid: entry.request_id }),
      ...(entry.decision === null ? {} : { profiles: ['security_control'] }),
    },
    ...(entry.decision === null ? {} : OUTCOMES[entry.decision]),
    ...(entry.reason === null ? {} : { status_detail: entry.reason }),
    ...membersOf[kind](entry),
    unmapped: unmappedOf(entry),
  }
}

/** Entries that are missing from the export. */
export const ocsfGap = ({ missing, at_ms }: ExportGap, source: Source): OcsfEvent =>
  baseEvent(
    'gap',
    `${missing} entries were removed from the store before they could be exported.`,
    at_ms,
    HIGH,
    { missing },
    source,
  )

const baseEvent = (
  event_code: string,
  message: string,
  time: number,
  severity_id: Severity,
  unmapped: object,
  source: Source,
): OcsfEvent => ({
  ...classOf('base', OTHER),
  time,
  severity_id,
  message,
  metadata: metadataOf(event_code, source),
  unmapped,
})

const classOf = (kind: keyof typeof CLASSES, activity_id: number): object => ({
  ...CLASSES[kind],
  activity_id,
  type_uid: CLASSES[kind].class_uid * 100 + activity_id,
})

const metadataOf = (event_code: string, source: Source): object => ({
  version: OCSF_VERSION,
  product: { name: PRODUCT, vendor_name: PRODUCT, version },
  log_name: 'activity',
  log_provider: source.installation_id,
  tenant_uid: source.organization_id,
  event_code,
})

function activityOf(kind: keyof typeof CLASSES, { event, method, data }: ActivityEntry): number {
  if (kind === 'finding') return CREATE
  if (kind === 'account') return event === 'agent_killed' ? DISABLE : ENABLE
  if (event === 'admin_action') return VERBS[String(data['action']).split('.')[1] ?? ''] ?? OTHER
  return METHODS[method ?? ''] ?? OTHER
}

function messageOf({ event, method, endpoint, data }: ActivityEntry): string {
  const what =
    event === 'admin_action'
      ? `${String(data['action'])} ${String(data['target'])}`
      : [method, endpoint].filter((part) => part !== null).join(' ')
  return `${EVENTS[event].title}${what === '' ? '' : `: ${what}`}`
}

const membersOf: Readonly<Record<keyof typeof CLASSES, (entry: ActivityEntry) => object>> = {
  base: () => ({}),
  call: (entry) => ({
    actor: actorOf(entry),
    src_endpoint: sourceOf(entry),
    api: apiOf(entry),
    ...httpOf(entry),
    ...(entry.event === 'admin_action'
      ? { resources: [{ uid: String(entry.data['target']), type: resourceType(entry) }] }
      : {}),
  }),
  finding: (entry) => ({
    finding_info: {
      uid: entry.id,
      title: EVENTS[entry.event].title,
      desc: EVENTS[entry.event].description,
      analytic: analyticOf(entry),
    },
    evidences: [{ actor: actorOf(entry), src_endpoint: sourceOf(entry), api: apiOf(entry) }],
    is_alert: true,
  }),
  account: (entry) => ({
    user: agentOf(entry),
    actor: personOf(entry.data['triggered_by']),
    src_endpoint: sourceOf(entry),
  }),
}

const resourceType = ({ data }: ActivityEntry): string =>
  String(data['action']).split('.')[0] ?? 'resource'

const agentOf = ({ agent_id, agent_name, key_id, organization_id }: ActivityEntry): object => ({
  uid: agent_id ?? 'unknown',
  ...(agent_name === null ? {} : { name: agent_name }),
  type_id: SYSTEM,
  org: { uid: organization_id },
  ...(key_id === null ? {} : { credential_uid: key_id }),
})

const personOf = (name: unknown): object => ({
  user: { name: String(name), type_id: name === 'system' ? SYSTEM : ADMIN },
})

function actorOf(entry: ActivityEntry): object {
  if (entry.event === 'admin_action') return personOf(entry.data['actor'])
  return entry.agent_id === null ? { app_name: PRODUCT } : { user: agentOf(entry) }
}

const sourceOf = ({ source_ip }: ActivityEntry): object =>
  source_ip === null ? { name: PRODUCT } : { ip: source_ip }

const apiOf = ({
  event,
  method,
  endpoint,
  integration_id,
  request_id,
  status,
  data,
}: ActivityEntry): object => ({
  operation:
    event === 'admin_action'
      ? String(data['action'])
      : method === null
        ? event
        : `${method} ${endpoint ?? ''}`.trim(),
  ...(integration_id === null ? {} : { service: { uid: integration_id } }),
  ...(request_id === null ? {} : { request: { uid: request_id } }),
  ...(status === null ? {} : { response: { code: status } }),
})

const httpOf = ({ method, endpoint, status, bytes_in, bytes_out }: ActivityEntry): object => ({
  ...(method === null
    ? {}
    : {
        http_request: {
          ...(NAMED_METHODS.includes(method) ? { http_method: method } : {}),
          ...(endpoint === null ? {} : { url: { path: endpoint } }),
          ...(bytes_in === null ? {} : { length: bytes_in }),
        },
      }),
  ...(status === null
    ? {}
    : {
        http_response: { code: status, ...(bytes_out === null ? {} : { length: bytes_out }) },
      }),
})

const analyticOf = ({ event, data }: ActivityEntry): object =>
  event === 'anomaly_detected'
    ? { name: 'anomaly detection', type_id: BEHAVIORAL }
    : {
        name: typeof data['pattern_name'] === 'string' ? data['pattern_name'] : event,
        type_id: RULE,
      }

/** Members that have a place of their own above. */
const MAPPED = ['id', 'timestamp', 'organization_id', 'agent_name', 'request_id', 'steps'] as const

function unmappedOf(entry: ActivityEntry): object {
  const view = { ...activityView(entry) }
  for (const name of MAPPED) delete view[name]
  return Object.fromEntries(Object.entries(view).filter(([, value]) => value !== null))
}
