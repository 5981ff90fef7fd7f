import { type Static, Type } from 'typebox'
import type { LockReceipt } from '../../core/kill/lock-record.ts'
import { type Lock, LOCK_MODES } from '../../core/catalogue/model.ts'
import { emptyReceipt } from '../../core/kill/empty-receipt.ts'
import { Count, Nullable, Strict, Timestamp } from '../http/common-schemas.ts'
import { EdgeReceiptView } from './kill-routes.ts'
import { SelectorSchema, SelectorView } from '../labels/label-schemas.ts'
import { MESSAGE_LENGTH_LIMIT, REFERENCE_LENGTH_LIMIT } from './read-lock-order.ts'

const TARGET = {
  agent_id: Type.Optional(Type.String()),
  key_id: Type.Optional(Type.String()),
  scope_id: Type.Optional(Type.String()),
  integration_id: Type.Optional(Type.String()),
  organization_id: Type.Optional(Type.String()),
  everything: Type.Optional(Type.Boolean()),
}

/** The documented shape; other members are ignored, and named in the answer. */
export const LockBody = Type.Object({
  target: Type.Object(
    { ...TARGET, agent_selector: Type.Optional(SelectorSchema) },
    {
      description:
        'Exactly one of them. `everything`, and the organization of others, only with an admin token of the default organization.',
    },
  ),
  mode: Type.Optional(
    Type.Enum([...LOCK_MODES], {
      default: 'deny',
      description: 'read_only: safe methods, and MCP tools in read_tools of the scope, still pass.',
    }),
  ),
  message: Type.Optional(
    Type.String({ maxLength: MESSAGE_LENGTH_LIMIT, description: 'Shown to callers' }),
  ),
  reference: Type.Optional(
    Type.String({ maxLength: REFERENCE_LENGTH_LIMIT, description: 'For operators' }),
  ),
  expires_at: Type.Optional(Type.String({ description: 'ISO 8601. Default: until it is lifted' })),
})

export const LockView = Strict({
  lock_id: Type.String(),
  target: Strict({ ...TARGET, agent_selector: Type.Optional(SelectorView) }),
  mode: Type.Enum([...LOCK_MODES]),
  message: Nullable(Type.String()),
  reference: Nullable(Type.String()),
  created_at: Timestamp,
  created_by: Nullable(
    Type.String({ description: 'Null if it was created in another organization' }),
  ),
  expires_at: Nullable(Timestamp),
  propagation_ms: Type.Integer({
    minimum: 0,
    description: 'Milliseconds until the last acknowledgement, rounded up',
  }),
  complete: Type.Boolean({
    description:
      'Every edge knows locks and has acknowledged this one, or its lease has certainly expired, and no call is unconfirmed',
  }),
  in_flight_requests_terminated: Count,
  tunnels_terminated: Count,
  edges: Type.Array(EdgeReceiptView),
})

export const CreatedLock = Strict({
  ...LockView.properties,
  ignored: Type.Array(Type.String(), { description: 'Members that were not understood' }),
})

export const LockPreview = Strict({
  agents: Type.Integer({ minimum: 0, description: 'Agents that it would concern' }),
  in_flight: Nullable(
    Type.Integer({
      description: 'Their calls in flight at the last heartbeats; null if that is not known',
    }),
  ),
  tunnels: Nullable(Type.Integer({ description: 'The same for open tunnels' })),
  edges: Type.Integer({ description: 'Live edges' }),
  ignored: CreatedLock.properties.ignored,
})

/** @param isOwn whether who reads it belongs to the organization in which it was created */
export function viewOfLock(
  lock: Lock,
  receipt: LockReceipt | null,
  isOwn: boolean,
): Static<typeof LockView> {
  const { lock_id, target, mode, message, reference, created_at, created_by, expires_at } = lock
  const counted = receipt ?? emptyReceipt(lock)
  return {
    lock_id,
    target: target as Static<typeof LockView>['target'],
    mode,
    message,
    reference: isOwn ? reference : null,
    created_at,
    created_by: isOwn ? created_by : null,
    expires_at,
    propagation_ms: counted.propagation_ms,
    complete: counted.complete,
    in_flight_requests_terminated: counted.in_flight_requests_terminated,
    tunnels_terminated: counted.tunnels_terminated ?? 0,
    // Those of another organization do not see the hosts of the deployment more than in a kill.
    edges: counted.edges.map((edge) => ({ ...edge })),
  }
}
