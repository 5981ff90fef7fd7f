import { plainHeaderName } from '../../core/policy/plain-header-name.ts'
import type { PlainAuth } from '../../core/store/credential-binding.ts'
import type { Issue } from '../http/outcome.ts'

/** Headers that frame the message, name its route, or belong to this gateway or a proxy. */
const REFUSED_HEADER =
  /^(host|connection|content-.*|transfer-encoding|te|trailer|upgrade|keep-alive|expect|via|forwarded|proxy-.*|x-forwarded-.*|x-real-ip|x-request-id|x-agw-.*|x-envoy-.*|accept-encoding|http2-settings)$/

/** What the schema of a credential cannot say. */
export function checkAuth(auth: PlainAuth): Issue[] {
  if (auth.type === 'header' && REFUSED_HEADER.test(plainHeaderName(auth.name)))
    return [{ path: '/auth/name', message: 'is a header that a credential cannot go into' }]
  if (auth.type === 'oauth2_client_credentials') return checkTokenUrl(auth.token_url)
  return []
}

function checkTokenUrl(text: string): Issue[] {
  const path = '/auth/token_url'
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:'))
    return [{ path, message: 'must be an absolute http or https URL' }]
  if (url.username !== '' || url.password !== '' || url.hash !== '')
    return [{ path, message: 'must have no user info and no fragment' }]
  return []
}
