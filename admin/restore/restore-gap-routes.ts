import { type Static, Type } from 'typebox'
import { acknowledgeGap, readGap } from '../../core/restore/restore-gap.ts'
import { Id, Nullable, Strict, Timestamp } from '../http/common-schemas.ts'
import { type AdminCall, defineRoute, type Route } from '../http/define-route.ts'
import { answer, audited, type Outcome } from '../http/outcome.ts'

const AGENTS_MAX = 1_000

const GapView = Strict({
  open: Type.Boolean(),
  known_until: Nullable(Timestamp),
  opened_at: Nullable(Timestamp),
  reasons: Type.Array(Type.String(), { description: 'For the default organization alone' }),
})
const Acknowledgement = Strict({
  agent_ids: Nullable(
    Type.Array(Id('Of an agent'), {
      minItems: 1,
      maxItems: AGENTS_MAX,
      uniqueItems: true,
      description:
        'null: all agents of the organization; from the default organization, all agents of the deployment, which closes the gap',
    }),
  ),
  comment: Type.Optional(Type.String({ maxLength: 1_000 })),
})

const tag = 'restore'
const path = '/admin/restore-gap'

export const restoreGapRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path,
    role: 'viewer',
    tag,
    summary: 'What a restore does not know, while agents are refused for it',
    answers: { 200: GapView },
    handle: async ({ context: { redis, settings }, actor }) => {
      const gap = await readGap(redis)
      const { known_until = null, opened_at = null, reasons = [] } = gap ?? {}
      const isDefault = actor.organization_id === settings.organizationId
      const shown = isDefault ? reasons : []
      return answer(200, { open: gap !== null, known_until, opened_at, reasons: shown })
    },
  }),
  defineRoute({
    method: 'POST',
    path: `${path}/acknowledge`,
    role: 'admin',
    tag,
    summary: 'Acknowledge what a restore does not know: the agents may call again',
    body: Acknowledgement,
    answers: { 200: Strict({ acknowledged: Type.Integer(), open: Type.Boolean() }) },
    handle: acknowledge,
  }),
]

async function acknowledge({
  context,
  actor: { organization_id },
  body: { agent_ids, comment },
}: AdminCall<unknown, unknown, Static<typeof Acknowledgement>>): Promise<Outcome> {
  const { redis, settings, now } = context
  const isWhole = agent_ids === null && organization_id === settings.organizationId
  const who = isWhole ? null : { organization_id, agent_ids }
  const parts = { redis, lease_ms: settings.killLease_ms }
  const acknowledged = await acknowledgeGap(parts, who, settings.organizationId, now())
  return audited(
    {
      action: 'restore_gap.acknowledge',
      target: isWhole ? 'all organizations' : organization_id,
      before: null,
      after: { acknowledged, ...(agent_ids ? { agent_ids } : {}), ...(comment ? { comment } : {}) },
    },
    answer(200, { acknowledged, open: (await readGap(redis)) !== null }),
  )
}
