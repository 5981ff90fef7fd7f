/** Names in use at once. Past this all are forgotten, so that made-up names cannot fill the memory. */
const NAMES_MAX = 2_048
/** Longer names are not kept. */
const KEPT_LENGTH_MAX = 64

/**
 * A function of a header's name that remembers its results: the same names come with every call, so what a name means is
 * found out once and not once a call.
 * @param find pure
 */
export function perHeaderName<T extends object | string | boolean | null>(
  find: (name: string) => T,
): (name: string) => T {
  const known = new Map<string, T>()
  return (name) => {
    const before = known.get(name)
    if (before !== undefined) return before
    const found = find(name)
    if (name.length > KEPT_LENGTH_MAX) return found
    if (known.size >= NAMES_MAX) known.clear()
    known.set(name, found)
    return found
  }
}
