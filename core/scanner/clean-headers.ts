import type { CompiledInjectionSettings } from './compile-settings.ts'

/**
 * A client sends the same headers with every call. Maximum number of values remembered, for all clients and settings together.
 */
const VALUES_MAX = 8_192
/** A longer value costs more memory than it saves time. */
const VALUE_LENGTH_MAX = 512

let known = new WeakMap<CompiledInjectionSettings, Set<string>>()
let size = 0

/**
 * A cookie is split into its parts, so the same text may mean something else in another header. No header contains a line feed.
 */
const keyOf = (name: string, value: string): string => (name === 'cookie' ? `\n${value}` : value)

/** Whether this header value was recently scanned with the same settings and nothing was found. */
export const isKnownClean = (
  settings: CompiledInjectionSettings,
  name: string,
  value: string,
): boolean => known.get(settings)?.has(keyOf(name, value)) === true

export const noteClean = (
  settings: CompiledInjectionSettings,
  name: string,
  value: string,
): void => {
  if (value.length > VALUE_LENGTH_MAX) return
  if (size >= VALUES_MAX) {
    known = new WeakMap()
    size = 0
  }
  let values = known.get(settings)
  if (values === undefined) {
    values = new Set()
    known.set(settings, values)
  }
  values.add(keyOf(name, value))
  size++
}
