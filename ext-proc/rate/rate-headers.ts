import type { Header } from '../../core/request/header.ts'

/** What a caller may still do. */
interface Quota {
  /** Calls a minute. */
  readonly limit: number
  readonly left: number
  /** Seconds until more calls are left. */
  readonly reset_s: number
}

/** The values of `RateLimit` and `RateLimit-Policy` as in draft-ietf-httpapi-ratelimit-headers-10. */
export interface RateValues {
  readonly limit: string
  readonly policy: string
}

export const rateValues = ({ limit, left, reset_s }: Quota): RateValues => ({
  limit: `"scope";r=${left};t=${reset_s}`,
  policy: `"scope";q=${limit};w=60`,
})

/** Those of a refusal, with `Retry-After` as in RFC 9110. */
export function refusalHeaders(limit: number, retry_after_s: number): readonly Header[] {
  const values = rateValues({ limit, left: 0, reset_s: retry_after_s })
  return [
    { name: 'retry-after', value: String(retry_after_s) },
    { name: 'ratelimit-policy', value: values.policy },
    { name: 'ratelimit', value: values.limit },
  ]
}
