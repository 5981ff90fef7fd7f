/**
 * Versions of Envoy that the configuration is for; it is the same for all of them. Older ones refuse it, and a newer one may
 * change what it relies on.
 */
export const ENVOY_VERSIONS: readonly string[] = ['1.39', '1.40']
