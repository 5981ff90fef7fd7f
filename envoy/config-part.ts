/** A message of Envoy's configuration as data. Envoy checks it. */
export type ConfigPart = Readonly<Record<string, unknown>>

/** A member that is a message; empty if it is missing. */
export const partAt = (part: ConfigPart, name: string): ConfigPart =>
  (part[name] ?? {}) as ConfigPart

/** A member that is a list of messages; empty if it is missing. */
export const listAt = (part: ConfigPart, name: string): readonly ConfigPart[] =>
  (part[name] ?? []) as readonly ConfigPart[]
