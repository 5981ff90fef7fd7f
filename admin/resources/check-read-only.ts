import { isDeepStrictEqual } from 'node:util'
import type { Issue } from '../http/outcome.ts'

/** A patch may repeat read-only members, since clients read, edit and send back a resource. */
export const checkReadOnly = (
  patch: Readonly<Record<string, unknown>>,
  shown: Readonly<Record<string, unknown>>,
  names: readonly string[],
): Issue[] =>
  names
    .filter((name) => Object.hasOwn(patch, name) && !isDeepStrictEqual(patch[name], shown[name]))
    .map((name) => ({ path: `/${name}`, message: 'cannot be changed here' }))
