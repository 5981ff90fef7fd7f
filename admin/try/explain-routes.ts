import { type Static, Type } from 'typebox'
import { Nullable, Strict, Timestamp, TimeText } from '../http/common-schemas.ts'
import { PATTERN_MESSAGE } from '../http/describe-problem.ts'
import { type AdminCall, defineRoute, type Route } from '../http/define-route.ts'
import { answer, invalid, type Outcome } from '../http/outcome.ts'
import { readTime, TIME_MESSAGE } from '../http/read-time.ts'
import { METHOD_PATTERN, URL_LENGTH_MAX } from './explain-call.ts'
import { explainStored } from './explain-stored.ts'
import { Explanation } from './explanation.ts'
import { readPolicy, type StoredPolicy } from './read-policy.ts'
import { tryOnHistory } from './try-on-history.ts'
import { checkerOf } from '../scopes/check-patterns.ts'
import { type Replaced, UnsavedScope, withUnsaved } from './unsaved-scope.ts'

const AgentId = Type.String({ minLength: 1, maxLength: 128 })

/** A method or path is in the first of a body; one request must not cost more than a few milliseconds. */
const EXPLAINED_BODY_MAX = 65_536

const Question = Strict({
  agent_id: AgentId,
  method: Type.String({
    pattern: METHOD_PATTERN,
    [PATTERN_MESSAGE]: 'must be an HTTP method of at most 32 characters',
    description: 'As the agent sends it: methods are case-sensitive',
  }),
  url: Type.String({
    minLength: 1,
    maxLength: URL_LENGTH_MAX,
    description: 'The absolute target URL',
  }),
  headers: Type.Optional(
    Type.Record(
      Type.String({ pattern: "^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,256}$" }),
      Type.String({ maxLength: 16_384 }),
      { maxProperties: 180, additionalProperties: false, description: 'As the agent sends them' },
    ),
  ),
  body: Type.Optional(
    Type.String({ maxLength: EXPLAINED_BODY_MAX, description: 'As the agent sends it' }),
  ),
  via: Type.Optional(
    Type.Enum(['base_url', 'forward'], {
      description:
        'The way of the call; default: base_url. Only through the forward proxy, hosts in no integration may be allowed (unlisted_hosts)',
    }),
  ),
  scope: Type.Optional(UnsavedScope),
  at: Type.Optional(
    TimeText(
      'The time at which scopes have to be in force, such as that of a log entry; default: now',
    ),
  ),
})

/** As many as a call usually matches; each is compiled. */
const SCOPES_MAX = 20

const Trial = Strict({
  agent_id: AgentId,
  scope: UnsavedScope,
  further_scopes: Type.Optional(
    Type.Array(UnsavedScope, { maxItems: SCOPES_MAX, description: 'Saved together with it' }),
  ),
  from: Type.Optional(TimeText('Not before; default: seven days ago')),
  to: Type.Optional(TimeText('Before')),
})

const Decided = Type.Enum(['allowed', 'refused'])

export const TrialView = Strict({
  calls: Type.Integer({ description: 'Stored calls of the agent that were decided again' }),
  would_pass: Type.Integer({ description: 'Calls that are refused now and would pass' }),
  would_be_refused: Type.Integer({ description: 'Calls that pass now and would be refused' }),
  changes: Type.Array(
    Strict({
      method: Type.String(),
      endpoint: Type.String(),
      integration_id: Type.String(),
      before: Decided,
      after: Decided,
      error: Nullable(Type.String({ description: 'The error of the side that is refused' })),
      count: Type.Integer(),
      last_at: Timestamp,
      last_id: Type.String({ description: 'Of the newest activity entry' }),
    }),
    { description: 'The most frequent 50, by method and path' },
  ),
  complete: Type.Boolean({
    description:
      'All calls of the range were looked at; at most 20,000 calls, or as many as fit into two seconds, are',
  }),
  since: Nullable(
    Type.String({ format: 'date-time', description: 'Time of the oldest entry looked at' }),
  ),
})

