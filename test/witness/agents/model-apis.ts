import type { Choice, Tool } from './steps.ts'
import { LAST_WORDS } from './steps.ts'

/** What a request says, whatever the API. */
export interface Turn {
  readonly tools: readonly Tool[]
  /** The results of tools in the conversation so far. */
  readonly results: number
}

type Events = readonly (readonly [name: string | null, data: object])[]

/** A model API: how a turn is read, and how an answer is written, whole and as a stream. */
export interface ModelApi {
  readonly path: RegExp
  readonly read: (body: any) => Turn
  readonly whole: (choice: Choice, turn: number) => object
  readonly events: (choice: Choice, turn: number) => Events
}

const countOf = (list: readonly any[] | undefined, is: (item: any) => boolean): number =>
  (list ?? []).filter(is).length

const MODEL = 'gpt-5'
const typed = (type: string, data: object) => [type, { type, ...data }] as const

function responseOf(
  choice: Choice,
  turn: number,
  status: string,
  output: readonly object[],
): object {
  const usage = {
    input_tokens: 1,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 1,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 2,
  }
  return {
    id: `resp_${turn}`,
    object: 'response',
    created_at: 1,
    status,
    model: MODEL,
    output,
    parallel_tool_calls: false,
    tool_choice: 'auto',
    tools: [],
    error: null,
    incomplete_details: null,
    instructions: null,
    metadata: {},
    usage: status === 'completed' ? usage : null,
  }
}

const itemOf = (choice: Choice, turn: number): object =>
  choice === null
    ? {
        type: 'message',
        role: 'assistant',
        id: `msg_${turn}`,
        status: 'completed',
        content: [{ type: 'output_text', text: LAST_WORDS, annotations: [] }],
      }
    : {
        type: 'function_call',
        id: `fc_${turn}`,
        call_id: `call_${turn}`,
        name: choice.name,
        ...(choice.namespace && { namespace: choice.namespace }),
        arguments: JSON.stringify(choice.args),
        status: 'completed',
      }

const RESPONSES: ModelApi = {
  path: /\/responses$/,
  read: ({ tools = [], input }) => ({
    // A namespace has the tools of an MCP server.
    tools: tools
      .flatMap((tool: any) =>
        tool.type === 'namespace'
          ? tool.tools.map((one: any) => ({ ...one, namespace: tool.name }))
          : [tool],
      )
      .filter(({ name }: any) => name !== undefined)
      .map(({ name, namespace, parameters }: any) => ({ name, namespace, schema: parameters })),
    results: countOf(
      Array.isArray(input) ? input : [],
      ({ type }) => type === 'function_call_output',
    ),
  }),
  whole: (choice, turn) => responseOf(choice, turn, 'completed', [itemOf(choice, turn)]),
  events: (choice, turn) => {
    const item = itemOf(choice, turn)
    const item_id = choice === null ? `msg_${turn}` : `fc_${turn}`
    const place = { item_id, output_index: 0 }
    const part = { type: 'output_text', text: LAST_WORDS, annotations: [] }
    const args = JSON.stringify(choice?.args)
    const middle: Events =
      choice === null
        ? [
            typed('response.content_part.added', {
              ...place,
              content_index: 0,
              part: { ...part, text: '' },
            }),
            typed('response.output_text.delta', {
              ...place,
              content_index: 0,
              delta: LAST_WORDS,
              logprobs: [],
            }),
            typed('response.output_text.done', {
              ...place,
              content_index: 0,
              text: LAST_WORDS,
              logprobs: [],
            }),
            typed('response.content_part.done', { ...place, content_index: 0, part }),
          ]
        : [
            typed('response.function_call_arguments.delta', { ...place, delta: args }),
            typed('response.function_call_arguments.done', {
              ...place,
              name: choice.name,
              arguments: args,
            }),
          ]
    const begun = choice === null ? { content: [] } : { arguments: '' }
    const events: Events = [
      typed('response.created', { response: responseOf(choice, turn, 'in_progress', []) }),
      typed('response.output_item.added', {
        output_index: 0,
        item: { ...item, ...begun, status: 'in_progress' },
      }),
      ...middle,
      typed('response.output_item.done', { output_index: 0, item }),
      typed('response.completed', { response: responseOf(choice, turn, 'completed', [item]) }),
    ]
    return events.map(([name, data], sequence_number) => [name, { ...data, sequence_number }])
  },
}

const USAGE = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }

