import type { Labels, Selector } from '../../core/catalogue/model.ts'
import { readSelector } from '../../core/catalogue/selector-text.ts'
import { UsageError } from '../terminal/usage-error.ts'

/**
 * A selector as kubectl writes it.
 * @throws with a message for the operator
 */
export function givenSelector(text: string): Selector {
  const selector = readSelector(text)
  if (selector === null)
    throw new UsageError(
      `"${text}" selects nothing: write team=billing,env in (prod,staging),!legacy`,
    )
  return selector
}

/** `team=billing,env=prod`, for a resource that has them. */
export function givenLabels(text: string): Labels {
  const selector = readSelector(text)
  if (selector === null || selector.match_expressions.length > 0)
    throw new UsageError(`"${text}" are no labels: write team=billing,env=prod`)
  return selector.match_labels
}
