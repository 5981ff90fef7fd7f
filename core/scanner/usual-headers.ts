/**
 * Whether the scanner skips a header, because HTTP fixes its value. All others that are sent to the API are scanned, also those
 * that every client sends and those in which a caller may have a credential of its own, because an API may store or show them.
 */
export const isUnreadHeader = (name: string): boolean =>
  name.startsWith(':') || name === 'content-length' || name === 'host'

/** Headers that clients, browsers and the large SDKs add by themselves: sessions, versions, trace ids. */
const USUAL = new Set(
  `accept accept-charset accept-encoding accept-language accept-datetime access-control-request-headers access-control-request-method
  age allow alt-used cache-control content-disposition content-encoding content-language content-location content-md5 content-range
  content-type cookie date dnt early-data etag from if-match if-modified-since if-none-match if-range if-unmodified-since last-modified
  link max-forwards origin pragma prefer priority range referer referrer-policy save-data upgrade-insecure-requests user-agent via warning
  x-csrf-token x-xsrf-token x-requested-with x-correlation-id traceparent tracestate baggage b3 sentry-trace idempotency-key
  x-idempotency-key anthropic-version anthropic-beta openai-organization openai-project openai-beta x-goog-api-client
  x-github-api-version stripe-version stripe-account notion-version x-amz-target http2-settings`.split(
    /\s+/,
  ),
)
const USUAL_FAMILIES = /^(?:sec-|x-stainless-|x-b3-|amz-sdk-|x-datadog-|x-amz-)/
const CREDENTIAL = /(?:^|-)(?:key|token|secret|signature|auth)$/

/** Whether a run of Base64 is not reported here, because such headers contain tokens. The decoded text is still scanned. */
export const holdsTokens = (name: string): boolean =>
  USUAL.has(name) || USUAL_FAMILIES.test(name) || CREDENTIAL.test(name)
