import { type Static, Type } from 'typebox'
import type { Admission } from '../../core/decision/admission.ts'
import type { NearestRule } from '../../core/decision/choose-scope.ts'
import type { CompiledIntegration } from '../../core/decision/compile-integrations.ts'
import type { NeededApproval } from '../../core/decision/needed-approval.ts'
import type { Connection } from '../../core/catalogue/model.ts'
import { Nullable, Strict } from '../http/common-schemas.ts'

/** Of a call that is refused with `method_not_allowed`: the first rule that covers its path. */
const NearestRuleView = Strict({
  scope_id: Type.String(),
  name: Type.String({ description: 'Of the scope' }),
  rule: Type.Integer({ description: 'Position of the rule in its scope, from 0' }),
  methods: Type.Array(Type.String(), { description: 'What the rule allows' }),
})

/** The decision, in the order of checks, up to the scope that applies to the call. */
export type Explanation = Static<typeof Explanation>
export const Explanation = Strict({
  answer: Type.Enum(['allowed', 'refused'], {
    description:
      'Rate limits, tools, the scan, and the address to which a host name resolves are checked only when the call is made',
  }),
  error: Nullable(Type.String({ description: 'The error code that the caller would receive' })),
  details: Type.Record(Type.String(), Type.Unknown()),
  integration: Nullable(
    Strict({ integration_id: Type.String(), name: Type.String(), base_url: Type.String() }),
  ),
  connection: Nullable(
    Strict({
      connection_id: Type.String(),
      name: Type.String(),
      subject: Type.String(),
      status: Type.String(),
    }),
  ),
  scope: Nullable(Strict({ scope_id: Type.String(), name: Type.String() })),
  rule: Nullable(Type.Integer({ description: 'Position of the rule in its scope, from 0' })),
  nearest: Nullable(NearestRuleView),
  approval: Nullable(
    Strict({
      needed: Type.Integer(),
      approvers: Type.String(),
      rules: Type.Array(Strict({ scope_id: Type.String(), rule: Type.Integer() })),
    }),
  ),
  settings_from: Type.Array(Type.String(), {
    description: 'All scopes whose security settings apply to the call',
  }),
})

/**
 * An admission in the words of the admin API.
 * @throws when a fact is missing: an operator's question comes with all of them
 */
export function explanation(admission: Admission): Explanation {
  switch (admission.kind) {
    case 'missing':
      throw new Error(`the fact ${admission.fact} is missing`)
    case 'not_admitted': {
      const { reason, details, known, nearest = null } = admission
      const { integration } = known
      return {
        answer: 'refused',
        error: reason,
        integration: integration === null ? null : named(integration),
        connection: null,
        scope: null,
        rule: null,
        nearest: nearest === null ? null : namedRule(nearest),
        approval: null,
        settings_from: [],
        details,
      }
    }
    case 'admitted': {
      const { integration, scope, rule, settings, approval, credential } = admission
      // No integration and no scope name the host.
      if (integration.is_unlisted) return UNLISTED
      const { connection } = credential.credential
      const connection_id = connection?.connection_id ?? scope.connection_id ?? null
      const isRefused = credential.kind === 'refused'
      return {
        answer: isRefused ? 'refused' : 'allowed',
        error: isRefused ? 'connection_required' : null,
        integration: named(integration),
        connection: connection === null ? null : namedConnection(connection),
        scope: { scope_id: scope.scope_id, name: scope.name },
        rule,
        nearest: null,
        approval: approval === null ? null : shownApproval(approval),
        settings_from: [...settings.scope_ids],
        details: isRefused
          ? { connection_id, status: credential.status, base_url: integration.base.base_url }
          : {},
      }
    }
  }
}

const UNLISTED: Explanation = {
  answer: 'allowed',
  error: null,
  integration: null,
  connection: null,
  scope: null,
  rule: null,
  nearest: null,
  approval: null,
  settings_from: [],
  details: {},
}

const shownApproval = ({ needed, approvers, by }: NeededApproval) => ({
  needed,
  approvers,
  rules: by.map(({ scope, rule }) => ({ scope_id: scope.scope_id, rule })),
})

function namedRule({ scope, rule }: NearestRule): NonNullable<Explanation['nearest']> {
  const { scope_id, name, rules } = scope
  return { scope_id, name, rule, methods: rules[rule]?.methods.slice() ?? [] }
}

function named({ integration }: CompiledIntegration): NonNullable<Explanation['integration']> {
  const { integration_id, name, base_url } = integration
  return { integration_id, name, base_url }
}

/** Never its credential. */
const namedConnection = ({
  connection_id,
  name,
  subject,
  status,
}: Connection): NonNullable<Explanation['connection']> => ({ connection_id, name, subject, status })
