import { Type } from 'typebox'
import { SELECTOR_OPERATORS } from '../../core/catalogue/model.ts'
import { Nullable, Strict } from '../http/common-schemas.ts'

export const LABELS_LIMIT = 16
/** Of a selector, and the values of a term. */
export const TERMS_LIMIT = 16
export const VALUES_LIMIT = 64
/** A prefix of at most 253 characters, a slash, and a name of at most 63. */
const KEY_LENGTH_LIMIT = 317
const VALUE_LENGTH_LIMIT = 63

const Key = Type.String({ minLength: 1, maxLength: KEY_LENGTH_LIMIT })
const Value = Type.String({ maxLength: VALUE_LENGTH_LIMIT })

const LABELS_NOTE = {
  description: `At most ${LABELS_LIMIT}, in the syntax of Kubernetes labels. Scopes select by them, so a label grants rights.`,
}
export const LabelsSchema = Type.Record(Type.String(), Value, LABELS_NOTE)
/** In a merge patch: null removes a label. */
export const LabelsPatch = Type.Record(Type.String(), Nullable(Value), LABELS_NOTE)

const Term = Strict({
  key: Key,
  operator: Type.Enum([...SELECTOR_OPERATORS]),
  values: Type.Optional(Type.Array(Value, { maxItems: VALUES_LIMIT })),
})

/** `checkSelector` checks the syntax, and that it has a term. */
export const SelectorSchema = Strict({
  match_labels: Type.Optional(Type.Record(Type.String(), Value)),
  match_expressions: Type.Optional(Type.Array(Term, { maxItems: TERMS_LIMIT })),
})

export const SelectorView = Strict({
  match_labels: Type.Record(Type.String(), Type.String()),
  match_expressions: Type.Array(
    Strict({
      key: Type.String(),
      operator: Type.Enum([...SELECTOR_OPERATORS]),
      values: Type.Array(Type.String()),
    }),
  ),
})

const ScopeRefs = Type.Array(Strict({ scope_id: Type.String(), name: Type.String() }), {
  description:
    'Only in the answer of a change: scopes that apply by a selector from now on, or no longer.',
})
export const LabelEffects = {
  scopes_gained: Type.Optional(ScopeRefs),
  scopes_lost: Type.Optional(ScopeRefs),
}
