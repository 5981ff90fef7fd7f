import { AUTHORIZATION } from './authorization.ts'
import { defineCredential, type Filling } from './credential-type.ts'
import { PLACEHOLDER } from './fill-placeholder.ts'
import { optionalShown, secret } from './member.ts'

/** Made once for a credential, with which many calls are made. */
const FILLINGS = new WeakMap<object, Filling>()

const PLACE = /^(?:\/[^/?#\s]+)+$/
const DOTS = /(?:^|\/)\.{1,2}(?:\/|$)/

/** A token that an API expects in the path or the query, where the caller writes a placeholder for it. */
export const placeholder = defineCredential({
  type: 'placeholder',
  label: 'Token in place of {agw:token}',
  sends:
    'the token in place of `{agw:token}`, in `paths` and `query` alone; it is redacted in response headers',
  members: {
    token: secret('text'),
    paths: optionalShown('text'),
    query: optionalShown('parameter_name'),
  },
  check: ({ token, paths, query }) => {
    if (paths === undefined && query === undefined)
      return { message: 'must have paths or query, in which the token is inserted' }
    if (typeof token === 'string' && DOTS.test(token))
      return { member: 'token', message: 'must have no segment "." or ".."' }
    const isPlace = (path: string): boolean =>
      PLACE.test(path) && path.split(PLACEHOLDER).length === 2
    return paths === undefined || paths.split(' ').every(isPlace)
      ? null
      : {
          member: 'paths',
          message: `must be paths below the base URL, separated by a blank, each with ${PLACEHOLDER} once`,
        }
  },
  owned: () => AUTHORIZATION,
  application: {
    kind: 'static',
    apply: (auth) => {
      const { token, paths, query } = auth
      const known = FILLINGS.get(auth)
      if (known !== undefined) return known
      const places = paths?.split(' ') ?? []
      const placeholder = { value: token.reveal(), paths: places, query: query ?? null }
      const filling = { headers: [], query: [], placeholder }
      FILLINGS.set(auth, filling)
      return filling
    },
    echoed: 'token',
  },
})
