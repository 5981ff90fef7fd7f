import { type Static, Type } from 'typebox'
import type { StoredReceipt } from '../../core/kill/kill-receipt.ts'
import { KILL_METHODS } from '../../core/kill/kill-record.ts'
import { REVOCATION_RESULTS, type Revocations, resultOf } from '../../core/kill/revocations.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import {
  Count,
  Id,
  ListOf,
  Nullable,
  PageQuery,
  Strict,
  Timestamp,
} from '../http/common-schemas.ts'
import { defineRoute, type Route } from '../http/define-route.ts'
import { answer, notFound } from '../http/outcome.ts'
import { listPage } from '../resources/list-page.ts'
import { listRecords, readRecord } from '../resources/records.ts'
import { EdgeReceiptView } from './kill-routes.ts'

/** The kept receipt of a kill. */
export const KillView = Strict({
  kill_id: Type.String(),
  agent_id: Type.String(),
  agent_name: Type.String({
    description: 'At the time of the kill; the id of an agent that a newer version has stored',
  }),
  requested_at: Timestamp,
  killed_at: Type.String({
    format: 'date-time',
    description: 'Of a repeated kill, the time of the first',
  }),
  repeated: Type.Boolean({ description: 'The agent was killed already' }),
  reason: Nullable(Type.String()),
  triggered_by: Type.String({ description: 'E-mail of the operator, or system' }),
  kill_method: Type.Enum([...KILL_METHODS]),
  credentials_revoked: Count,
  counted_at: Nullable(
    Type.String({
      format: 'date-time',
      description: 'When the counts were written last; null while the kill is in progress',
    }),
  ),
  complete: Type.Boolean({
    description:
      'Every edge has acknowledged, or its lease has certainly expired, and no call is unconfirmed',
  }),
  in_flight_requests_terminated: Count,
  tunnels_terminated: Type.Integer({
    minimum: 0,
    description: 'Open tunnels of the forward proxy that were closed',
  }),
  propagation_ms: Count,
  edges: Type.Array(EdgeReceiptView, { description: 'At most 200, the silent ones first' }),
  still_usable_keys: Type.Array(Type.String()),
  last_request: Nullable(Type.String({ description: 'Path of the last call before the kill' })),
  requests_last_hour: Count,
  credentials: Nullable(
    Type.Array(
      Strict({
        integration_id: Type.String(),
        connection_id: Nullable(Type.String()),
        type: Type.String(),
        result: Type.Enum([...REVOCATION_RESULTS], {
          description:
            '`failed` is tried again like a delivery. `unsupported`: the provider cannot revoke it',
        }),
        tokens: Count,
        expires_at: Nullable(
          Type.String({
            format: 'date-time',
            description:
              'When the last token that is not revoked ends by itself; null: never, or none is left',
          }),
        ),
      }),
      {
        description:
          'The credentials of the agent alone, and what became of their tokens at the providers. At most 200, failed ones first. null until the first attempt',
      },
    ),
  ),
  credentials_settled_at: Nullable(
    Type.String({
      format: 'date-time',
      description: 'When the last attempt at the providers was made; null while one is to come',
    }),
  ),
})

async function viewsOf(
  redis: RedisClient,
  organization_id: string,
  receipts: readonly StoredReceipt[],
): Promise<Static<typeof KillView>[]> {
  if (receipts.length === 0) return []
  const ids = receipts.map(({ kill_id }) => kill_id)
  const texts = await redis.hmget(REDIS_KEYS.killRevocations(organization_id), ...ids)
  return receipts.map((receipt, i) => {
    const text = texts[i]
    return viewOf(receipt, text == null ? null : (JSON.parse(text) as Revocations))
  })
}

const viewOf = (
  receipt: StoredReceipt,
  revocations: Revocations | null,
): Static<typeof KillView> => ({
  ...receipt,
  credentials:
    revocations === null
      ? null
      : revocations.credentials.map(({ tokens, ...row }) => ({
          ...row,
          result: resultOf({ tokens }),
          tokens: Object.values(tokens).reduce((sum, count) => sum + count, 0),
        })),
  credentials_settled_at: revocations?.completed_at ?? null,
  tunnels_terminated: receipt.tunnels_terminated ?? 0,
  edges: [...receipt.edges],
  still_usable_keys: [...receipt.still_usable_keys],
})

const tag = 'kill'

export const receiptRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/admin/kills',
    role: 'viewer',
    tag,
    summary: 'List the receipts of the newest 1,000 kills, newest first',
    query: Strict({
      agent_id: Type.Optional(Type.String({ maxLength: 128 })),
      ...PageQuery,
    }),
    answers: { 200: ListOf(KillView) },
    handle: async ({ context: { redis }, actor: { organization_id }, query }) => {
      const { agent_id } = query
      return await listPage<StoredReceipt>(
        {
          redis,
          index: REDIS_KEYS.killReceiptIndex(organization_id),
          read: (ids) => listRecords(redis, REDIS_KEYS.killReceipts(organization_id), ids),
          ...(agent_id === undefined
            ? {}
            : { matches: (receipt) => receipt.agent_id === agent_id }),
        },
        query,
        (receipts) => viewsOf(redis, organization_id, receipts),
      )
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/admin/kills/:kill_id',
    role: 'viewer',
    tag,
    summary: 'Read the receipt of a kill. It is updated when an edge acknowledges late',
    params: Strict({ kill_id: Id('Of a kill') }),
    answers: { 200: KillView },
    handle: async ({ context: { redis }, actor: { organization_id }, params: { kill_id } }) => {
      const receipts = REDIS_KEYS.killReceipts(organization_id)
      const found = await readRecord<StoredReceipt>(redis, receipts, kill_id)
      const [view] = found === null ? [] : await viewsOf(redis, organization_id, [found.record])
      return view === undefined ? notFound() : answer(200, view)
    },
  }),
]
