/**
 * Every event: what the activity log records and what webhooks deliver. Each row is complete, or it does not compile; the
 * reference page, the console, the command line, the alerts and the arguments of the Redis scripts are derived from it.
 */
interface EventRow {
  /** Display name. */
  readonly title: string
  /** What an entry with this event reports. */
  readonly description: string
  /** Whether an entry reports one call. Anomaly detection learns from these. */
  readonly reports_call: boolean
  /** `counted`: beyond a number per agent, reason and minute only a count is kept. Required of every refusal. */
  readonly when_frequent: 'recorded' | 'counted'
  /** Whether such an entry can raise an alert; admin/alerts/alert-of-entry.ts defines which one. */
  readonly may_alert: boolean
  /** What distinguishes an entry from others with this event, beside its call and its reason, in a few words; may be empty. */
  readonly summary: (data: Readonly<Record<string, unknown>>) => string
  /** Null for events that are only logged, not delivered. */
  readonly delivery: Delivery | null
}

interface Delivery {
  /**
   * `kept`: never dropped, because operators produce only a bounded number of them. `bounded`: dropped and counted when a bound
   * of the outbox or the queue is reached. `gathered`: bounded, and at most two per agent and minute, the second with the
   * number of others.
   */
  readonly handling: 'kept' | 'bounded' | 'gathered'
  /** The members that `data` always has, so that receivers can rely on them; null if the entry has no value. */
  readonly members: Readonly<Record<string, string>>
}

const text = (value: unknown): string =>
  typeof value === 'string' ? value : value == null ? '' : JSON.stringify(value)
const list = (value: unknown): string =>
  Array.isArray(value) ? value.map(text).join(', ') : text(value)
/** Texts that are missing leave no separator behind. */
const joined = (separator: string, ...parts: readonly string[]): string =>
  parts.filter((part) => part !== '').join(separator)
const found: EventRow['summary'] = ({ pattern_name, location, matched_text }) =>
  joined(': ', joined(' in ', text(pattern_name), text(location)), text(matched_text))
const done: EventRow['summary'] = ({ triggered_by, reason }) =>
  joined(': ', joined(' ', 'by', text(triggered_by)), text(reason))
const lockedBy: EventRow['summary'] = ({ triggered_by, mode, message }) =>
  joined(
    ': ',
    joined(' ', text(mode), 'by', text(triggered_by ?? 'another organization')),
    text(message),
  )
const WHY_DENIED: Readonly<Record<string, string>> = {
  no_scope: 'no scope for this API',
  method_not_allowed: 'method not allowed',
  path_not_allowed: 'path not allowed',
  scope_expired: 'the scope has ended',
  scope_not_yet: 'the scope is not in force yet',
}

const FINDING = {
  pattern_name: 'Name of the pattern; `custom_pattern` for one of your own.',
  severity: '`critical`, `high` or `medium`.',
  matched_text: 'Excerpt of at most 200 characters, with secrets masked.',
  location: 'Where the match is: `body.messages[0].content`, `query.q`, `path`, `headers.x-note`.',
  speaker:
    'Whose words they are: `operator`, `model`, `tool_description`, `user`, `tool_result` or `document`.',
  endpoint: 'Target path, without the query. Keys in it are masked.',
  source_ip: 'Address of the caller.',
} as const

const SERVICE = { service: 'Name of the integration.' } as const
const AGENT_SCOPES = { agent_scopes: 'Names of all scopes of the agent.' } as const

const LOCK = {
  lock_id: 'Id of the lock.',
  target: 'What it concerns.',
  mode: '`deny` or `read_only`.',
  message: 'What callers are shown.',
  triggered_by: 'E-mail; null: another organization.',
} as const

const ACCESS = {
  request_id: 'Id of the access request.',
  method: 'Method of the call.',
  url: 'Its URL; what looks like a secret is masked.',
  ...SERVICE,
  digest: 'What the approval is for (docs/guides/approvals.md).',
} as const

