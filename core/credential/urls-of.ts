import { findCredentialType, type SealedAuth } from './catalogue.ts'

/** The members of a credential that are URLs, such as that of the token endpoint, by name. */
export function urlsOf(auth: SealedAuth): readonly (readonly [member: string, url: string])[] {
  const given = auth as Readonly<Record<string, string | undefined>>
  return Object.entries(findCredentialType(auth.type)?.members ?? {}).flatMap(
    ([name, { text }]) => {
      const url = given[name]
      return text === 'url' && url !== undefined ? [[name, url] as const] : []
    },
  )
}
