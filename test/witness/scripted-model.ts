import type { IncomingMessage, ServerResponse } from 'node:http'

/** A tool that a request offers to the model. */
interface Tool {
  readonly name: string
  readonly required: readonly string[]
}

/** What a request says, whatever the API. */
interface Turn {
  readonly tools: readonly Tool[]
  /** The results of tools in the conversation so far. */
  readonly results: number
}

/** One step of the session: the tools that can do it, the first that is offered is used. */
interface Step {
  readonly names: readonly string[]
  readonly command: string
}

const FILE = 'notes.txt'
const TEXT = 'The release is on Tuesday.'

/** What a model has an agent do: write and read files, search, run commands. */
const STEPS: readonly Step[] = [
  { names: ['write_file', 'Write', 'exec_command'], command: `echo "${TEXT}" > ${FILE}` },
  { names: ['read_file', 'Read', 'exec_command'], command: `cat ${FILE}` },
  { names: ['list_directory', 'Bash', 'exec_command'], command: 'ls' },
  { names: ['run_shell_command', 'Bash', 'exec_command'], command: 'git status --short' },
  {
    names: ['grep_search', 'search_file_content', 'Bash', 'exec_command'],
    command: `grep release ${FILE}`,
  },
  { names: ['run_shell_command', 'Bash', 'exec_command'], command: 'wc -l *.md' },
  { names: ['read_file', 'Read', 'exec_command'], command: 'cat AGENTS.md' },
  { names: ['run_shell_command', 'Bash', 'exec_command'], command: 'date' },
]
export const STEP_COUNT = STEPS.length
export const LAST_WORDS = 'The session is complete.'

/** The arguments that tools of these agents require, by name. */
const argumentsOf = ({ command }: Step, folder: string): Readonly<Record<string, unknown>> => {
  const file = command.endsWith('AGENTS.md') ? 'AGENTS.md' : FILE
  return {
    command,
    cmd: command,
    description: 'A step of the task',
    file_path: `${folder}/${file}`,
    absolute_path: `${folder}/${file}`,
    path: folder,
    dir_path: folder,
    content: TEXT,
    pattern: 'release',
    is_background: false,
  }
}

type Choice = { readonly name: string; readonly args: Readonly<Record<string, unknown>> } | null

/** The next call of a tool; null if the session is over. */
function choose({ tools, results }: Turn, folder: string): Choice {
  const step = STEPS[results]
  if (step === undefined || tools.length === 0) return null
  const values = argumentsOf(step, folder)
  for (const name of step.names) {
    const tool = tools.find((one) => one.name === name)
    if (tool?.required.every((member) => member in values) !== true) continue
    return { name, args: Object.fromEntries(tool.required.map((one) => [one, values[one]])) }
  }
  return null
}

const requiredOf = (schema: any): readonly string[] => schema?.required ?? []

type Events = readonly (readonly [name: string | null, data: object])[]

interface Api {
  readonly path: RegExp
  readonly read: (body: any) => Turn
  readonly write: (choice: Choice, turn: number) => Events
}

const countOf = (list: readonly any[] | undefined, is: (item: any) => boolean): number =>
  (list ?? []).filter(is).length

const USAGE = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }

