import type { Organization } from '../../core/catalogue/model.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { Cascade } from '../http/common-schemas.ts'
import type { Route } from '../http/define-route.ts'
import { defineResource } from '../resources/define-resource.ts'
import { storeIn } from '../resources/store-in.ts'
import { makeOrganization } from './make-organization.ts'
import {
  CreatedOrganization,
  EditableOrganization,
  NewOrganization,
  OrganizationView,
} from './organization-schemas.ts'
import { removeOrganization } from './remove-organization.ts'

export const organizationRoutes: readonly Route[] = defineResource({
  name: 'organization',
  tag: 'organizations',
  path: '/admin/organizations',
  id: 'organization_id',
  read_role: 'admin',
  access: { deployment_wide: true },
  view: OrganizationView,
  store: storeIn<Organization>(
    () => REDIS_KEYS.organizations,
    () => REDIS_KEYS.organizationIndex,
  ),
  show: (_, organizations) =>
    organizations.map((organization) => ({ unlisted_hosts: 'refuse', ...organization })),
  targets: ({ organization_id }) => [{ what: 'organization', organization_id }],
  create: {
    summary: 'Create an organization and its first admin token',
    body: NewOrganization,
    answer: CreatedOrganization,
    make: makeOrganization,
  },
  list: { summary: 'List organizations, newest first' },
  read: { summary: 'Read an organization' },
  edit: {
    summary: 'Change name and unlisted_hosts of an organization with a JSON merge patch',
    methods: ['PATCH'],
    schema: EditableOrganization,
    read_only: ['organization_id', 'created_at'],
    defaults: { unlisted_hosts: 'refuse' },
    apply: ({ record, value }) => ({ kind: 'edited', record: { ...record, ...value } }),
  },
  remove: {
    summary: 'Delete an organization and everything in it',
    query: Cascade,
    plan: removeOrganization,
  },
})
