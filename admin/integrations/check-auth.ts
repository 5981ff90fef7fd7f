import { findCredentialType } from '../../core/credential/catalogue.ts'
import type { TextKind } from '../../core/credential/member.ts'
import { plainHeaderName } from '../../core/policy/plain-header-name.ts'
import type { PlainAuth } from '../../core/store/credential-binding.ts'
import type { Issue } from '../http/outcome.ts'
import { parseUrl } from '../../core/bounded/parse-url.ts'

/** Headers that frame the message, name its route, or belong to this gateway or a proxy. */
const REFUSED_HEADER =
  /^(host|connection|content-.*|transfer-encoding|te|trailer|upgrade|keep-alive|expect|via|forwarded|proxy-.*|x-forwarded-.*|x-real-ip|x-request-id|x-agw-.*|x-envoy-.*|accept-encoding|http2-settings)$/

/** Checks a text beyond its schema; null if it is valid. */
const CHECKS: Partial<Record<TextKind, (text: string) => string | null>> = {
  header_name: (name) =>
    REFUSED_HEADER.test(plainHeaderName(name))
      ? 'is a header that cannot carry a credential'
      : null,
  url: (text) => {
    const url = parseUrl(text)
    if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:'))
      return 'must be an absolute http or https URL'
    return url.username !== '' || url.password !== '' || url.hash !== ''
      ? 'must have no user info and no fragment'
      : null
  },
}

/** Checks a credential beyond its schema. */
export function checkAuth(auth: PlainAuth): Issue[] {
  const given = auth as Readonly<Record<string, string | undefined>>
  return Object.entries(findCredentialType(auth.type)?.members ?? {}).flatMap(
    ([name, { text: kind }]): Issue[] => {
      const text = given[name]
      const message = text === undefined ? null : (CHECKS[kind]?.(text) ?? null)
      return message === null ? [] : [{ path: `/auth/${name}`, message }]
    },
  )
}