export const EVENTS = {
  request_allowed: {
    title: 'Allowed',
    description: 'A call was forwarded.',
    reports_call: true,
    when_frequent: 'recorded',
    may_alert: false,
    summary: ({ upstream }) => {
      const { details, cause } = (upstream ?? {}) as Readonly<Record<string, unknown>>
      return joined(': ', text(details ?? ''), text(cause ?? ''))
    },
    delivery: null,
  },
  request_rejected: {
    title: 'Rejected',
    description:
      'A call was refused for a reason that has no separate event, or was cut in flight.',
    reports_call: true,
    when_frequent: 'counted',
    may_alert: true,
    summary: ({ reason }) => text(reason),
    delivery: null,
  },
  injection_blocked: {
    title: 'Injection blocked',
    description: 'A call was refused for prompt injection.',
    reports_call: true,
    when_frequent: 'counted',
    may_alert: true,
    summary: found,
    delivery: { handling: 'bounded', members: FINDING },
  },
  injection_detected: {
    title: 'Injection detected',
    description: 'Prompt injection was found in a call that was forwarded.',
    reports_call: true,
    when_frequent: 'recorded',
    may_alert: true,
    summary: found,
    delivery: { handling: 'bounded', members: FINDING },
  },
  agent_killed: {
    title: 'Agent killed',
    description: 'An agent was killed, by an operator or automatically.',
    reports_call: false,
    when_frequent: 'recorded',
    may_alert: true,
    summary: done,
    delivery: {
      handling: 'kept',
      members: {
        reason: 'Reason given by the operator, or the automatic trigger.',
        triggered_by: 'E-mail of the operator, or `system`.',
        kill_method:
          '`api`, `dashboard`, `cli`, `auto_injection`, `auto_rate_limit` or `auto_anomaly`.',
        requests_terminated: 'In-flight calls that were cut.',
        tunnels_terminated: 'Open tunnels of the forward proxy that were closed.',
        propagation_ms: 'Milliseconds until the last edge acknowledged the kill.',
        metadata: '`last_request` (a path) and `requests_last_hour`.',
      },
    },
  },
  agent_reactivated: {
    title: 'Agent reactivated',
    description: 'An operator reactivated a killed agent.',
    reports_call: false,
    when_frequent: 'recorded',
    may_alert: false,
    summary: done,
    delivery: {
      handling: 'kept',
      members: {
        reason: 'Reason given by the operator.',
        triggered_by: 'E-mail of the operator.',
      },
    },
  },
  locked: {
    title: 'Locked',
    description: 'An operator has created a lock.',
    reports_call: false,
    when_frequent: 'recorded',
    may_alert: true,
    summary: lockedBy,
    delivery: {
      handling: 'kept',
      members: {
        ...LOCK,
        expires_at: 'When it ends.',
        requests_terminated: 'In-flight calls that were cut.',
        tunnels_terminated: 'Open tunnels of the forward proxy that were closed.',
        propagation_ms: 'Milliseconds until the last edge acknowledged the lock.',
        complete: 'Whether every edge has acknowledged it.',
      },
    },
  },
  unlocked: {
    title: 'Unlocked',
    description: 'An operator has lifted a lock.',
    reports_call: false,
    when_frequent: 'recorded',
    may_alert: false,
    summary: lockedBy,
    delivery: { handling: 'kept', members: { ...LOCK, reason: 'Reason given by the operator.' } },
  },
  access_requested: {
    title: 'Approval requested',
    description: 'A call waits for a person to allow it.',
    reports_call: false,
    when_frequent: 'recorded',
    may_alert: false,
    summary: ({ method, url }) => joined(' ', text(method), text(url)),
    delivery: {
      handling: 'bounded',
      members: {
        ...ACCESS,
        kind: '`call`: a rule asks for an approval of the call; `access`: no rule allows it, and the agent has asked.',
        approvers: 'The lowest role that decides.',
        needed: 'How many people have to approve.',
        expires_at: 'Until when it can be decided.',
      },
    },
  },
  access_decided: {
    title: 'Approval decided',
    description: 'A person has approved or denied a request, or withdrawn it.',
    reports_call: false,
    when_frequent: 'recorded',
    may_alert: false,
    summary: ({ status, decided_by, method, url }) =>
      joined(
        ': ',
        joined(' ', text(status), 'by', text(decided_by)),
        joined(' ', text(method), text(url)),
      ),
    delivery: {
      handling: 'kept',
      members: {
        ...ACCESS,
        status: '`approved`, `denied` or `cancelled`; `pending` after the first of two approvals.',
        decided_by: 'E-mail of the person.',
        comment: 'What the person says about it.',
        scope_id: 'Of an approval for a time: the scope that it has made.',
        expires_at: 'When that ends.',
      },
    },
  },
  anomaly_detected: {
    title: 'Anomaly detected',
    description: 'Traffic of an agent deviated from its baseline.',
    reports_call: false,
    when_frequent: 'recorded',
    may_alert: true,
    summary: ({ anomaly_score, anomaly_types }) =>
      joined(': ', `score ${text(anomaly_score)}`, list(anomaly_types)),
    delivery: {
      handling: 'bounded',
      members: {
        anomaly_score: 'From 0 (normal) to 1.',
        anomaly_types:
          'The signals: `frequency`, `new_endpoint`, `error_rate`, `denied_rate`, `payload_size`, `new_source_ip`, `off_hours`.',
        baseline_deviation: '`normal_rpm` and `current_rpm`.',
        action_taken: '`alert` or `killed`.',
      },
    },
  },
  permission_denied: {
    title: 'Permission denied',
    description: 'No scope of the agent allows the call.',
    reports_call: true,
    when_frequent: 'counted',
    may_alert: false,
    summary: ({ reason }) => WHY_DENIED[text(reason)] ?? text(reason),
    delivery: {
      handling: 'bounded',
      members: {
        attempted_action: 'Method and path below the base URL.',
        ...SERVICE,
        reason:
          '`no_scope`, `method_not_allowed`, `path_not_allowed`, `scope_expired` or `scope_not_yet`.',
        ...AGENT_SCOPES,
      },
    },
  },
  rate_limit_exceeded: {
    title: 'Rate limit exceeded',
    description: 'A call exceeded the rate limit of its scope.',
    reports_call: true,
    when_frequent: 'counted',
    may_alert: false,
    summary: ({ current_rpm, limit, action_taken }) =>
      `${text(current_rpm)} calls per minute, limit ${text(limit)}${action_taken === 'killed' ? ', agent killed' : ''}`,
    delivery: {
      handling: 'gathered',
      members: {
        ...SERVICE,
        endpoint: FINDING.endpoint,
        limit: 'Calls per minute that the scope allows.',
        current_rpm: 'Current calls per minute, including refused ones.',
        retry_after_seconds: 'Seconds until the next call is allowed.',
        violation_minutes: 'How long the violation has lasted.',
        suppressed: 'Number of further refusals in the same minute that this event represents.',
        action_taken: '`killed` if the refusal killed the agent, otherwise `blocked`.',
      },
    },
  },
  mcp_tool_blocked: {
    title: 'Tool blocked',
    description: 'The scope does not allow the MCP tool.',
    reports_call: true,
    when_frequent: 'counted',
    may_alert: false,
    summary: ({ tool_name, reason }) => joined(': ', text(tool_name), text(reason)),
    delivery: {
      handling: 'bounded',
      members: {
        tool_name: 'The tool that was called.',
        ...SERVICE,
        endpoint: FINDING.endpoint,
        reason: 'Why the scope does not allow it.',
        ...AGENT_SCOPES,
      },
    },
  },
  admin_action: {
    title: 'Admin action',
    description: 'An operator changed something, or the gateway repaired its own state.',
    reports_call: false,
    when_frequent: 'recorded',
    may_alert: true,
    summary: ({ actor, action, target }) => joined(' ', text(actor), text(action), text(target)),
    delivery: null,
  },
  connection_changed: {
    title: 'Connection changed',
    description:
      'A connection of an integration was created, changed or deleted, or its status has changed.',
    reports_call: false,
    when_frequent: 'recorded',
    may_alert: true,
    summary: ({ change, name, status }) =>
      joined(': ', joined(' ', text(name), text(change)), text(status)),
    delivery: {
      handling: 'kept',
      members: {
        connection_id: 'Id of the connection.',
        integration_id: 'Id of its integration.',
        name: 'Its name.',
        subject: '`shared`, `agent:<id>` or `user:<id>`.',
        status: '`active`, `expired`, `revoked` or `needs_consent`.',
        change: '`created`, `updated` or `deleted`.',
        triggered_by: 'E-mail of the operator, or `system`.',
      },
    },
  },
  changes_lost: {
    title: 'Changes lost',
    description: 'The store has lost changes that an operator had made, as in a failover.',
    reports_call: false,
    when_frequent: 'recorded',
    may_alert: true,
    summary: ({ count }) => `${text(count)} changes lost`,
    delivery: {
      handling: 'kept',
      members: {
        count: 'How many changes the store has lost.',
        changes: 'The first 20 of them: `action`, `target` and `changed_at`.',
      },
    },
  },
} as const satisfies Record<string, EventRow>

export type EventName = keyof typeof EVENTS

/** The names whose row has a value in a column. */
type EventsWhere<Column extends keyof EventRow, Value> = {
  [Name in EventName]: (typeof EVENTS)[Name][Column] extends Value ? Name : never
}[EventName]

/** What webhooks can subscribe to. `test` is sent on request only. */
export type DeliveredEvent = EventsWhere<'delivery', Delivery>
/** What a refusal may be recorded as. */
export type RefusalEvent = EventsWhere<'when_frequent', 'counted'>
export type AlertingEvent = EventsWhere<'may_alert', true>

export const EVENT_NAMES = Object.keys(EVENTS) as readonly EventName[]

const ROWS: ReadonlyMap<string, EventRow> = new Map(Object.entries(EVENTS))

/** The row of an event; null for a name that only another version of the product knows. */
export const eventRow = (name: string): EventRow | null => ROWS.get(name) ?? null

export const isDeliveredEvent = (name: string): name is DeliveredEvent =>
  (eventRow(name)?.delivery ?? null) !== null

export const DELIVERED_EVENTS = EVENT_NAMES.filter(isDeliveredEvent)
