import { INTEGRATION_DEFAULTS } from '../../admin/integrations/integration-schemas.ts'
import { SCOPE_DEFAULTS } from '../../core/model.ts'

/** The sections of a file, in the order in which a change of one may need those before it. */
export const KINDS = ['integrations', 'agents', 'scopes', 'webhooks'] as const
export type Kind = (typeof KINDS)[number]

/** What a scope refers to. */
export const OWNERS = ['agents', 'integrations'] as const satisfies readonly Kind[]
export type Owner = (typeof OWNERS)[number]
/** The member of a scope that refers to one. */
export const REFERENCE = { agents: 'agent', integrations: 'integration' } as const

/** What the admin API calls a resource of a kind, where it is, and how it is changed. */
export interface ResourceKind {
  readonly noun: string
  readonly path: `/${string}`
  readonly id: string
  readonly name: string
  readonly method: 'PUT' | 'PATCH'
  /** What stands in for a member that the file leaves out. */
  readonly defaults: Json
}

/** Members of a resource, as JSON has them. */
export type Json = Readonly<Record<string, unknown>>

export const RESOURCE_KINDS: Readonly<Record<Kind, ResourceKind>> = {
  integrations: {
    noun: 'integration',
    path: '/admin/integrations',
    id: 'integration_id',
    name: 'name',
    method: 'PUT',
    defaults: INTEGRATION_DEFAULTS,
  },
  agents: {
    noun: 'agent',
    path: '/admin/agents',
    id: 'agent_id',
    name: 'agent_name',
    method: 'PATCH',
    defaults: { metadata: {} },
  },
  scopes: {
    noun: 'scope',
    path: '/admin/scopes',
    id: 'scope_id',
    name: 'name',
    method: 'PUT',
    defaults: SCOPE_DEFAULTS,
  },
  webhooks: {
    noun: 'webhook',
    path: '/webhooks',
    id: 'webhook_id',
    name: 'name',
    method: 'PATCH',
    defaults: { secret: null },
  },
}

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
