import { type Batch, joinBatches } from './batch.ts'

/** Methods and addresses that a request names in addition to its own, for upstreams that act on them. */
export interface Overrides {
  readonly methods: readonly string[]
  readonly addresses: readonly AddressOverride[]
  /** The header, parameter or member that has a method or address, by the text of these as written. */
  readonly names?: ReadonlyMap<string, string>
  /** The calls that the request carries. */
  readonly batch?: Batch
}

/**
 * `url` is a path or an absolute URL, `host` a host with or without port, `prefix` a prefix that an upstream removes from the
 * path; each as written.
 */
export interface AddressOverride {
  readonly kind: 'url' | 'host' | 'prefix'
  readonly value: string
}

/** Overrides as they are collected. */
export interface FoundOverrides {
  readonly methods: string[]
  readonly addresses: AddressOverride[]
  readonly names: Map<string, string>
}

export const noneFound = (): FoundOverrides => ({ methods: [], addresses: [], names: new Map() })

/** No client sends more than one of each; above this number the call is refused without checking them. */
export const OVERRIDES_LIMIT = 8
export const NO_OVERRIDES: Overrides = { methods: [], addresses: [] }

/** One more than is checked is enough for `decideScope` to see that there are too many. */
export const isFull = ({ methods, addresses }: Overrides): boolean =>
  methods.length > OVERRIDES_LIMIT || addresses.length > OVERRIDES_LIMIT

export const isEmpty = ({ methods, addresses, batch }: Overrides): boolean =>
  methods.length + addresses.length === 0 && batch === undefined

export function joinOverrides(a: Overrides, b: Overrides): Overrides {
  const batch =
    a.batch === undefined || b.batch === undefined
      ? (a.batch ?? b.batch)
      : joinBatches(a.batch, b.batch)
  return {
    methods: [...new Set([...a.methods, ...b.methods])],
    addresses: [...a.addresses, ...b.addresses],
    names: new Map([...(b.names ?? []), ...(a.names ?? [])]),
    ...(batch === undefined ? {} : { batch }),
  }
}