const DEFAULT_RANGE_MS = 7 * 24 * 3600_000
const tag = 'explain'

export const explainRoutes: readonly Route[] = [
  defineRoute({
    method: 'POST',
    path: '/admin/explain',
    role: 'viewer',
    costly: 'compute',
    tag,
    summary:
      'Explain which integration, scope and rule apply to a call, without making it; with scope, as if that were saved',
    body: Question,
    answers: { 200: Explanation },
    handle: explain,
  }),
  defineRoute({
    method: 'POST',
    path: '/admin/explain/history',
    role: 'viewer',
    costly: 'compute',
    tag,
    summary:
      'Evaluate stored calls again with an unsaved scope: which would be allowed, and which refused',
    body: Trial,
    answers: { 200: TrialView },
    handle: tryScope,
  }),
]

async function explain(
  call: AdminCall<unknown, unknown, Static<typeof Question>>,
): Promise<Outcome> {
  const { context, actor, body } = call
  const at_ms = body.at === undefined ? context.now().getTime() : readTime(body.at)
  if (at_ms === null) return invalid([{ path: '/at', message: TIME_MESSAGE }])
  const policy = await readPolicy(
    context.redis,
    actor.organization_id,
    body.agent_id,
    context.now(),
  )
  const tried = body.scope === undefined ? null : await scopesWith(call, policy, body.scope)
  if (tried !== null && !tried.ok) return tried.refusal
  const { method, url, headers, body: text, via } = body
  const question = { method, url, headers, body: text, via, at_ms }
  return answer(200, explainStored(context, policy, question, tried?.scopes))
}

async function tryScope(call: AdminCall<unknown, unknown, Static<typeof Trial>>): Promise<Outcome> {
  const { context, actor, body } = call
  const now_ms = context.now().getTime()
  const from_ms = body.from === undefined ? now_ms - DEFAULT_RANGE_MS : readTime(body.from)
  const to_ms = body.to === undefined ? null : readTime(body.to)
  if (from_ms === null) return invalid([{ path: '/from', message: TIME_MESSAGE }])
  if (body.to !== undefined && to_ms === null)
    return invalid([{ path: '/to', message: TIME_MESSAGE }])
  const policy = await readPolicy(
    context.redis,
    actor.organization_id,
    body.agent_id,
    context.now(),
  )
  if (policy.agent === null)
    return invalid([{ path: '/agent_id', message: 'no agent has this id' }])
  let { scopes } = policy
  for (const unsaved of [body.scope, ...(body.further_scopes ?? [])]) {
    const tried = await scopesWith(call, { ...policy, scopes }, unsaved)
    if (!tried.ok) return tried.refusal
    scopes = tried.scopes
  }
  const range = { from_ms: Math.max(0, from_ms), to_ms }
  const { maxBodyBytes } = context.settings
  const org = actor.organization_id
  return answer(200, await tryOnHistory(context, org, policy, scopes, range, maxBodyBytes))
}

async function scopesWith(
  call: AdminCall<unknown, unknown, { agent_id: string }>,
  { scopes, integrations }: StoredPolicy,
  unsaved: Static<typeof UnsavedScope>,
): Promise<Replaced> {
  const {
    context: { settings, now },
    actor,
    body,
  } = call
  const isKnown = integrations.some(
    ({ integration_id }) => integration_id === unsaved.integration_id,
  )
  if (!isKnown)
    return {
      ok: false,
      refusal: invalid([{ path: '/scope/integration_id', message: 'no integration has this id' }]),
    }
  return withUnsaved(scopes, unsaved, {
    organization_id: actor.organization_id,
    agent_id: body.agent_id,
    max_body_bytes: settings.maxBodyBytes,
    created_at: now().toISOString(),
    checker: checkerOf(call),
  })
}
