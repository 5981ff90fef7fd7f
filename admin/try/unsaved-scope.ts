import { type Static, Type } from 'typebox'
import { SCOPE_DEFAULTS, type Scope } from '../../core/catalogue/model.ts'
import { checkInput } from '../http/check-input.ts'
import { Id, Strict } from '../http/common-schemas.ts'
import { type Issue, invalid, type Refusal } from '../http/outcome.ts'
import { mergePatch } from '../resources/merge-patch.ts'
import { canonicalScope } from '../scopes/canonical-scope.ts'
import { checkPatterns, type PatternChecker } from '../scopes/check-patterns.ts'
import { checkScopeSettings } from '../scopes/check-scope-settings.ts'
import { EditableScope, NewScope, SCOPE_NULLABLE, SCOPE_WHOLE } from '../scopes/scope-schemas.ts'

const {
  agent_id: _,
  agent_selector: __,
  integration_selector: ___,
  confirm_affected: ____,
  ...members
} = NewScope.properties

/** A scope as it would be saved. */
export const UnsavedScope = Strict({
  ...members,
  integration_id: Id('The integration that it allows access to'),
  agent_selector: Type.Optional(Type.Null()),
  integration_selector: Type.Optional(Type.Null()),
  scope_id: Type.Optional(
    Type.String({
      maxLength: 128,
      description: 'The scope that it replaces; without it, it is tried in addition to the others',
    }),
  ),
})

interface Owner {
  readonly organization_id: string
  readonly agent_id: string
  readonly max_body_bytes: number
  readonly created_at: string
  readonly checker: PatternChecker
}

export type Replaced =
  | { readonly ok: true; readonly scopes: readonly Scope[] }
  | { readonly ok: false; readonly refusal: Refusal }

/**
 * The scopes of an agent as they would be if this one were saved, with the checks of a save. Limits on the number and size of
 * all scopes are not checked.
 */
export async function withUnsaved(
  stored: readonly Scope[],
  unsaved: Static<typeof UnsavedScope>,
  { organization_id, agent_id, max_body_bytes, created_at, checker }: Owner,
): Promise<Replaced> {
  const { scope_id, integration_id, ...wanted } = unsaved
  const replaced = stored.find((scope) => scope.scope_id === scope_id)
  const isSelecting = (replaced?.integration_selector ?? null) !== null
  if (scope_id !== undefined && !isSelecting && replaced?.integration_id !== integration_id)
    return refused('/scope/scope_id', 'the agent has no scope with this id for this integration')
  const special = { whole: SCOPE_WHOLE, nullable: SCOPE_NULLABLE }
  const checked = checkInput(EditableScope, mergePatch(SCOPE_DEFAULTS, wanted, special))
  if (!checked.ok) return { ok: false, refusal: invalid(checked.issues.map(inScope)) }
  const edited = canonicalScope(checked.value)
  const issues = checkScopeSettings(edited, max_body_bytes)
  if (issues.length > 0) return { ok: false, refusal: invalid(issues.map(inScope)) }
  const refusal = await checkPatterns(edited.injection_detection, checker, '/scope')
  if (refusal !== null) return { ok: false, refusal }
  const scope: Scope = {
    scope_id: replaced?.scope_id ?? 'scp_unsaved',
    organization_id,
    ...edited,
    agent_id,
    // What selects APIs goes on to.
    ...(replaced !== undefined && isSelecting
      ? {
          integration_id: replaced.integration_id,
          integration_selector: replaced.integration_selector ?? null,
        }
      : { integration_id }),
    created_at: replaced?.created_at ?? created_at,
  }
  return { ok: true, scopes: [...stored.filter((one) => one !== replaced), scope] }
}

const inScope = ({ path, message }: Issue): Issue => ({ path: `/scope${path}`, message })

const refused = (path: string, message: string): Replaced => ({
  ok: false,
  refusal: invalid([{ path, message }]),
})
