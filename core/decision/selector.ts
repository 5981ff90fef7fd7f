import type { Labels, Selector, SelectorTerm } from '../catalogue/model.ts'

const NONE: Labels = {}

/**
 * Whether all terms hold; no selector selects nothing. As in Kubernetes, `NotIn` also holds for what does not have the label at
 * all.
 */
export const matchesSelector = (
  selector: Selector | null | undefined,
  labels: Labels = NONE,
): boolean => selector != null && holdsAll(selector, labels)

const holdsAll = ({ match_labels, match_expressions }: Selector, labels: Labels): boolean =>
  Object.entries(match_labels).every(([key, value]) => labelOf(labels, key) === value) &&
  match_expressions.every((term) => holds(term, labelOf(labels, term.key)))

const labelOf = (labels: Labels, key: string): string | undefined =>
  Object.hasOwn(labels, key) ? labels[key] : undefined

function holds({ operator, values }: SelectorTerm, value: string | undefined): boolean {
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value)
    case 'NotIn':
      return value === undefined || !values.includes(value)
    case 'Exists':
      return value !== undefined
    case 'DoesNotExist':
      return value === undefined
  }
}

/** It would select everything. */
export const isEmptySelector = ({ match_labels, match_expressions }: Selector): boolean =>
  Object.keys(match_labels).length === 0 && match_expressions.length === 0

/** What both select. */
export const bothSelectors = (one: Selector, other: Selector): Selector => ({
  match_labels: {},
  match_expressions: [one, other].flatMap(({ match_labels, match_expressions }) => [
    ...Object.entries(match_labels).map(([key, value]) => ({
      key,
      operator: 'In' as const,
      values: [value],
    })),
    ...match_expressions,
  ]),
})
