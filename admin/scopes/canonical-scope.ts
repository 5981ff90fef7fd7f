import type { Static } from 'typebox'
import type { EditableScope } from './scope-schemas.ts'

type Edited = Static<typeof EditableScope>

/** Methods in upper case, each once: HTTP methods have a case, and nobody means `get` as another one. */
export const canonicalScope = (scope: Edited): Edited => ({
  ...scope,
  rules: scope.rules.map(({ methods, paths }) => ({
    methods: [...new Set(methods.map((method) => method.toUpperCase()))],
    paths,
  })),
})
