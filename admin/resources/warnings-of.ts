/** The `warnings` of an answer; a change without any has no such member. */
export const warningsOf = ({
  warnings = [],
}: {
  readonly warnings?: readonly string[]
}): { readonly warnings?: readonly string[] } => (warnings.length === 0 ? {} : { warnings })
