import { sealedExcerpt } from '../../core/approval/sealed-excerpt.ts'
import { openRequestState, sealRequestState } from '../../core/approval/request-state.ts'
import { type ApiPlace, consoleLink } from '../../core/settings/console-link.ts'
import { noteForwarded, takeApproval } from '../../core/approval/take-approval.ts'
import type { KeyRing } from '../../core/keys/seal.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { type RedisClient, runScript } from '../../core/redis/run-script.ts'
import type { ApprovalServices } from './check-approval.ts'

/** Of an agent, in ten minutes: more than a person connects. */
const SPENT_STATES_MAX = 200

interface Parts {
  readonly redis: RedisClient
  readonly ring: KeyRing
  readonly edge_id: string
  readonly place: ApiPlace
  readonly log: { warn(data: object, message: string): void }
}

/** The approvals of calls, as they are in the store. */
export const approvalStore = ({
  redis,
  ring,
  edge_id,
  place,
  log,
}: Parts): ApprovalServices['approvals'] => ({
  take: (wanted, ask) => takeApproval(redis, wanted, ask),
  seal: (owner, excerpt) => sealedExcerpt.seal(ring, owner, excerpt),
  noteForwarded: async (organization_id, request_id, was_sent) => {
    try {
      await noteForwarded(redis, organization_id, request_id, was_sent)
    } catch (error) {
      log.warn(
        { error: String(error), request_id, was_sent },
        'the end of an approved call is not noted',
      )
    }
  },
  edge_id,
  sealState: (asker, state) => sealRequestState(ring, asker, state),
  openState: (asker, text) => openRequestState(ring, asker, text),
  spendState: async ({ organization_id, agent_id }, { nonce, ends_ms }, now_ms) => {
    const spent = REDIS_KEYS.spentStates(organization_id, agent_id)
    const limits = [Math.floor(now_ms), Math.ceil(ends_ms), SPENT_STATES_MAX]
    return (await runScript(redis, 'spend-state', [spent], [nonce, ...limits])) === 1
  },
  pageOf: (request_id) => consoleLink(place, 'requests', request_id),
})
