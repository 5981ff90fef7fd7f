import type { Scope, ScopeRule } from '../catalogue/model.ts'
import { bodyReaders } from '../request/body-readers.ts'
import { asksApproval, type IntegrationScopes } from './compile-scopes.ts'

/** PHP reads fields only from these types, and only its frameworks read a path from a field. */
const SAYS_FORM = /form-urlencoded|multipart/i
export const saysForm = (content_type: string): boolean => SAYS_FORM.test(content_type)

/**
 * Whether a body of this type may name a method or path that is not allowed. If the agent's only scope for the integration
 * allows every method and path, nothing that it names makes a difference, except in a batch, or if a rule asks for approvals.
 * @param isAlone no other integration has the origin of the target, to which a path in the body could lead
 * @param is_batch_path whether the call is for a batch endpoint (`isBatchPath`)
 */
export function mayBodyOverride(
  { scopes }: IntegrationScopes,
  scope: Scope,
  content_type: string,
  isAlone: boolean,
  is_batch_path: boolean,
): boolean {
  const { is_inert, is_binary } = bodyReaders(content_type)
  if (!saysForm(content_type) && (is_batch_path ? is_inert && !is_binary : is_inert)) return false
  // Outside of a batch, a path is read only from forms.
  const mayLeadElsewhere = !isAlone && saysForm(content_type)
  if (is_batch_path || scopes.length > 1 || mayLeadElsewhere || scopes.some(asksApproval))
    return true
  return !scope.rules.some(allowsAll)
}

const allowsAll = ({ methods, paths }: ScopeRule): boolean =>
  methods.includes('*') && paths.includes('/**')
