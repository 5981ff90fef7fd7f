import { type TObject, type TProperties, type TSchema, Type } from 'typebox'
import { Empty, Id, ListOf, PageQuery, Strict } from '../http/common-schemas.ts'
import { type AdminCall, defineRoute, type Route } from '../http/define-route.ts'
import { entityTag } from '../http/entity-tag.ts'
import { type Outcome, answer, notFound } from '../http/outcome.ts'
import { BULK_LIMIT } from './bulk-limit.ts'
import { DRY_RUN } from './dry-run.ts'
import { listPage } from './list-page.ts'
import { patchOf } from './patch-of.ts'
import { planCreate } from './plan-create.ts'
import { planCreateMany } from './plan-create-many.ts'
import { planEdit } from './plan-edit.ts'
import { planRemove } from './plan-remove.ts'
import type { AnyEdit, AnyResource, Bulk, Params, Resource } from './resource.ts'
import { showOne } from './show-one.ts'

/**
 * The routes of a resource: create, list, read, change and delete. Reads and changes answer with an ETag; changes and
 * deletions take it as If-Match.
 */
export function defineResource<
  R,
  New extends TSchema,
  Query extends TProperties,
  Editable extends TObject,
  RemoveQuery extends TObject,
>(declared: Resource<R, New, Query, Editable, RemoveQuery>): readonly Route[] {
  const resource = declared as unknown as AnyResource<R>
  const { path, id, view, params = {}, create, list, read, edit, remove, tag, access } = resource
  const shared = { ...access, tag }
  const read_role = resource.read_role ?? 'viewer'
  const one = {
    path: `${path}/:${id}` as Route['path'],
    params: Strict({ ...params, [id]: Id(id) }),
  }
  const all = { path, ...(Object.keys(params).length > 0 ? { params: Strict(params) } : {}) }
  return [
    defineRoute({
      ...shared,
      ...all,
      method: 'POST',
      role: 'admin',
      summary: create.summary,
      body: create.body,
      query: Strict(DRY_RUN),
      answers: { 201: create.answer ?? view, 200: view },
      handle: (call) => planCreate(resource, call as AdminCall<Params>),
    }),
    ...(create.bulk === undefined ? [] : [bulkRoute(resource, create.bulk, shared)]),
    defineRoute({
      ...shared,
      ...all,
      method: 'GET',
      role: read_role,
      summary: list.summary,
      ...(list.compressed ? { compressed: true } : {}),
      query: Strict({ ...list.query, ...PageQuery }),
      answers: { 200: ListOf(view) },
      handle: (call) => listOf(resource, call as AdminCall<Params, PageQuery>),
    }),
    defineRoute({
      ...shared,
      ...one,
      method: 'GET',
      role: read_role,
      summary: read.summary,
      answers: { 200: view },
      handle: (call) => readOne(resource, call as AdminCall<Params>),
    }),
    ...(edit === undefined ? [] : editRoutes(resource, edit, { ...shared, ...one })),
    defineRoute({
      ...shared,
      ...one,
      method: 'DELETE',
      role: 'admin',
      conditional: true,
      summary: remove.summary,
      query: Strict({ ...remove.query?.properties, ...DRY_RUN }),
      answers: { 204: Empty },
      handle: (call) => planRemove(resource, call as AdminCall<Params>),
    }),
  ]
}

const bulkRoute = <R>(resource: AnyResource<R>, bulk: Bulk, shared: Pick<Route, 'tag'>): Route =>
  defineRoute({
    ...shared,
    method: 'POST',
    path: bulk.path,
    role: 'admin',
    summary: bulk.summary,
    body: Strict({
      data: Type.Array(resource.create.body, { minItems: 1, maxItems: BULK_LIMIT }),
    }),
    query: Strict(DRY_RUN),
    answers: {
      201: Strict({ data: Type.Array(resource.create.answer ?? resource.view) }),
      200: Strict({ data: Type.Array(resource.view) }),
    },
    handle: (call) => planCreateMany(resource, bulk, call as never),
  })

const editRoutes = <R>(
  resource: AnyResource<R>,
  edit: AnyEdit<R>,
  shared: Pick<Route, 'tag' | 'path' | 'params'>,
): Route[] =>
  edit.methods.map((method) =>
    defineRoute({
      ...shared,
      method,
      role: 'admin',
      conditional: true,
      summary: edit.summary,
      body: patchOf(
        edit.body ?? edit.schema,
        [...edit.read_only, ...(edit.moving ?? [])],
        edit.whole ?? [],
      ),
      query: Strict(DRY_RUN),
      answers: { 200: resource.view },
      handle: (call) => planEdit(resource, edit, call as AdminCall<Params>),
    }),
  )

async function listOf<R>(
  resource: AnyResource<R>,
  call: AdminCall<Params, PageQuery>,
): Promise<Outcome> {
  const { store, list, show } = resource
  const narrowed = (await list.narrow?.(call as never)) ?? {}
  if ('kind' in narrowed) return narrowed
  const { redis } = call.context
  return await listPage<R>(
    {
      redis,
      index: store.indexFor(call),
      read: (ids) => store.read(redis, call.actor.organization_id, ids),
      ...narrowed,
    },
    call.query,
    async (records) => [...(await show(call, records))],
  )
}

async function readOne<R>(resource: AnyResource<R>, call: AdminCall<Params>): Promise<Outcome> {
  const stored = await resource.store.find(call, call.params[resource.id] ?? '')
  if (stored === null) return notFound()
  const view = await showOne(resource, call, stored.record)
  return answer(200, view, { etag: entityTag(stored.text) })
}
