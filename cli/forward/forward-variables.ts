import type { Environment } from '../../core/settings/settings.ts'

/** Where a client finds the forward proxy, and what it has to trust. */
export interface ForwardPlace {
  /** With the key in it. */
  readonly proxy_url: string
  /** The CA of the gateway. */
  readonly ca_file: string
  /** The same with the CAs of the system. */
  readonly bundle_file: string
}

/** What stays direct: services of the agent's own machine. */
const DIRECT = ['localhost', '127.0.0.1', '::1']
/** A host, an address, a range or a suffix, in the spellings of all clients. A quote or `$` would have a meaning in a shell. */
const DIRECT_NAME = /^[\p{L}\p{N}.*:[\]/_-]+$/u

/**
 * The environment of an agent that calls through the forward proxy. docs/guides/forward-proxy.md says which client reads what.
 * @param env of the user, whose `NO_PROXY` is extended
 */
export function forwardVariables(
  place: ForwardPlace,
  env: Environment,
): Readonly<Record<string, string>> {
  const { proxy_url, ca_file, bundle_file } = place
  const direct = directNames(env)
  return {
    HTTPS_PROXY: proxy_url,
    https_proxy: proxy_url,
    HTTP_PROXY: proxy_url,
    http_proxy: proxy_url,
    NO_PROXY: direct,
    no_proxy: direct,
    NODE_USE_ENV_PROXY: '1',
    // In addition to the trust store.
    NODE_EXTRA_CA_CERTS: ca_file,
    // Instead of it.
    SSL_CERT_FILE: bundle_file,
    CURL_CA_BUNDLE: bundle_file,
    REQUESTS_CA_BUNDLE: bundle_file,
    GIT_SSL_CAINFO: bundle_file,
    PIP_CERT: bundle_file,
    AWS_CA_BUNDLE: bundle_file,
    npm_config_cafile: bundle_file,
  }
}

function directNames({ NO_PROXY = '', no_proxy = '' }: Environment): string {
  const own = `${NO_PROXY},${no_proxy}`.split(/[\s,]+/).filter((name) => DIRECT_NAME.test(name))
  return [...new Set([...own, ...DIRECT])].join(',')
}
