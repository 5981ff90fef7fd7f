import type { Scope, ScopeRule } from '../model.ts'
import { bodyReaders } from './body-readers.ts'
import type { IntegrationScopes } from './compile-scopes.ts'

/** PHP reads fields only from these types, and only its frameworks read a path from a field. */
const SAYS_FORM = /form-urlencoded|multipart/i
export const saysForm = (content_type: string): boolean => SAYS_FORM.test(content_type)

/**
 * Whether a body of this type may name a method or path that is not allowed. If the agent's only scope for the integration
 * allows every method, a method in the body makes no difference, and a body that is not a form need not be buffered; a form
 * need not be either if the scope allows every path too.
 * @param isAlone no other integration has the origin of the target, to which a path in a form could lead
 */
export function mayBodyOverride(
  { scopes }: IntegrationScopes,
  { scope, rule }: { readonly scope: Scope; readonly rule: number },
  content_type: string,
  isAlone: boolean,
): boolean {
  if (saysForm(content_type)) return scopes.length > 1 || !isAlone || !scope.rules.some(allowsAll)
  if (bodyReaders(content_type).is_inert) return false
  return scopes.length > 1 || scope.rules[rule]?.methods.includes('*') !== true
}

const allowsAll = ({ methods, paths }: ScopeRule): boolean =>
  methods.includes('*') && paths.includes('/**')
