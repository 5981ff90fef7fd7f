import type { Static } from 'typebox'
import type { Labels, Selector } from '../../core/catalogue/model.ts'
import { isEmptySelector } from '../../core/decision/selector.ts'
import type { Issue } from '../http/outcome.ts'
import { LABELS_LIMIT, type SelectorSchema, TERMS_LIMIT } from './label-schemas.ts'

const NAME = /^[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/
const PREFIX = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/
const PREFIX_LENGTH_LIMIT = 253

const KEY_MESSAGE =
  'must be a label key: at most 63 letters, digits, "-", "_" and ".", beginning and ending with a letter or digit; before it may be a DNS name and "/"'
const VALUE_MESSAGE =
  'must be empty or at most 63 letters, digits, "-", "_" and ".", beginning and ending with a letter or digit'

function isKey(key: string): boolean {
  const [name = '', prefix, ...more] = key.split('/').reverse()
  if (more.length > 0 || !NAME.test(name)) return false
  return prefix === undefined || (prefix.length <= PREFIX_LENGTH_LIMIT && PREFIX.test(prefix))
}

const isValue = (value: string): boolean => value === '' || NAME.test(value)

/** Part of a JSON pointer. */
const escaped = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1')

export function checkLabels(labels: Labels, path = '/labels', limit = LABELS_LIMIT): Issue[] {
  const all = Object.entries(labels)
  if (all.length > limit) return [{ path, message: `must have at most ${limit} members` }]
  return all.flatMap(([key, value]) => {
    const at = `${path}/${escaped(key)}`
    return [
      ...(isKey(key) ? [] : [{ path: at, message: KEY_MESSAGE }]),
      ...(isValue(value) ? [] : [{ path: at, message: VALUE_MESSAGE }]),
    ]
  })
}

export function checkSelector(selector: Selector, path: string): Issue[] {
  const { match_labels, match_expressions } = selector
  const issues = checkLabels(match_labels, `${path}/match_labels`, TERMS_LIMIT)
  for (const [i, { key, operator, values }] of match_expressions.entries()) {
    const at = `${path}/match_expressions/${i}`
    const hasValues = operator === 'In' || operator === 'NotIn'
    if (!isKey(key)) issues.push({ path: `${at}/key`, message: KEY_MESSAGE })
    if (hasValues === (values.length === 0))
      issues.push({
        path: `${at}/values`,
        message: hasValues ? `must have a value for ${operator}` : `must be empty for ${operator}`,
      })
    for (const [j, value] of values.entries())
      if (!isValue(value)) issues.push({ path: `${at}/values/${j}`, message: VALUE_MESSAGE })
  }
  if (isEmptySelector(selector)) issues.push({ path, message: EMPTY })
  return issues
}

const EMPTY = 'must have a label or an expression; an empty selector would select everything'

/** With the members that may be left out. */
export const completeSelector = (
  selector: Static<typeof SelectorSchema> | null | undefined,
): Selector | null =>
  selector == null
    ? null
    : {
        match_labels: selector.match_labels ?? {},
        match_expressions: (selector.match_expressions ?? []).map(
          ({ key, operator, values = [] }) => ({ key, operator, values }),
        ),
      }
