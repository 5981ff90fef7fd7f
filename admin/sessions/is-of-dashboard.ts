import type { IncomingHttpHeaders } from 'node:http'

/** A page of another origin may send this header only if we said so in answer to a preflight, which we never do. */
const CLIENT_HEADER = 'x-agw-client'
const READS = ['GET', 'HEAD']

/**
 * Whether a request that a session's cookie came with was made by our own page. SameSite=Strict alone is not enough:
 * to a browser every port of this host is the same site. `Sec-Fetch-Site` is sent to https and loopback addresses; at
 * others the origin, which a page's reads of its own origin do not name, has to be the host that was asked.
 */
export function isOfDashboard(method: string, headers: IncomingHttpHeaders): boolean {
  const isRead = READS.includes(method)
  const site = headers['sec-fetch-site']
  const isOurs =
    site === undefined
      ? hostOf(headers.origin) === (headers.origin === undefined && isRead ? null : headers.host)
      : site === 'same-origin'
  return isOurs && headers[CLIENT_HEADER] === 'dashboard'
}

function hostOf(origin: string | undefined): string | null {
  return origin === undefined ? null : (/^https?:\/\/([^/]+)$/i.exec(origin)?.[1] ?? '')
}
