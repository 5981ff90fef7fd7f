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
const DIRECT = 'localhost,127.0.0.1,::1'

/** The environment of an agent that calls through the forward proxy. docs/guides/forward-proxy.md says which client reads what. */
export function forwardVariables(place: ForwardPlace): Readonly<Record<string, string>> {
  const { proxy_url, ca_file, bundle_file } = place
  return {
    HTTPS_PROXY: proxy_url,
    https_proxy: proxy_url,
    HTTP_PROXY: proxy_url,
    http_proxy: proxy_url,
    NO_PROXY: DIRECT,
    no_proxy: DIRECT,
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
