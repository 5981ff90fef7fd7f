import { Type } from 'typebox'
import { REQUEST_STATUSES } from '../../core/approval/access-request.ts'
import { APPROVAL_REUSE, APPROVER_ROLES } from '../../core/catalogue/model.ts'
import { NO_CONTROLS, UNCLEAN } from '../../core/credential/text-forms.ts'
import { Count, Nullable, PageQuery, Strict, TimeText, Timestamp } from '../http/common-schemas.ts'
import { PATTERN_MESSAGE } from '../http/describe-problem.ts'

const COMMENT_LENGTH_LIMIT = 500

export const RequestQuery = Strict({
  status: Type.Optional(Type.Enum([...REQUEST_STATUSES])),
  agent_id: Type.Optional(Type.String({ maxLength: 1200 })),
  per_agent: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 200,
      description:
        'At most so many of each agent in a page, so that one cannot bury those of others',
    }),
  ),
  ...PageQuery,
})

const COMMENT = {
  comment: Type.Optional(
    Nullable(
      Type.String({
        maxLength: COMMENT_LENGTH_LIMIT,
        pattern: `^[^${UNCLEAN}]*$`,
        [PATTERN_MESSAGE]: NO_CONTROLS,
        description: 'Of a denial, the agent is shown it',
      }),
    ),
  ),
}
export const DecisionBody = Strict(COMMENT)
export const ApprovalBody = Strict({
  ...COMMENT,
  expires_at: Type.Optional(
    Nullable(
      TimeText(
        'Until then all calls of the agent by this rule are allowed, at most 30 days; without it exactly this call, once',
      ),
    ),
  ),
})

const RequestedCall = Strict({
  method: Type.String(),
  url: Type.String({ description: 'What looks like a secret is masked, as in the excerpt' }),
  digest: Type.String({ description: 'What the approval is for' }),
  body_sha256: Type.String({ description: 'Of the body as it is sent to the API' }),
  body_bytes: Count,
  excerpt: Nullable(
    Type.String({
      description:
        'The beginning of the body. Null if it is no text, or for who may not decide (role operator)',
    }),
  ),
  excerpt_is_cut: Type.Boolean(),
  action: Nullable(
    Type.String({
      description:
        'What the method and the URL do, in the words of the template of the API, or the tool of an MCP server',
    }),
  ),
  names_others: Type.Boolean({
    description:
      'It names other methods or addresses too, or carries other calls: no words say what it does',
  }),
  fields: Type.Array(Strict({ name: Type.String(), value: Type.String() }), {
    description:
      'What matters most in the body, such as amounts and recipients, wherever it stands: at most 12, those nearest to the top first',
  }),
  fields_more: Count,
  headers: Type.Array(Strict({ name: Type.String(), value: Type.String() }), {
    description: 'Those that the approval covers; empty for who may not decide',
  }),
  integration_id: Nullable(
    Type.String({ description: 'Of a request for access: the integration that has the URL now' }),
  ),
  integration_name: Nullable(Type.String()),
  integration_sha256: Type.String({ description: 'A part of the digest' }),
  scope_id: Nullable(Type.String({ description: 'Null for a request for access' })),
  scope_name: Nullable(Type.String()),
  rule: Count,
  policy_sha256: Type.String({ description: 'A part of the digest' }),
})

export const AccessRequestView = Strict({
  request_id: Type.String(),
  kind: Type.Enum(['call', 'access'], {
    description:
      'access: for a call that no rule allows; an approval with expires_at makes a scope for it',
  }),
  status: Type.Enum([...REQUEST_STATUSES], {
    description:
      'cancelled: withdrawn, or the agent was killed. failed: the approval was used, but the call was not sent',
  }),
  agent_id: Type.String(),
  agent_name: Type.String(),
  call: RequestedCall,
  justification: Nullable(Type.String()),
  justification_findings: Nullable(
    Type.Array(
      Strict({ pattern_name: Type.String(), category: Type.String(), severity: Type.String() }),
      {
        description:
          'What looks like an injection in the words of the agent; null if they were not scanned',
      },
    ),
  ),
  requested_until: Nullable(Timestamp),
  /** Of the agent; null if the log does not count each. */
  last_hour: Nullable(Strict({ calls: Count, refusals: Count, kills: Count })),
  approvers: Type.Enum([...APPROVER_ROLES]),
  needed: Count,
  reuse: Type.Enum([...APPROVAL_REUSE]),
  approvals: Type.Array(
    Strict({ email: Type.String(), approved_at: Timestamp, expires_at: Nullable(Timestamp) }),
    { description: 'expires_at: null if the person allowed the call once' },
  ),
  created_at: Timestamp,
  expires_at: Timestamp,
  decided_by: Nullable(Type.String()),
  decided_at: Nullable(Timestamp),
  comment: Nullable(Type.String()),
  consumed_at: Nullable(Timestamp),
  consumed_by: Nullable(
    Strict({
      request_id: Type.String({ description: 'Of the call, as in the activity log' }),
      edge_id: Type.String(),
    }),
  ),
  forwarded_at: Nullable(Timestamp),
  used_before: Nullable(
    Strict({
      count: Type.Integer({
        minimum: 1,
        description:
          'How often the same call was approved and used before, each time at most an hour after the last',
      }),
      last_used_at: Nullable(Timestamp),
      request_id: Type.String({ description: 'The last of these requests' }),
    }),
  ),
  result: Strict({
    scope_id: Nullable(
      Type.String({ description: 'The scope that an approval with expires_at has made' }),
    ),
  }),
  evaluation_id: Type.String({ description: 'request_id of the call that was refused first' }),
})
