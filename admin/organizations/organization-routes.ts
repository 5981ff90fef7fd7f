import type { Organization } from '../../core/model.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { listPage } from '../lists/list-page.ts'
import { readRecord, readRecords } from '../lists/records.ts'
import { Cascade, Empty, ListOf, PageQuery, Strict } from '../http/common-schemas.ts'
import { defineRoute, type Route } from '../http/define-route.ts'
import { answer, notFound } from '../http/outcome.ts'
import { patchOf } from '../http/patch-of.ts'
import { createOrganization } from './create-organization.ts'
import { deleteOrganization } from './delete-organization.ts'
import {
  CreatedOrganization,
  EditableOrganization,
  NewOrganization,
  ORGANIZATION_READ_ONLY,
  OrganizationParams,
  OrganizationView,
} from './organization-schemas.ts'
import { updateOrganization } from './update-organization.ts'

const shared = { role: 'admin', installation: true, tag: 'organizations' } as const

export const organizationRoutes: readonly Route[] = [
  defineRoute({
    ...shared,
    method: 'POST',
    path: '/admin/organizations',
    summary: 'Add an organization, with its first admin token',
    body: NewOrganization,
    answers: { 201: CreatedOrganization },
    handle: createOrganization,
  }),
  defineRoute({
    ...shared,
    method: 'GET',
    path: '/admin/organizations',
    summary: 'List organizations, newest first',
    query: Strict(PageQuery),
    answers: { 200: ListOf(OrganizationView) },
    handle: ({ context: { redis }, query }) =>
      listPage<Organization>(
        {
          redis,
          index: REDIS_KEYS.organizationIndex,
          read: (ids) => readRecords(redis, REDIS_KEYS.organizations, ids),
        },
        query,
        (organizations) => [...organizations],
      ),
  }),
  defineRoute({
    ...shared,
    method: 'GET',
    path: '/admin/organizations/:organization_id',
    summary: 'Read an organization',
    params: OrganizationParams,
    answers: { 200: OrganizationView },
    handle: async ({ context: { redis }, params: { organization_id } }) => {
      const key = REDIS_KEYS.organizations
      const stored = await readRecord<Organization>(redis, key, organization_id)
      return stored === null ? notFound() : answer(200, stored.record)
    },
  }),
  defineRoute({
    ...shared,
    method: 'PATCH',
    path: '/admin/organizations/:organization_id',
    summary: 'Rename an organization by a JSON merge patch',
    params: OrganizationParams,
    body: patchOf(EditableOrganization, ORGANIZATION_READ_ONLY, []),
    answers: { 200: OrganizationView },
    handle: updateOrganization,
  }),
  defineRoute({
    ...shared,
    method: 'DELETE',
    path: '/admin/organizations/:organization_id',
    summary: 'Delete an organization with all it has',
    params: OrganizationParams,
    query: Cascade,
    answers: { 204: Empty },
    handle: deleteOrganization,
  }),
]
