import { Compile, type Validator } from 'typebox/compile'
import { System } from 'typebox/system'
import type { Static, TSchema } from 'typebox'
import { describeProblem, mustBeOneOf, type SchemaError } from './describe-problem.ts'
import type { Issue } from './outcome.ts'

/** Errors that one response lists; with more, the caller corrects these first. */
const ISSUES_LIMIT = 100
System.Settings.Set({ maxErrors: ISSUES_LIMIT })

type Checked<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly issues: readonly Issue[] }

/** A union of schemas with a discriminator, such as `type` of `auth`. */
interface Alternatives {
  readonly anyOf: readonly TSchema[]
  readonly discriminator: { readonly propertyName: string }
}

const compiled = new WeakMap<TSchema, Validator>()

/** Checks a value against a schema; `prefix` is put before the path of each issue. */
export function checkInput<S extends TSchema>(
  schema: S,
  value: unknown,
  prefix = '',
): Checked<Static<S>> {
  const validator = validatorOf(schema)
  if (validator.Check(value)) return { ok: true, value: value as Static<S> }
  const issues = issuesOf(schema, value)
    .map(({ path, message }) => ({ path: prefix + path, message }))
    .slice(0, ISSUES_LIMIT)
  return { ok: false, issues }
}

/** Compiles a schema before the first request that needs it: a large one takes some ten milliseconds. */
export const prepareInput = (schema: TSchema): void => void validatorOf(schema)

function validatorOf(schema: TSchema): Validator {
  const known = compiled.get(schema)
  if (known !== undefined) return known
  const validator = Compile(schema) as Validator
  compiled.set(schema, validator)
  return validator
}

function issuesOf(schema: TSchema, value: unknown): Issue[] {
  const errors = validatorOf(schema).Errors(value) as readonly SchemaError[]
  const alternatives = findAlternatives(schema, '')
  const sized = new Set(
    errors.filter(({ keyword }) => /^m..Length$/.test(keyword)).map((error) => error.instancePath),
  )
  // A text that may also be an object has an error as text, which is enough.
  const formed = new Set(
    errors.filter(({ keyword }) => keyword === 'pattern').map((error) => error.instancePath),
  )
  const seen = new Set<string>()
  const issues: Issue[] = []
  const add = (issue: Issue): void => {
    const text = `${issue.path} ${issue.message}`
    if (!seen.has(text)) issues.push(issue)
    seen.add(text)
  }
  for (const error of errors) {
    if (alternatives.some(({ at }) => isWithin(error.instancePath, at))) continue
    // If a text is empty or too long, its pattern adds nothing.
    if (error.keyword === 'pattern' && sized.has(error.instancePath)) continue
    const { keyword, instancePath: path } = error
    if (keyword === 'type' && (sized.has(path) || formed.has(path))) continue
    for (const issue of describe(schema, error)) add(issue)
  }
  for (const { at, schema: choice } of alternatives)
    for (const issue of issuesOfChoice(choice, valueAt(value, at), at)) add(issue)
  return issues.length > 0 ? issues : [{ path: '', message: 'does not have an allowed form' }]
}

/** Errors of all alternatives at once would be useless; only the alternative that the discriminator selects is reported. */
function issuesOfChoice(
  { anyOf, discriminator }: Alternatives,
  value: unknown,
  at: string,
): Issue[] {
  if (value === undefined) return []
  const name = discriminator.propertyName
  if (typeof value !== 'object' || value === null)
    return [{ path: at, message: 'must be an object' }]
  const wanted = (value as Record<string, unknown>)[name]
  const literals = anyOf.map((choice) => literalOf(choice, name))
  const chosen = anyOf[literals.indexOf(wanted)]
  if (chosen === undefined) return [{ path: `${at}/${name}`, message: mustBeOneOf(literals) }]
  if (validatorOf(chosen).Check(value)) return []
  return issuesOf(chosen, value).map(({ path, message }) => ({ path: at + path, message }))
}

function describe(schema: TSchema, error: SchemaError): Issue[] {
  const { keyword, instancePath: path, params } = error
  if (keyword === 'required') {
    const { requiredProperties } = params as { requiredProperties: readonly string[] }
    return requiredProperties.map((name) => ({ path: `${path}/${name}`, message: 'is missing' }))
  }
  if (keyword === 'additionalProperties') {
    const { additionalProperties } = params as { additionalProperties: readonly string[] }
    return additionalProperties.slice(0, ISSUES_LIMIT).map((name) => ({
      path: `${path}/${name.slice(0, 200)}`,
      message: 'is not a known member',
    }))
  }
  const message = describeProblem(schema, error)
  return message === null ? [] : [{ path, message }]
}

function findAlternatives(
  schema: TSchema,
  at: string,
): { readonly at: string; readonly schema: Alternatives }[] {
  if ('discriminator' in schema && 'anyOf' in schema)
    return [{ at, schema: schema as unknown as Alternatives }]
  const { properties } = schema as { properties?: Readonly<Record<string, TSchema>> }
  return Object.entries(properties ?? {}).flatMap(([name, member]) =>
    findAlternatives(member, `${at}/${name}`),
  )
}

const literalOf = (schema: TSchema, name: string): unknown =>
  (schema as { properties?: Record<string, { const?: unknown }> }).properties?.[name]?.const

const isWithin = (path: string, at: string): boolean => path === at || path.startsWith(`${at}/`)

function valueAt(value: unknown, at: string): unknown {
  let found = value
  for (const name of at.split('/').slice(1)) {
    if (typeof found !== 'object' || found === null) return undefined
    found = (found as Record<string, unknown>)[name]
  }
  return found
}
