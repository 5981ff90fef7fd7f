/** What a request says besides its own method and address, for upstreams that believe it. */
export interface Overrides {
  readonly methods: readonly string[]
  readonly addresses: readonly AddressOverride[]
}

/**
 * `url` is a path or an absolute URL, `host` a host with or without port, `prefix` what an upstream cuts off the
 * beginning of the path; each as written.
 */
export interface AddressOverride {
  readonly kind: 'url' | 'host' | 'prefix'
  readonly value: string
}

/** Overrides as they are collected. */
export interface FoundOverrides {
  readonly methods: string[]
  readonly addresses: AddressOverride[]
}

/** No client sends more than one of each; past this the call is refused without looking at them. */
export const OVERRIDES_LIMIT = 8
export const NO_OVERRIDES: Overrides = { methods: [], addresses: [] }

/** One more than is looked at is enough for `decideScope` to see that there are too many. */
export const isFull = ({ methods, addresses }: FoundOverrides): boolean =>
  methods.length > OVERRIDES_LIMIT || addresses.length > OVERRIDES_LIMIT

export const isEmpty = ({ methods, addresses }: Overrides): boolean =>
  methods.length + addresses.length === 0

export const joinOverrides = (a: Overrides, b: Overrides): Overrides => ({
  methods: [...a.methods, ...b.methods],
  addresses: [...a.addresses, ...b.addresses],
})
