import type { AdminToken } from '../../core/catalogue/model.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { Route } from '../http/define-route.ts'
import { defineResource } from '../resources/define-resource.ts'
import { storeIn } from '../resources/store-in.ts'
import { makeToken } from './make-token.ts'
import { removeToken } from './remove-token.ts'
import { CreatedToken, NewToken, TokenView } from './token-schemas.ts'
import { tokenViews } from './token-view.ts'

export const tokenRoutes: readonly Route[] = defineResource({
  name: 'token',
  tag: 'tokens',
  path: '/admin/tokens',
  id: 'token_id',
  read_role: 'admin',
  view: TokenView,
  store: storeIn<AdminToken>(REDIS_KEYS.adminTokens, REDIS_KEYS.adminTokenIndex),
  show: ({ context, actor }, tokens) => tokenViews(context.redis, actor.organization_id, tokens),
  targets: () => [],
  create: {
    summary: 'Create an admin token',
    body: NewToken,
    answer: CreatedToken,
    make: makeToken,
  },
  list: { summary: 'List admin tokens, newest first' },
  read: { summary: 'Read an admin token' },
  remove: {
    summary: 'Delete an admin token. It stops working immediately',
    plan: removeToken,
  },
})
