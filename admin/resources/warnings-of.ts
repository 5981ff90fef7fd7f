/** The member `warnings` of a response; omitted if there are none. */
export const warningsOf = ({
  warnings = [],
}: {
  readonly warnings?: readonly string[]
}): { readonly warnings?: readonly string[] } => (warnings.length === 0 ? {} : { warnings })