const APIS: readonly Api[] = [
  {
    path: /\/responses$/,
    read: ({ tools = [], input }) => ({
      tools: tools.map(({ name, parameters }: any) => ({ name, required: requiredOf(parameters) })),
      results: countOf(input, ({ type }) => type === 'function_call_output'),
    }),
    write: (choice, turn) => {
      const item =
        choice === null
          ? {
              type: 'message',
              role: 'assistant',
              id: 'm',
              content: [{ type: 'output_text', text: LAST_WORDS }],
            }
          : {
              type: 'function_call',
              id: `f${turn}`,
              call_id: `c${turn}`,
              name: choice.name,
              arguments: JSON.stringify(choice.args),
            }
      const usage = {
        input_tokens: 1,
        input_tokens_details: null,
        output_tokens: 1,
        output_tokens_details: null,
        total_tokens: 2,
      }
      return [
        ['response.created', { response: { id: 'r' } }],
        ['response.output_item.done', { item }],
        ['response.completed', { response: { id: 'r', usage } }],
      ]
    },
  },
  {
    path: /\/chat\/completions$/,
    read: ({ tools = [], messages }) => ({
      tools: tools.map((tool: any) => ({
        name: tool.function.name,
        required: requiredOf(tool.function.parameters),
      })),
      results: countOf(messages, ({ role }) => role === 'tool'),
    }),
    write: (choice, turn) => {
      const head = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'x' }
      const delta =
        choice === null
          ? { role: 'assistant', content: LAST_WORDS }
          : {
              role: 'assistant',
              tool_calls: [
                {
                  index: 0,
                  id: `c${turn}`,
                  type: 'function',
                  function: { name: choice.name, arguments: JSON.stringify(choice.args) },
                },
              ],
            }
      const finish_reason = choice === null ? 'stop' : 'tool_calls'
      return [
        [null, { ...head, choices: [{ index: 0, delta, finish_reason: null }] }],
        [null, { ...head, choices: [{ index: 0, delta: {}, finish_reason }], usage: USAGE }],
      ]
    },
  },
  {
    path: /\/messages$/,
    read: ({ tools = [], messages }) => ({
      tools: tools.map(({ name, input_schema }: any) => ({
        name,
        required: requiredOf(input_schema),
      })),
      results: (messages as any[]).reduce(
        (sum, { content }) =>
          sum +
          (Array.isArray(content) ? countOf(content, ({ type }) => type === 'tool_result') : 0),
        0,
      ),
    }),
    write: (choice, turn) => {
      const typed = (type: string, data: object) => [type, { type, ...data }] as const
      const block =
        choice === null
          ? { type: 'text', text: '' }
          : { type: 'tool_use', id: `toolu_${turn}`, name: choice.name, input: {} }
      const delta =
        choice === null
          ? { type: 'text_delta', text: LAST_WORDS }
          : { type: 'input_json_delta', partial_json: JSON.stringify(choice.args) }
      const message = {
        id: `m${turn}`,
        type: 'message',
        role: 'assistant',
        model: 'x',
        content: [],
        stop_reason: null,
        usage: { input_tokens: 1, output_tokens: 1 },
      }
      return [
        typed('message_start', { message }),
        typed('content_block_start', { index: 0, content_block: block }),
        typed('content_block_delta', { index: 0, delta }),
        typed('content_block_stop', { index: 0 }),
        typed('message_delta', {
          delta: { stop_reason: choice === null ? 'end_turn' : 'tool_use' },
          usage: { output_tokens: 1 },
        }),
        typed('message_stop', {}),
      ]
    },
  },
  {
    path: /:(?:streamG|g)enerateContent$/,
    read: ({ tools = [], contents }) => ({
      tools: tools.flatMap(({ functionDeclarations = [] }: any) =>
        functionDeclarations.map(({ name, parametersJsonSchema, parameters }: any) => ({
          name,
          required: requiredOf(parametersJsonSchema ?? parameters),
        })),
      ),
      results: (contents as any[]).reduce(
        (sum, { parts }) => sum + countOf(parts, (part) => part.functionResponse !== undefined),
        0,
      ),
    }),
    write: (choice) => {
      const part = choice === null ? { text: LAST_WORDS } : { functionCall: choice }
      const candidates = [
        { index: 0, content: { role: 'model', parts: [part] }, finishReason: 'STOP' },
      ]
      const usageMetadata = { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 }
      return [[null, { candidates, usageMetadata }]]
    },
  },
]

export interface Asked {
  readonly path: string
  readonly body: string
  readonly turn: number
}

/**
 * Plays the model APIs of OpenAI, Anthropic and Google: it leads an agent through the steps of a session, one call of a tool a
 * turn. @param folder where the agent works @returns what the agent asked, if it asked a model
 */
export function answerAsModel(
  request: IncomingMessage,
  response: ServerResponse,
  body: string,
  folder: string,
): Asked | null {
  const [path = ''] = (request.url ?? '').split('?')
  const api = APIS.find((one) => one.path.test(path))
  if (request.method !== 'POST' || api === undefined) {
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ data: [], models: [], totalTokens: 1, input_tokens: 1 }))
    return null
  }
  const asked = JSON.parse(body)
  const turn = api.read(asked)
  const events = api.write(choose(turn, folder), turn.results)
  const isStream = asked.stream === true || path.endsWith(':streamGenerateContent')
  if (!isStream) {
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(events[0]?.[1] ?? {}))
    return { path, body, turn: turn.results }
  }
  response.setHeader('content-type', 'text/event-stream')
  for (const [name, data] of events) {
    if (name !== null) response.write(`event: ${name}\n`)
    const typed = name === null ? data : { type: name, ...data }
    response.write(`data: ${JSON.stringify(typed)}\n\n`)
  }
  if (path.endsWith('/chat/completions')) response.write('data: [DONE]\n\n')
  response.end()
  return { path, body, turn: turn.results }
}
