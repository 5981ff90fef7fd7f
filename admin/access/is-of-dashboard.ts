import type { IncomingHttpHeaders } from 'node:http'

/** A page of another origin may send this header only if we said so in answer to a preflight, which we never do. */
const CLIENT_HEADER = 'x-agw-client'
const READS = ['GET', 'HEAD']

/**
 * Whether a request that a session's cookie came with was made by our own page. SameSite=Strict alone is not enough:
 * to a browser every port of this host is the same site.
 */
export const isOfDashboard = (method: string, headers: IncomingHttpHeaders): boolean =>
  headers[CLIENT_HEADER] === 'dashboard' && isSameOrigin(method, headers)

/**
 * Browsers send `Sec-Fetch-Site` to https and loopback addresses; at others the origin, which a page's reads of its own
 * origin do not name, has to be the host that was asked.
 */
function isSameOrigin(method: string, headers: IncomingHttpHeaders): boolean {
  const { origin, host, 'sec-fetch-site': site } = headers
  if (site !== undefined) return site === 'same-origin'
  if (origin === undefined) return READS.includes(method)
  return host !== undefined && [`http://${host}`, `https://${host}`].includes(origin)
}
