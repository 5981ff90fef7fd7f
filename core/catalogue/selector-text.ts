import type { Selector, SelectorTerm } from './model.ts'

/** A selector as kubectl writes it: `team=billing,env in (prod,staging),!legacy`. */
export const writeSelector = ({ match_labels, match_expressions }: Selector): string =>
  [
    ...Object.entries(match_labels).map(([key, value]) => `${key}=${value}`),
    ...match_expressions.map(writeTerm),
  ].join(',')

function writeTerm({ key, operator, values }: SelectorTerm): string {
  switch (operator) {
    case 'In':
      return `${key} in (${values.join(',')})`
    case 'NotIn':
      return `${key} notin (${values.join(',')})`
    case 'Exists':
      return key
    case 'DoesNotExist':
      return `!${key}`
  }
}

const TERM =
  /^(?:!\s*(?<absent>[^\s,=!()]+)|(?<key>[^\s,=!()]+)(?:\s*(?:==?)\s*(?<is>[^\s,=!()]*)|\s*!=\s*(?<not>[^\s,=!()]*)|\s+(?<how>in|notin)\s*\((?<list>[^()]*)\))?)\s*(?:,\s*|$)/

/** Reads what `writeSelector` writes; null if it is none. The service checks keys and values. */
export function readSelector(text: string): Selector | null {
  const match_labels: Record<string, string> = {}
  const match_expressions: SelectorTerm[] = []
  for (let rest = text.trim(); rest !== ''; ) {
    const found = TERM.exec(rest)
    const { absent, key = '', is, not, how, list = '' } = found?.groups ?? {}
    if (found === null) return null
    rest = rest.slice(found[0].length)
    const values = list.split(',').map((value) => value.trim())
    if (absent !== undefined)
      match_expressions.push({ key: absent, operator: 'DoesNotExist', values: [] })
    else if (is !== undefined && !Object.hasOwn(match_labels, key)) match_labels[key] = is
    else if (is !== undefined) match_expressions.push({ key, operator: 'In', values: [is] })
    else if (not !== undefined) match_expressions.push({ key, operator: 'NotIn', values: [not] })
    else if (how !== undefined)
      match_expressions.push({ key, operator: how === 'in' ? 'In' : 'NotIn', values })
    else match_expressions.push({ key, operator: 'Exists', values: [] })
  }
  return { match_labels, match_expressions }
}

/** It selects everything but what its terms name, so also what nobody has labelled. */
export const isNegativeSelector = ({ match_labels, match_expressions }: Selector): boolean =>
  Object.keys(match_labels).length === 0 &&
  match_expressions.every(({ operator }) => operator === 'NotIn' || operator === 'DoesNotExist')
