/** A value of YAML or JSON. */
type Data = unknown

const WHEN = '$when'

/**
 * A copy of a template in which each text `$name` is the value of that name, and without the blocks whose `$when` names a
 * value that is null. What occurs several times in the template (an alias of YAML) is one object in the copy as well.
 * @throws if a name is unknown
 */
export function fillTemplate<T>(template: T, values: ReadonlyMap<string, unknown>): T {
  const filled = new Map<object, Data>()
  const known = (name: string): unknown => {
    const value = values.get(name)
    if (value === undefined)
      throw new Error(`envoy/bootstrap.yaml names $${name}, which is unknown`)
    return value
  }
  const isLeftOut = (value: Data): boolean => {
    const name = isBlock(value) ? value[WHEN] : undefined
    return typeof name === 'string' && known(name) === null
  }
  const copy = (value: Data): Data => {
    if (typeof value === 'string') return value.startsWith('$') ? known(value.slice(1)) : value
    if (typeof value !== 'object' || value === null) return value
    const earlier = filled.get(value)
    if (earlier !== undefined) return earlier
    const made = Array.isArray(value)
      ? value.filter((item) => !isLeftOut(item)).map(copy)
      : Object.fromEntries(
          Object.entries(value)
            .filter(([name, member]) => name !== WHEN && !isLeftOut(member))
            .map(([name, member]) => [name, copy(member)]),
        )
    filled.set(value, made)
    return made
  }
  return copy(template) as T
}

const isBlock = (value: Data): value is Readonly<Record<string, Data>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
