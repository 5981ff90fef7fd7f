import { isStreamSafe } from '../bounded/normalize-text.ts'
import { foldToolName, UNSTABLE_CHARACTER } from './fold-tool-name.ts'
import { matchesToolGlob, type ToolGlob } from './tool-glob.ts'

/** The tool permissions of a call, already the strictest of the scopes that match it. */
export interface EffectiveTools {
  /** A tool must be allowed by each of these lists; the intersection of globs is not a glob. */
  readonly allow: readonly (readonly ToolGlob[])[]
  /** Folded by `foldToolName`. */
  readonly deny: readonly ToolGlob[]
  /** No tool can be refused, so the body is not needed for this. */
  readonly is_unrestricted: boolean
}

export type ToolAnswer =
  | { readonly kind: 'allowed' }
  | {
      readonly kind: 'blocked'
      readonly reason: 'tool_denied' | 'tool_not_allowed' | 'tool_name_invalid'
    }

/** Servers have names of at most 128 characters (MCP, SEP-986). A longer one is not compared with any glob. */
const TOOL_NAME_LIMIT = 512

const ALLOWED: ToolAnswer = { kind: 'allowed' }
const DENIED: ToolAnswer = { kind: 'blocked', reason: 'tool_denied' }
const NOT_ALLOWED: ToolAnswer = { kind: 'blocked', reason: 'tool_not_allowed' }
const INVALID: ToolAnswer = { kind: 'blocked', reason: 'tool_name_invalid' }

/**
 * Deny wins and ignores case, so that a spelling that a lenient server accepts is denied too; allow is exact. A call whose tool
 * name is not a string is never allowed, and neither is a name that readers may change.
 */
export function checkMcpTool(tools: EffectiveTools, name: string | null): ToolAnswer {
  if (tools.is_unrestricted) return ALLOWED
  if (name === null) return NOT_ALLOWED
  if (name.length > TOOL_NAME_LIMIT || !isStreamSafe(name)) return INVALID
  if (UNSTABLE_CHARACTER.test(name)) return INVALID
  if (tools.deny.length > 0) {
    const folded = foldToolName(name)
    if (tools.deny.some((glob) => matchesToolGlob(glob, folded))) return DENIED
  }
  const isAllowed = tools.allow.every((list) => list.some((glob) => matchesToolGlob(glob, name)))
  return isAllowed ? ALLOWED : NOT_ALLOWED
}

export const isToolAllowed = (tools: EffectiveTools, name: string | null): boolean =>
  checkMcpTool(tools, name).kind === 'allowed'
