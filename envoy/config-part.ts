/** A message of Envoy's configuration as data. Envoy checks it. */
export type ConfigPart = Readonly<Record<string, unknown>>
