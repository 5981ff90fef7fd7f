/** The literal pieces around the stars of a glob such as `delete_*`; a glob without a star is one piece. */
export type ToolGlob = readonly string[]

/** Consecutive stars count as one. */
export const compileToolGlob = (glob: string): ToolGlob => glob.replace(/\*+/g, '*').split('*')

/**
 * Whether the whole name matches. Each inner piece is matched at its first occurrence, which never misses a match, so the time
 * is linear in the name for a given glob.
 */
export function matchesToolGlob(glob: ToolGlob, name: string): boolean {
  const first = glob[0] ?? ''
  if (glob.length === 1) return name === first
  const last = glob[glob.length - 1] ?? ''
  const end = name.length - last.length
  if (first.length > end || !name.startsWith(first) || !name.endsWith(last)) return false
  let at = first.length
  for (let i = 1; i < glob.length - 1; i++) {
    const piece = glob[i] ?? ''
    const found = name.indexOf(piece, at)
    if (found === -1 || found + piece.length > end) return false
    at = found + piece.length
  }
  return true
}
