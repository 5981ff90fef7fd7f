import type { AdminContext } from '../context/admin-context.ts'
import { type Static, Type } from 'typebox'
import { killAgent } from '../../core/kill/kill-agent.ts'
import { reactivateAgent } from '../../core/kill/reactivate-agent.ts'
import type { KillActor } from '../../core/kill/kill-entries.ts'
import type { KillOrder, UnsignedOrder } from '../../core/kill/publish-kill.ts'
import { withRoom } from '../../core/kill/with-room.ts'
import { AgentView } from '../agents/agent-schemas.ts'
import { agentViews } from '../agents/agent-view.ts'
import { hasMail } from '../alerts/has-mail.ts'
import { newKey } from '../keys/new-key.ts'
import type { Actor } from '../context/admin-context.ts'
import { AgentParams, Count, Nullable, Strict, Timestamp } from '../http/common-schemas.ts'
import { defineRoute, type Route, type UnsignedCall } from '../http/define-route.ts'
import { type Answer, type Refusal, answer, notFound } from '../http/outcome.ts'
import { isTrial } from './is-trial.ts'
import { killMethodOf } from './kill-client.ts'
import { KillPreviewView, previewKill } from './preview-routes.ts'
import { readKillOrder } from './read-kill-order.ts'
import { REASON_LENGTH_LIMIT, readReason } from './read-reason.ts'

const Milliseconds = Type.Number({ minimum: 0 })

/** The documented shape; other bodies are accepted too. */
const KillBody = Type.Object({
  reason: Type.Optional(Type.String({ maxLength: REASON_LENGTH_LIMIT })),
  notify: Type.Optional(
    Type.Array(Type.String(), {
      description: 'webhook, email. Webhooks that subscribe to agent_killed always receive it.',
    }),
  ),
})

/** What one edge did for a kill. */
export const EdgeReceiptView = Strict({
  edge_id: Type.String(),
  region: Type.String(),
  acknowledged_ms: Nullable(Milliseconds),
  terminated: Count,
  tunnels: Type.Optional(
    Type.Integer({
      minimum: 0,
      description: 'Tunnels of the forward proxy that were closed, if any',
    }),
  ),
  is_too_old: Type.Optional(
    Type.Boolean({
      description:
        'Only for locks: it is of a version that does not know them, and lets calls pass',
    }),
  ),
  unconfirmed: Type.Integer({
    minimum: 0,
    description:
      'Calls that may still be running: cut but not closed by Envoy in time, or no longer reachable because Envoy had closed their ext_proc stream early',
  }),
})

export const KillReceiptView = Strict({
  status: Type.Literal('killed'),
  kill_id: Nullable(
    Type.String({ description: 'Of the kept receipt: GET /admin/kills/{kill_id}' }),
  ),
  agent_id: Type.String(),
  killed_at: Timestamp,
  credentials_revoked: Count,
  in_flight_requests_terminated: Count,
  tunnels_terminated: Type.Integer({
    minimum: 0,
    description: 'Open tunnels of the forward proxy that were closed',
  }),
  propagation_ms: Type.Integer({
    minimum: 0,
    description: 'Milliseconds until the last acknowledgement, rounded up',
  }),
  complete: Type.Boolean({
    description:
      'Every edge has acknowledged, or its lease has certainly expired, and no call is unconfirmed',
  }),
  edges: Type.Array(EdgeReceiptView),
  still_usable_keys: Type.Array(Type.String(), {
    description: 'Ids of organization keys that the agent used in the last day',
  }),
  notify_ignored: Type.Array(Type.String(), { description: 'Values that are not a channel' }),
  notify_unavailable: Type.Array(Type.String(), {
    description: 'Requested channels that are not configured, such as email without AGW_SMTP_URL',
  }),
  replicas: Nullable(Strict({ connected: Count, acknowledged: Count })),
})

const ReactivateBody = Strict({
  reason: Type.String({ minLength: 1, maxLength: REASON_LENGTH_LIMIT }),
  rotate_keys: Type.Optional(Type.Boolean({ default: false })),
})

const Reactivated = Strict({
  ...AgentView.properties,
  credentials_restored: Count,
  api_key: Type.Optional(Type.String({ description: 'With rotate_keys. It is shown only once.' })),
  api_key_id: Type.Optional(Type.String()),
})

const tag = 'kill'

