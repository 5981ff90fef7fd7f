import type { AdminToken } from '../../core/model.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { listPage } from '../lists/list-page.ts'
import { readRecord, readRecords } from '../lists/records.ts'
import { Empty, ListOf, PageQuery, Strict } from '../http/common-schemas.ts'
import { defineRoute, type Route } from '../http/define-route.ts'
import { answer, notFound } from '../http/outcome.ts'
import { createToken } from './create-token.ts'
import { deleteToken } from './delete-token.ts'
import { CreatedToken, NewToken, TokenParams, TokenView } from './token-schemas.ts'
import { tokenViews } from './token-view.ts'

const tag = 'tokens'

export const tokenRoutes: readonly Route[] = [
  defineRoute({
    method: 'POST',
    path: '/admin/tokens',
    role: 'admin',
    tag,
    summary: 'Make an admin token',
    body: NewToken,
    answers: { 201: CreatedToken },
    handle: createToken,
  }),
  defineRoute({
    method: 'GET',
    path: '/admin/tokens',
    role: 'admin',
    tag,
    summary: 'List admin tokens, newest first',
    query: Strict(PageQuery),
    answers: { 200: ListOf(TokenView) },
    handle: ({ context: { redis }, actor: { organization_id }, query }) =>
      listPage<AdminToken>(
        {
          redis,
          index: REDIS_KEYS.adminTokenIndex(organization_id),
          read: (ids) => readRecords(redis, REDIS_KEYS.adminTokens(organization_id), ids),
        },
        query,
        (tokens) => tokenViews(redis, organization_id, tokens),
      ),
  }),
  defineRoute({
    method: 'GET',
    path: '/admin/tokens/:token_id',
    role: 'admin',
    tag,
    summary: 'Read an admin token',
    params: TokenParams,
    answers: { 200: TokenView },
    handle: async ({ context: { redis }, actor: { organization_id }, params }) => {
      const tokens = REDIS_KEYS.adminTokens(organization_id)
      const stored = await readRecord<AdminToken>(redis, tokens, params.token_id)
      if (stored === null) return notFound()
      const [view] = await tokenViews(redis, organization_id, [stored.record])
      return answer(200, view)
    },
  }),
  defineRoute({
    method: 'DELETE',
    path: '/admin/tokens/:token_id',
    role: 'admin',
    tag,
    summary: 'Delete an admin token; it opens nothing from then on',
    params: TokenParams,
    answers: { 204: Empty },
    handle: deleteToken,
  }),
]
