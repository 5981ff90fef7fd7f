import { CONNECTION_RESOURCE } from '../../admin/connections/connection-schemas.ts'
import { AGENT_DEFAULTS, AGENT_RESOURCE } from '../../admin/agents/agent-schemas.ts'
import {
  INTEGRATION_DEFAULTS,
  INTEGRATION_RESOURCE,
} from '../../admin/integrations/integration-schemas.ts'
import { SCOPE_RESOURCE } from '../../admin/scopes/scope-schemas.ts'
import { WEBHOOK_RESOURCE } from '../../admin/webhooks/webhook-schemas.ts'
import { SCOPE_DEFAULTS } from '../../core/catalogue/model.ts'

/** The sections of a file, in the order in which a change of one may need those before it. */
export const SECTIONS = ['integrations', 'agents', 'connections', 'scopes', 'webhooks'] as const
export type Section = (typeof SECTIONS)[number]

/** What a scope or a connection refers to. */
export const OWNERS = ['agents', 'integrations'] as const satisfies readonly Section[]
export type Owner = (typeof OWNERS)[number]
export const isOwned = (kind: Section): kind is 'connections' | 'scopes' =>
  kind === 'connections' || kind === 'scopes'
/** The member that refers to one. */
export const REFERENCE = { agents: 'agent', integrations: 'integration' } as const

/** What the admin API calls a resource of a kind, where it is, and how `agw apply` changes it. */
export interface SectionResource {
  readonly name: string
  readonly path: `/${string}`
  readonly id: string
  /** The member that people know it by. */
  readonly named_by: string
  readonly method: 'PUT' | 'PATCH'
  /** What is taken for a member that the file leaves out. */
  readonly defaults: Json
}

/** Members of a resource, as JSON has them. */
export type Json = Readonly<Record<string, unknown>>

export const SECTION_RESOURCES: Readonly<Record<Section, SectionResource>> = {
  integrations: {
    ...INTEGRATION_RESOURCE,
    named_by: 'name',
    method: 'PUT',
    defaults: INTEGRATION_DEFAULTS,
  },
  agents: {
    ...AGENT_RESOURCE,
    named_by: 'agent_name',
    method: 'PATCH',
    defaults: AGENT_DEFAULTS,
  },
  connections: {
    ...CONNECTION_RESOURCE,
    // All of them; pathOf has those of an integration.
    path: '/admin/connections',
    named_by: 'name',
    method: 'PATCH',
    defaults: {},
  },
  scopes: { ...SCOPE_RESOURCE, named_by: 'name', method: 'PUT', defaults: SCOPE_DEFAULTS },
  webhooks: {
    ...WEBHOOK_RESOURCE,
    named_by: 'name',
    method: 'PATCH',
    defaults: { secret: null, format: 'standard', ca_certificates: null },
  },
}

/** Where resources like this one are created, and below which each has its own path. */
export const pathOf = (kind: Section, { integration_id }: Json): string =>
  kind === 'connections'
    ? CONNECTION_RESOURCE.path.replace(
        ':integration_id',
        encodeURIComponent(String(integration_id)),
      )
    : SECTION_RESOURCES[kind].path

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
