import { Type } from 'typebox'
import { UNLISTED_HOSTS } from '../../core/catalogue/model.ts'
import { AGENT_ID_PATTERN } from '../../core/request/agent-id.ts'
import { LabelEffects, LabelsSchema, LabelsPatch } from '../labels/label-schemas.ts'
import { Name, Nullable, Strict, Timestamp } from '../http/common-schemas.ts'
import { PATTERN_MESSAGE } from '../http/describe-problem.ts'

/** Its name and path, for its routes and for `agw apply`. */
export const AGENT_RESOURCE = { name: 'agent', path: '/admin/agents', id: 'agent_id' } as const
/** Apart from `/admin/agents/…`, where it could be the id of an agent. */
export const BULK_AGENTS = { path: '/admin/bulk/agents', prefix: 'agt' } as const

/** An edge keeps the agents that call through it in a bounded cache; the store holds all of them. */
export const AGENTS_LIMIT = 100_000
export const METADATA_LIMIT_BYTES = 16_384

const AGENT_ID_MESSAGE =
  'must be at most 128 letters, digits, ".", "_", ":" and "-", beginning with a letter or digit'

export const Metadata = Type.Record(Type.String(), Type.Unknown(), {
  description: `Any object of at most ${METADATA_LIMIT_BYTES} bytes as JSON`,
})

const UnlistedHosts = Nullable(
  Type.Enum([...UNLISTED_HOSTS], {
    description:
      '`allow`: through the forward proxy, the agent may call hosts that no integration, also_hosts entry or blind host names, without a credential. Default: null, as its organization says.',
  }),
)

export const NewAgent = Strict({
  agent_name: Name,
  agent_id: Type.Optional(
    Type.String({
      pattern: AGENT_ID_PATTERN,
      [PATTERN_MESSAGE]: AGENT_ID_MESSAGE,
      description: 'Generated if omitted; never reused.',
    }),
  ),
  metadata: Type.Optional(Metadata),
  unlisted_hosts: Type.Optional(UnlistedHosts),
  labels: Type.Optional(LabelsSchema),
})

export const AGENT_DEFAULTS = { metadata: {}, unlisted_hosts: null, labels: {} }
export const EditableAgent = Strict({
  agent_name: Name,
  metadata: Metadata,
  unlisted_hosts: UnlistedHosts,
  labels: LabelsSchema,
})
export const AgentPatch = Strict({ ...EditableAgent.properties, labels: LabelsPatch })

const Count = Type.Integer({ minimum: 0 })

export const AgentView = Strict({
  agent_id: Type.String(),
  agent_name: Type.String(),
  status: Type.Enum(['active', 'killed']),
  created_at: Timestamp,
  killed_at: Nullable(Timestamp),
  kill_reason: Nullable(Type.String()),
  last_seen_at: Nullable(Timestamp),
  key_count: Count,
  scope_count: Count,
  metadata: Metadata,
  unlisted_hosts: UnlistedHosts,
  labels: LabelsSchema,
  ...LabelEffects,
  restore_gap: Type.Optional(
    Type.String({
      description:
        'Changes after this time are unknown since a restore. Calls are refused until an administrator acknowledges that.',
    }),
  ),
})

export const CreatedAgent = Strict({
  ...AgentView.properties,
  api_key: Type.String({ description: 'The first key of the agent. It is shown only once.' }),
  api_key_id: Type.String(),
})
