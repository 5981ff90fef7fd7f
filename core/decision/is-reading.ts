import type { Overrides } from '../request/overrides.ts'

/** Safe methods (RFC 9110, 9.2.1), without TRACE, which is never forwarded. */
const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

export const isSafeMethod = (method: string): boolean => SAFE_METHODS.has(method)

/** Whether nothing that a request says in addition to its method may make the API do more than read. */
export const leavesSafe = ({ methods, batch }: Overrides): boolean =>
  batch === undefined && methods.every((text) => isSafeMethod(text.trim().toUpperCase()))

/** Whether there may be a tool that only reads: each of the matching scopes has some. */
export const hasReadTools = (read_tools: readonly (readonly unknown[])[]): boolean =>
  read_tools.length > 0 && read_tools.every((list) => list.length > 0)
