/** Maximum number of cached names. When it is reached, all are forgotten, so that invented names cannot fill the memory. */
const NAMES_MAX = 2_048
/** Longer names are not cached. */
const KEPT_LENGTH_MAX = 64

/**
 * Caches the results of a function of a header name. The same names come with every call, so a name is interpreted once and not
 * once per call. @param find pure
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
