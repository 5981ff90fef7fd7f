import { Type } from 'typebox'
import { UNLISTED_HOSTS } from '../../core/catalogue/model.ts'
import { Name, Strict, Timestamp } from '../http/common-schemas.ts'
import { Email } from '../access/token-schemas.ts'

export const ORGANIZATIONS_LIMIT = 10_000

const UnlistedHosts = Type.Enum([...UNLISTED_HOSTS], {
  default: 'refuse',
  description:
    'What the forward proxy does for agents that do not say otherwise with calls to hosts that no integration, also_hosts entry or blind host names.',
})

export const EditableOrganization = Strict({ name: Name, unlisted_hosts: UnlistedHosts })

export const NewOrganization = Strict({
  name: Name,
  unlisted_hosts: Type.Optional(UnlistedHosts),
  admin_email: Type.Optional(Email),
})

export const OrganizationView = Strict({
  organization_id: Type.String(),
  name: Type.String(),
  unlisted_hosts: UnlistedHosts,
  created_at: Timestamp,
})

export const CreatedOrganization = Strict({
  ...OrganizationView.properties,
  admin_token: Type.String({ description: 'Its first admin token. It is shown only once.' }),
  admin_token_id: Type.String(),
})
