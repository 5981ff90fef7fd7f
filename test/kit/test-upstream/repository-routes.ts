import type { ReceivedRequest, UpstreamRequest, UpstreamResponse } from './received-request.ts'

export const REPOSITORIES = Array.from({ length: 7 }, (_, i) => ({
  id: i + 1,
  name: `repository-${i + 1}`,
}))
const LARGEST_PAGE = 100

/** Lists in pages that name the next one in `Link`, and a reference by a name that may hold slashes, as GitHub has it. */
export function repositoryRoutes(
  received: ReceivedRequest,
  _request: UpstreamRequest,
  response: UpstreamResponse,
): boolean {
  const url = new URL(received.path, `${received.secure ? 'https' : 'http'}://${received.host}`)
  const json = { 'content-type': 'application/json; charset=utf-8' }
  if (url.pathname === '/orgs/acme/repos') {
    const size = Math.min(Number(url.searchParams.get('per_page') ?? 30), LARGEST_PAGE)
    const page = Number(url.searchParams.get('page') ?? 1)
    const rest = REPOSITORIES.slice((page - 1) * size)
    const isLast = rest.length <= size
    url.searchParams.set('page', String(page + 1))
    response.writeHead(200, isLast ? json : { ...json, link: `<${url.href}>; rel="next"` })
    response.end(JSON.stringify(rest.slice(0, size)))
    return true
  }
  const reference = /^\/repos\/acme\/demo\/git\/ref\/([^/]+)$/.exec(url.pathname)?.[1]
  if (reference === undefined) return false
  response.writeHead(200, json)
  const object = { type: 'commit', sha: 'a'.repeat(40), url: '' }
  response.end(JSON.stringify({ ref: `refs/${decodeURIComponent(reference)}`, object }))
  return true
}
