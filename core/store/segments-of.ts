import type { Scope } from '../catalogue/model.ts'

const SLASH = 47

/** The segments of all paths of a scope: what its compiled form takes in memory depends on them. */
export function segmentsOf({ rules }: Pick<Scope, 'rules'>): number {
  let segments = 0
  for (const { paths } of rules)
    for (const path of paths)
      for (let i = 0; i < path.length; i++) if (path.charCodeAt(i) === SLASH) segments++
  return segments
}
