import { decodeFormText } from '../request/decode-form-text.ts'
import type { Overrides } from '../request/overrides.ts'
import type { Target } from '../request/parse-target.ts'
import { overridesIn } from './decide-scope.ts'

/** Safe methods (RFC 9110, 9.2.1), without TRACE, which is never forwarded. */
const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

/** Whether nothing that a request says in addition to its method may make the API do more than read. */
export const leavesSafe = ({ methods, batch }: Overrides): boolean =>
  batch === undefined && methods.every((text) => SAFE_METHODS.has(text.trim().toUpperCase()))

/** Whether there may be a tool that only reads: each of the matching scopes has some. */
const hasReadTools = (read_tools: readonly (readonly unknown[])[]): boolean =>
  read_tools.length > 0 && read_tools.every((list) => list.length > 0)

/** What is known of a call before its body. */
interface CallHead {
  readonly method: string
  readonly is_socket: boolean
  readonly overrides: Overrides
  readonly target: Target
}

/** Whether a call may do nothing but read, as far as its head says. */
export function mayOnlyRead(
  { method, is_socket, overrides, target }: CallHead,
  read_tools: readonly (readonly unknown[])[],
): boolean {
  const mayRead = method === 'POST' ? hasReadTools(read_tools) : SAFE_METHODS.has(method)
  if (!mayRead || is_socket) return false
  return [overrides, overridesIn(target)].every(leavesSafe) && !hasMutation(target.raw_query)
}

/** Some servers of GraphQL carry out a mutation in the query of a GET, whatever its parameter is called. */
function hasMutation(raw_query: string | null): boolean {
  if (raw_query === null) return false
  const once = decodeFormText(raw_query)
  return [once, decodeFormText(once)].some((text) => {
    const at = text.search(/\bmutation\b/)
    return at >= 0 && text.lastIndexOf('{') > at
  })
}
