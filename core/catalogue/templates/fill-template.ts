import type { ScopeRule } from '../model.ts'
import { readRule } from '../rule-text.ts'
import { TEMPLATE_ACTIONS, type ApiTemplate, type TemplateAction } from './template.ts'

const PARAMETER = /\{(\w+)\}/g

export const parametersOf = ({ base_url, auth }: ApiTemplate): readonly string[] => [
  ...new Set(
    [base_url, ...Object.values(auth)].flatMap((text) =>
      [...text.matchAll(PARAMETER)].map(([, name = '']) => name),
    ),
  ),
]

/** A text of a template with the values of its parameters; `onMissing` hears of those without one. */
export const fillParameters = (
  text: string,
  values: Readonly<Record<string, unknown>>,
  onMissing: (name: string) => void = () => undefined,
): string =>
  text.replace(PARAMETER, (_, name: string) => {
    const value = Object.hasOwn(values, name) ? values[name] : undefined
    if (typeof value === 'string' && value !== '') return value
    onMissing(name)
    return ''
  })

/** The rights at the provider that named actions need. */
export const consentScope = (
  { scopes, separator }: NonNullable<ApiTemplate['oauth']>,
  actions: readonly TemplateAction[],
): string => [...new Set(actions.flatMap((action) => scopes[action] ?? []))].join(separator)

/** @throws for a line that is no rule; a test reads all */
export const rulesOf = (
  template: ApiTemplate,
  actions: readonly TemplateAction[],
): readonly ScopeRule[] =>
  actions
    .flatMap((action) => template.actions[action] ?? [])
    .map((text) => {
      const rule = readRule(text)
      if (rule === null) throw new Error(`${template.name}: ${text} is no rule`)
      return rule
    })

export const actionsOf = ({ actions }: ApiTemplate): readonly TemplateAction[] =>
  TEMPLATE_ACTIONS.filter((action) => actions[action] !== undefined)

/** What an agent gets unless the operator chooses: the least, or what the API is of no use without. */
export const proposedActions = (template: ApiTemplate): readonly TemplateAction[] =>
  template.proposed_actions ?? actionsOf(template).slice(0, 1)

/** A path that a GET may have, to try. */
export function pathToTry(rules: readonly ScopeRule[]): string {
  const path = rules
    .filter(({ methods }) => methods.includes('GET'))
    .flatMap(({ paths }) => paths)
    .find((one) => !one.includes('*'))
  return path === undefined || path === '/' ? '' : path
}

/** The members of a scope that allows named actions, in the order of the template. */
export function scopeOfTemplate(template: ApiTemplate, actions: readonly TemplateAction[]) {
  const tools = actions.flatMap((action) => template.mcp_tools?.[action] ?? [])
  return {
    name: `${template.name} ${actions.join(', ')}`,
    rules: rulesOf(template, actions),
    ...(tools.length === 0 ? {} : { mcp_tools: { allow: tools } }),
  }
}
