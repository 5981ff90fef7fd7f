import type { Static } from 'typebox'
import { APPROVAL_DEFAULTS, type Scope } from '../../core/catalogue/model.ts'
import { completeSelector } from '../labels/check-labels.ts'
import { readTime } from '../http/read-time.ts'
import type { EditableScope } from './scope-schemas.ts'

type Edited = Static<typeof EditableScope>
type CanonicalScope = Omit<Edited, 'agent_selector' | 'integration_selector' | 'rules'> &
  Required<Pick<Scope, 'agent_selector' | 'integration_selector' | 'rules'>>

/** Times in UTC. Methods in upper case without duplicates: methods are case-sensitive, but `get` is never meant as a different one. */
export const canonicalScope = (scope: Edited): CanonicalScope => ({
  ...scope,
  agent_selector: completeSelector(scope.agent_selector),
  integration_selector: completeSelector(scope.integration_selector),
  not_before: inUtc(scope.not_before),
  expires_at: inUtc(scope.expires_at),
  rules: scope.rules.map(({ methods, paths, upgrade = [], approval }) => ({
    methods: [...new Set(methods.map((method) => method.toUpperCase()))],
    paths,
    ...(upgrade.length === 0 ? {} : { upgrade: [...new Set(upgrade)] }),
    ...(approval === undefined ? {} : { approval: { ...APPROVAL_DEFAULTS, ...approval } }),
  })),
})

/** `checkScopeSettings` refuses what is no time. */
const inUtc = (text: string | null): string | null => {
  const ms = text === null ? null : readTime(text)
  return ms === null ? text : new Date(ms).toISOString()
}
