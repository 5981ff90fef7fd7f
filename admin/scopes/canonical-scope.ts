import type { Static } from 'typebox'
import type { EditableScope } from './scope-schemas.ts'

type Edited = Static<typeof EditableScope>

/** Methods in upper case without duplicates: methods are case-sensitive, but `get` is never meant as a different one. */
export const canonicalScope = (scope: Edited): Edited => ({
  ...scope,
  rules: scope.rules.map(({ methods, paths, upgrade = [] }) => ({
    methods: [...new Set(methods.map((method) => method.toUpperCase()))],
    paths,
    ...(upgrade.length === 0 ? {} : { upgrade: [...new Set(upgrade)] }),
  })),
})
