import type { Header } from '../../core/policy/header.ts'

/** `RateLimit` and `RateLimit-Policy` as in draft-ietf-httpapi-ratelimit-headers-10, `Retry-After` as in RFC 9110. */
export const rateHeaders = (limit: number, retry_after_s: number): readonly Header[] => [
  { name: 'retry-after', value: String(retry_after_s) },
  { name: 'ratelimit-policy', value: `"scope";q=${limit};w=60` },
  { name: 'ratelimit', value: `"scope";r=0;t=${retry_after_s}` },
]
