import { TEMPLATES } from '../../core/catalogue/templates/all.ts'
import {
  actionsOf,
  fillParameters,
  parametersOf,
  scopeOfTemplate,
} from '../../core/catalogue/templates/fill-template.ts'
import type { ApiTemplate } from '../../core/catalogue/templates/template.ts'
import type { EntryIssue } from './check-entry.ts'
import { nearestName } from './nearest-name.ts'
import { isObject, type Json } from './section-resources.ts'

interface Expanded {
  readonly item: Json
  readonly issues: readonly EntryIssue[]
}

/** An integration or a scope of a file without `template`, `parameters` and `actions`: what these stand for, below what it says itself. */
export function expandTemplate(kind: string, item: Json): Expanded {
  const { template: name, parameters, actions, ...own } = item
  if (name === undefined || (kind !== 'integrations' && kind !== 'scopes'))
    return { item, issues: [] }
  const template = typeof name === 'string' ? findTemplate(name) : null
  if (template === null)
    return { item: own, issues: [{ path: '/template', message: unknownTemplate(name) }] }
  const issues: EntryIssue[] = []
  const issue = (path: string, message: string): void => void issues.push({ path, message })
  if (kind === 'integrations') {
    if (actions !== undefined) issue('/actions', 'belong to a scope')
    return { item: { ...integrationOf(template, own, parameters, issue), ...without(own) }, issues }
  }
  if (parameters !== undefined) issue('/parameters', 'belong to an integration')
  const isSelecting = own['integration_selector'] !== undefined
  const integration = isSelecting ? {} : { integration: template.name }
  return { item: { ...scopeOfActions(template, actions, issue), ...integration, ...own }, issues }
}

export const findTemplate = (name: string): ApiTemplate | null =>
  TEMPLATES.find((one) => one.name === name) ?? null

export function unknownTemplate(name: unknown): string {
  const names = TEMPLATES.map((one) => one.name)
  const near = nearestName(String(name), names)
  return `is no template; ${near === null ? `there are ${names.join(', ')}` : `did you mean ${near}?`}`
}

type AddIssue = (path: string, message: string) => void

const without = (own: Json): Json =>
  Object.fromEntries(Object.entries(own).filter(([name]) => name !== 'auth'))

function integrationOf(template: ApiTemplate, own: Json, given: unknown, issue: AddIssue): Json {
  const values = isObject(given) ? given : {}
  const missing = new Set<string>()
  const fill = (text: string): string => fillParameters(text, values, (name) => missing.add(name))
  const { auth, secrets, also_hosts, allow_encoded_slashes } = template
  const needed = new Set(parametersOf(template))
  const unknown = Object.keys(values).find((name) => !needed.has(name))
  if (unknown !== undefined) issue(`/parameters/${unknown}`, 'is no parameter of the template')
  const auth_given = isObject(own['auth']) ? own['auth'] : {}
  const isOther = auth_given['type'] !== undefined && auth_given['type'] !== auth.type
  const base_url = own['base_url'] === undefined ? fill(template.base_url) : undefined
  const auth_filled = Object.fromEntries(
    Object.entries(auth).map(([name, text]) => [name, auth_given[name] ?? fill(text)]),
  )
  for (const name of missing)
    issue('/parameters', `must have ${name}: ${template.parameters?.[name] ?? 'a text'}`)
  return {
    name: template.name,
    base_url,
    ...(also_hosts === undefined ? {} : { also_hosts }),
    ...(allow_encoded_slashes === undefined ? {} : { allow_encoded_slashes }),
    auth: isOther
      ? auth_given
      : {
          ...auth_filled,
          ...Object.fromEntries(
            Object.entries(secrets).map(([name, variable]) => [name, `\${${variable}}`]),
          ),
          ...auth_given,
        },
  }
}

/** The scope of the actions, for no integration yet. */
export function scopeOfActions(template: ApiTemplate, given: unknown, issue: AddIssue): Json {
  const has = actionsOf(template)
  const proposed = given === undefined ? has.filter((action) => action === 'read') : []
  const actions: readonly unknown[] = Array.isArray(given) ? given : proposed
  if (actions.length === 0) issue('/actions', `must be a list of ${has.join(', ')}`)
  for (const [i, action] of actions.entries())
    if (!has.some((known) => known === action))
      issue(`/actions/${i}`, `is no action of ${template.name}; it has ${has.join(', ')}`)
  const chosen = has.filter((action) => actions.includes(action))
  return scopeOfTemplate(template, chosen)
}