export const killRoutes: readonly Route[] = [
  defineRoute({
    method: 'POST',
    path: '/admin/agents/:agent_id/kill',
    role: 'operator',
    tag,
    summary: 'Kill an agent on every edge',
    forgiving: true,
    params: AgentParams,
    query: Strict({
      dry_run: Type.Optional(
        Type.Boolean({
          description: 'Answers what it would end, as kill-preview, and kills nothing',
        }),
      ),
    }),
    body: KillBody,
    answers: { 200: Type.Union([KillReceiptView, KillPreviewView]) },
    handle: async (call) => {
      const { organization_id, session } = call.actor
      if (isTrial(call))
        return await previewKill(call.context, organization_id, call.params.agent_id)
      const actor = killActor(call.actor, call.request_id)
      const killed = await kill(call, session !== undefined, { organization_id, actor })
      return killed ?? notFound()
    },
    handleUnsigned: async (call) => {
      if (isTrial(call)) return null
      const { proof, source_ip, request_id } = call
      const actor = { source_ip, request_id, edge_id: null }
      const { tokenUses } = call.context
      return await kill(call, 'session' in proof, {
        proof,
        roles: ['operator', 'admin'],
        actor,
        noteUse: (organization_id, token_id) => tokenUses.note(organization_id, token_id),
      })
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/admin/agents/:agent_id/reactivate',
    role: 'admin',
    tag,
    summary: 'Reactivate a killed agent',
    params: AgentParams,
    body: ReactivateBody,
    answers: { 200: Reactivated },
    handle: async ({ context, actor, params, body, request_id }) => {
      const { organization_id } = actor
      const { agent_id } = params
      const made = body.rotate_keys
        ? newKey({
            organization_id,
            agent_id,
            name: 'key after reactivation',
            created_at: context.now().toISOString(),
          })
        : null
      const order = {
        organization_id,
        agent_id,
        reason: readReason(body.reason),
        actor: killActor(actor, request_id),
        replacement:
          made === null
            ? null
            : { writes: made.writes, target: made.target, key_id: made.record.key_id },
      }
      const parts = killParts(context)
      const done = await withRoom(context, () => reactivateAgent(parts, order))
      if (done === null) return notFound()
      const [view = {}] = await agentViews(context.redis, organization_id, [done.agent])
      const { credentials_restored } = done
      const rotated = made === null ? {} : { api_key: made.key, api_key_id: made.record.key_id }
      return answer(200, { ...view, credentials_restored, ...rotated })
    },
  }),
]

/** A kill has the time of the store, whatever the clock of this host says. */
const killParts = (context: AdminContext) => ({
  ...context,
  lease_ms: context.settings.killLease_ms,
  now: () => new Date(context.clock.now().ms),
})

/** Null if the caller has to sign in first. */
async function kill(
  {
    context,
    params: { agent_id },
    body,
    headers,
  }: Pick<UnsignedCall<Static<typeof AgentParams>>, 'context' | 'params' | 'body' | 'headers'>,
  isSession: boolean,
  by:
    | Pick<KillOrder, 'organization_id' | 'actor'>
    | Pick<UnsignedOrder, 'proof' | 'roles' | 'actor' | 'noteUse'>,
): Promise<Answer | Refusal | null> {
  const { settings, log } = context
  const { notify_ignored, notify: wanted, reason } = readKillOrder(body as string)
  const notify_unavailable = wanted.filter((channel) => channel === 'email' && !hasMail(settings))
  const notify = wanted.filter((channel) => !notify_unavailable.includes(channel))
  const kill_method = killMethodOf(isSession, headers)
  const parts = killParts(context)
  const receipt = await withRoom(context, () =>
    killAgent(parts, { ...by, agent_id, reason, notify, kill_method }),
  )
  if (receipt === 'not_signed_in') return null
  if (receipt === null) return notFound()
  if (notify_unavailable.length > 0)
    log.warn(
      { agent_id, notify_unavailable },
      'a kill requested a notification channel that is not configured (AGW_SMTP_URL)',
    )
  return answer(200, { ...receipt, notify_ignored, notify_unavailable })
}

const killActor = (actor: Actor, request_id: string): KillActor => ({
  email: actor.email,
  token_id: actor.token_id,
  source_ip: actor.source_ip,
  request_id,
  edge_id: null,
})
