import { isStreamSafe } from '../bounded/normalize-text.ts'
import { UNSTABLE_CHARACTER } from './fold-tool-name.ts'
import type { JsonRpcBody, JsonRpcMessage } from './read-json-rpc.ts'
import { matchesToolGlob, type ToolGlob } from './tool-glob.ts'

/** A tool must be in each of these lists: the `read_tools` of all scopes that match a call. */
export type ReadTools = readonly (readonly ToolGlob[])[]

/** Requests of MCP that change nothing but the session. `tools/call` depends on its tool. */
const READING_METHODS: ReadonlySet<string> = new Set([
  'initialize',
  'ping',
  'server/discover',
  'tools/list',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'prompts/list',
  'prompts/get',
  'completion/complete',
  'notifications/initialized',
  'notifications/cancelled',
  'notifications/progress',
])
const NAME_LIMIT = 512

/**
 * Whether an MCP message only reads. A method must be spelled as in the protocol. Whether a tool only reads is said by the scope,
 * never by the server. A batch is not read one by one: its elements that are no messages would pass with it.
 */
export const onlyReads = (body: JsonRpcBody, tools: ReadTools): boolean =>
  body.kind === 'single' && body.messages.every((message) => reads(message, tools))

function reads({ method, is_tool_call, tool, uses }: JsonRpcMessage, tools: ReadTools): boolean {
  if (method === null || uses.length > 0) return false
  if (!is_tool_call) return READING_METHODS.has(method)
  return method === 'tools/call' && tool !== null && isReadTool(tool, tools)
}

const isReadTool = (name: string, tools: ReadTools): boolean =>
  name.length <= NAME_LIMIT &&
  isStreamSafe(name) &&
  !UNSTABLE_CHARACTER.test(name) &&
  tools.length > 0 &&
  tools.every((list) => list.some((glob) => matchesToolGlob(glob, name)))
