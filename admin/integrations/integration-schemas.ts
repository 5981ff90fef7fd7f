import { Type } from 'typebox'
import { Name, Strict, Timestamp, Warnings } from '../http/common-schemas.ts'
import { AuthSchema, AuthView } from './auth-schema.ts'

/** Its name and path, for its routes and for `agw apply`. */
export const INTEGRATION_RESOURCE = {
  name: 'integration',
  path: '/admin/integrations',
  id: 'integration_id',
} as const

/** An edge holds all integrations of an organization, compiled. */
export const INTEGRATIONS_LIMIT = 1000
/** Scopes that one deletion with ?cascade=true removes in one script. */
export const CASCADE_SCOPES_LIMIT = 2000

const BaseUrl = Type.String({
  minLength: 1,
  maxLength: 2048,
  description: 'Scheme, host, port and path up to and including the version segment of the API',
})

export const EditableIntegration = Strict({
  name: Name,
  base_url: BaseUrl,
  strip_agent_id: Type.Boolean({ default: true }),
  allow_empty_segments: Type.Boolean({ default: false }),
  allow_encoded_slashes: Type.Boolean({
    default: false,
    description:
      'The API treats an encoded slash (%2F) as part of a name, as GitLab does. Otherwise a path with one is allowed only if one scope allows every reading of it: as written, and split at the encoded slashes.',
  }),
  /** A change without it keeps the stored credential. */
  auth: Type.Optional(AuthSchema),
})

export const NewIntegration = Strict({
  ...EditableIntegration.properties,
  auth: AuthSchema,
  strip_agent_id: Type.Optional(EditableIntegration.properties.strip_agent_id),
  allow_empty_segments: Type.Optional(EditableIntegration.properties.allow_empty_segments),
  allow_encoded_slashes: Type.Optional(EditableIntegration.properties.allow_encoded_slashes),
})

export const IntegrationView = Strict({
  integration_id: Type.String(),
  name: Type.String(),
  base_url: Type.String(),
  strip_agent_id: Type.Boolean(),
  allow_empty_segments: Type.Boolean(),
  allow_encoded_slashes: Type.Boolean(),
  auth: AuthView,
  created_at: Timestamp,
  warnings: Type.Optional(Warnings),
})

export const INTEGRATION_DEFAULTS = {
  strip_agent_id: true,
  allow_empty_segments: false,
  allow_encoded_slashes: false,
}
