import { matchesToolGlob, type ToolGlob } from './tool-glob.ts'

/** The tool permissions of a call, already the strictest of the scopes that match it. */
export interface EffectiveTools {
  /** A tool must be allowed by each of these lists; an intersection of globs is no glob. */
  readonly allow: readonly (readonly ToolGlob[])[]
  /** Folded by `foldToolName`. */
  readonly deny: readonly ToolGlob[]
  /** No tool can be refused, so nobody needs the body for it. */
  readonly is_unrestricted: boolean
}

export type ToolAnswer =
  | { readonly kind: 'allowed' }
  | { readonly kind: 'blocked'; readonly reason: 'tool_denied' | 'tool_not_allowed' }

const ALLOWED: ToolAnswer = { kind: 'allowed' }
const DENIED: ToolAnswer = { kind: 'blocked', reason: 'tool_denied' }
const NOT_ALLOWED: ToolAnswer = { kind: 'blocked', reason: 'tool_not_allowed' }

/**
 * Deny wins, and is matched without case so that a spelling that a lenient server takes cannot pass it by;
 * allow is exact. A call that names no tool as text is never allowed.
 */
export function checkMcpTool(tools: EffectiveTools, name: string | null): ToolAnswer {
  if (tools.is_unrestricted) return ALLOWED
  if (name === null) return NOT_ALLOWED
  if (tools.deny.length > 0) {
    const folded = foldToolName(name)
    if (tools.deny.some((glob) => matchesToolGlob(glob, folded))) return DENIED
  }
  const isAllowed = tools.allow.every((list) => list.some((glob) => matchesToolGlob(glob, name)))
  return isAllowed ? ALLOWED : NOT_ALLOWED
}

export const isToolAllowed = (tools: EffectiveTools, name: string | null): boolean =>
  checkMcpTool(tools, name).kind === 'allowed'

/** NFKC and the way over upper case fold look-alikes such as `ſ`; white space around a name is cut. */
export const foldToolName = (name: string): string =>
  name.normalize('NFKC').trim().toUpperCase().toLowerCase()
