import { isDeepStrictEqual } from 'node:util'
import { checkInput } from '../http/check-input.ts'
import type { AdminCall } from '../http/define-route.ts'
import { checkPrecondition } from '../http/entity-tag.ts'
import { type Outcome, invalid, notFound } from '../http/outcome.ts'
import { checkReadOnly } from './check-read-only.ts'
import { mergePatch } from './merge-patch.ts'
import { planChange } from './plan-change.ts'
import type { AnyEdit, AnyResource, Params, View } from './resource.ts'
import { showOne } from './show-one.ts'

/** Applies a JSON merge patch to a record: the result of the merge is checked as a whole, then `apply` decides. */
export async function planEdit<R>(
  resource: AnyResource<R>,
  edit: AnyEdit<R>,
  call: AdminCall<Params>,
): Promise<Outcome> {
  const id = call.params[resource.id] ?? ''
  const stored = await resource.store.find(call, id)
  if (stored === null) return notFound()
  const { record, text } = stored
  const stale = checkPrecondition(call.headers, text)
  if (stale !== null) return stale
  const shown = await showOne(resource, call, record)
  const patch = call.body as View
  const fixed = checkReadOnly(patch, shown, edit.read_only)
  if (fixed.length > 0) return invalid(fixed)
  const checked = checkInput(edit.schema, mergedWith(edit, shown, patch))
  if (!checked.ok) return invalid(checked.issues)
  const edited = await edit.apply({ call, record, value: checked.value, patch })
  if (edited.kind === 'refusal') return edited
  return await planChange(resource, call, stored, edited, 'update')
}

/** The record after a patch, with defaults. */
function mergedWith<R>(edit: AnyEdit<R>, shown: View, patch: View): View {
  const { schema, read_only, moving = [], write_only = [], whole = [], nullable = [] } = edit
  const isUnchanged = (name: string): boolean =>
    write_only.includes(name) && isDeepStrictEqual(patch[name], shown[name])
  const changes = pick(
    patch,
    Object.keys(patch).filter(
      (name) => ![...read_only, ...moving].includes(name) && !isUnchanged(name),
    ),
  )
  const current = pick(
    shown,
    Object.keys(schema.properties).filter((name) => !write_only.includes(name)),
  )
  return withDefaults(edit.defaults ?? {}, mergePatch(current, changes, { whole, nullable }))
}

/** Fills missing members with defaults, in nested objects too. */
function withDefaults(defaults: View, given: View): View {
  const filled: Record<string, unknown> = { ...given }
  for (const [name, value] of Object.entries(defaults))
    if (filled[name] === undefined) filled[name] = value
    else if (isObject(value) && isObject(filled[name]))
      filled[name] = withDefaults(value, filled[name])
  return filled
}

const pick = (from: View, names: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(
    names.filter((name) => Object.hasOwn(from, name)).map((name) => [name, from[name]]),
  )

const isObject = (value: unknown): value is View =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
