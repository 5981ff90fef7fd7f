import { Type } from 'typebox'
import { Name, Strict, Timestamp } from '../http/common-schemas.ts'
import { Email } from '../tokens/token-schemas.ts'

export const ORGANIZATIONS_LIMIT = 10_000

export const EditableOrganization = Strict({ name: Name })

export const NewOrganization = Strict({
  name: Name,
  admin_email: Type.Optional(Email),
})

export const OrganizationView = Strict({
  organization_id: Type.String(),
  name: Type.String(),
  created_at: Timestamp,
})

export const CreatedOrganization = Strict({
  ...OrganizationView.properties,
  admin_token: Type.String({ description: 'Its first admin token. It is shown only once.' }),
  admin_token_id: Type.String(),
})