const chatMessage = (choice: Choice, turn: number): object =>
  choice === null
    ? { role: 'assistant', content: LAST_WORDS }
    : {
        role: 'assistant',
        content: null,
        tool_calls: [
          {
            index: 0,
            id: `call_${turn}`,
            type: 'function',
            function: { name: choice.name, arguments: JSON.stringify(choice.args) },
          },
        ],
      }

const CHAT: ModelApi = {
  path: /\/chat\/completions$/,
  read: ({ tools = [], messages }) => ({
    tools: tools.map((tool: any) => ({
      name: tool.function.name,
      schema: tool.function.parameters,
    })),
    // Some frameworks write the results as messages of the user.
    results: countOf(
      messages,
      ({ role, content }) =>
        role === 'tool' || (role === 'user' && JSON.stringify(content).includes('Observation:\\n')),
    ),
  }),
  whole: (choice, turn) => ({
    id: `chatcmpl-${turn}`,
    object: 'chat.completion',
    created: 1,
    model: MODEL,
    choices: [
      {
        index: 0,
        message: chatMessage(choice, turn),
        finish_reason: choice === null ? 'stop' : 'tool_calls',
        logprobs: null,
      },
    ],
    usage: USAGE,
  }),
  events: (choice, turn) => {
    const head = {
      id: `chatcmpl-${turn}`,
      object: 'chat.completion.chunk',
      created: 1,
      model: MODEL,
    }
    const finish_reason = choice === null ? 'stop' : 'tool_calls'
    const delta = chatMessage(choice, turn)
    return [
      [null, { ...head, choices: [{ index: 0, delta, finish_reason: null }] }],
      [null, { ...head, choices: [{ index: 0, delta: {}, finish_reason }], usage: USAGE }],
    ]
  },
}

const messageOf = (choice: Choice, turn: number, content: readonly object[]): object => ({
  id: `msg_${turn}`,
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-4-5',
  content,
  stop_reason: choice === null ? 'end_turn' : 'tool_use',
  stop_sequence: null,
  usage: { input_tokens: 1, output_tokens: 1 },
})

const MESSAGES: ModelApi = {
  path: /\/messages$/,
  read: ({ tools = [], messages }) => ({
    tools: tools
      .filter(({ input_schema }: any) => input_schema !== undefined)
      .map(({ name, input_schema }: any) => ({ name, schema: input_schema })),
    results: (messages as any[]).reduce(
      (sum, { content }) =>
        sum + (Array.isArray(content) ? countOf(content, ({ type }) => type === 'tool_result') : 0),
      0,
    ),
  }),
  whole: (choice, turn) =>
    messageOf(choice, turn, [
      choice === null
        ? { type: 'text', text: LAST_WORDS }
        : { type: 'tool_use', id: `toolu_${turn}`, name: choice.name, input: choice.args },
    ]),
  events: (choice, turn) => {
    const block =
      choice === null
        ? { type: 'text', text: '' }
        : { type: 'tool_use', id: `toolu_${turn}`, name: choice.name, input: {} }
    const delta =
      choice === null
        ? { type: 'text_delta', text: LAST_WORDS }
        : { type: 'input_json_delta', partial_json: JSON.stringify(choice.args) }
    return [
      typed('message_start', {
        message: { ...messageOf(choice, turn, []), stop_reason: null },
      }),
      typed('content_block_start', { index: 0, content_block: block }),
      typed('content_block_delta', { index: 0, delta }),
      typed('content_block_stop', { index: 0 }),
      typed('message_delta', {
        delta: { stop_reason: choice === null ? 'end_turn' : 'tool_use', stop_sequence: null },
        usage: { output_tokens: 1 },
      }),
      typed('message_stop', {}),
    ]
  },
}

const generated = (choice: Choice): object => {
  const part = choice === null ? { text: LAST_WORDS } : { functionCall: choice }
  return {
    candidates: [{ index: 0, content: { role: 'model', parts: [part] }, finishReason: 'STOP' }],
    usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
  }
}

const GEMINI: ModelApi = {
  path: /:(?:streamG|g)enerateContent$/,
  read: ({ tools = [], contents }) => ({
    tools: tools.flatMap(({ functionDeclarations = [] }: any) =>
      functionDeclarations.map(({ name, parameters, ...more }: any) => ({
        name,
        schema: parameters ?? more.parametersJsonSchema ?? more.parameters_json_schema,
      })),
    ),
    results: (contents as any[]).reduce(
      (sum, { parts }) => sum + countOf(parts, (part) => part.functionResponse !== undefined),
      0,
    ),
  }),
  whole: generated,
  events: (choice) => [[null, generated(choice)]],
}

export const MODEL_APIS: readonly ModelApi[] = [RESPONSES, CHAT, MESSAGES, GEMINI]
