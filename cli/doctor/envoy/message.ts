/** A message of Envoy as JSON, of which nothing is known. */
export type Message = Readonly<Record<string, unknown>>

export const isMessage = (value: unknown): value is Message =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** What is at a path of members and indexes; undefined if anything on the way is missing. */
export function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  let node = value
  for (const step of path) {
    if (typeof node !== 'object' || node === null) return undefined
    node = (node as Record<string | number, unknown>)[step]
  }
  return node
}

/** The messages of a list; none if there is no list. */
export const messages = (value: unknown): readonly Message[] =>
  Array.isArray(value) ? value.filter(isMessage) : []

export const textAt = (value: unknown, ...path: readonly (string | number)[]): string => {
  const found = at(value, ...path)
  return typeof found === 'string' ? found : ''
}

/** The last part of the type of an `Any`: `ext_proc.v3.ExternalProcessor` ends in `ExternalProcessor`. */
export const typeOf = (value: unknown): string => textAt(value, '@type').split('.').at(-1) ?? ''

/** Every message within a value, itself included. */
export function* within(value: unknown): Generator<Message> {
  if (Array.isArray(value)) for (const item of value) yield* within(item)
  else if (isMessage(value)) {
    yield value
    for (const member of Object.values(value)) yield* within(member)
  }
}
