/** Headers that clients, proxies and the large SDKs send by themselves; all others are scanned. */
const STANDARD = new Set(
  `accept accept-charset accept-encoding accept-language accept-datetime access-control-request-headers access-control-request-method
  age allow alt-used authorization cache-control connection content-disposition content-encoding content-language content-length content-location
  content-md5 content-range content-type cookie date dnt early-data etag expect forwarded from host http2-settings if-match if-modified-since
  if-none-match if-range if-unmodified-since keep-alive last-modified link max-forwards origin pragma prefer priority proxy-authorization
  proxy-connection range referer referrer-policy save-data te trailer transfer-encoding upgrade upgrade-insecure-requests user-agent via
  warning x-csrf-token x-requested-with x-request-id x-correlation-id traceparent tracestate baggage b3 idempotency-key x-idempotency-key
  x-api-key api-key anthropic-version anthropic-beta openai-organization openai-project openai-beta x-goog-api-key x-goog-api-client
  x-github-api-version stripe-version stripe-account notion-version`.split(/\s+/),
)

/** Whether a header is left unread by the scanner. */
export const isStandardHeader = (name: string): boolean => {
  const lower = name.toLowerCase()
  return (
    STANDARD.has(lower) ||
    /^(?::|x-forwarded-|x-envoy-|x-agw-|x-stainless-|sec-|x-b3-|x-amz-(?:date|security-token|content-sha256|target)$|x-real-ip$|amz-sdk-)/.test(
      lower,
    )
  )
}
