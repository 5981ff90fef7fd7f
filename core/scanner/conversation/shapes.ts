import type { Speaker } from '../../catalogue/model.ts'

/**
 * Whose words stand at a place of a request, as data. A speaker alone stands for all texts of a value, and `template` for a text
 * that a chat template has made of several turns. What no reading names are the words of a user.
 */
export type Reading =
  | Speaker
  | 'template'
  | {
      /** The value is a string. */
      readonly text?: Speaker | 'template'
      /** The value is an array. */
      readonly each?: Reading
      /** The value is an object whose first present member of these decides; the case `''` is that none is present. */
      readonly by?: readonly ('role' | 'type' | 'kind' | 'method')[]
      readonly cases?: Readonly<Record<string, Reading>>
      /** The value is an object, read member by member. */
      readonly members?: Readonly<Record<string, Reading>>
    }

export interface Shape {
  readonly name: string
  /** Of the path; the method is always POST. The base URL may have more before it, the caller may not. */
  readonly path: RegExp
  /** Members without which the API would not accept the body. */
  readonly requires: readonly string[]
  readonly root: Reading
}

/** Where providers and proxies put the API of OpenAI. A base URL may contain any other prefix before it. */
const OPENAI =
  '(?:/v1|/api/v1|/openai(?:/v1)?|/api/openai/v1|/v1/openai|/v1beta/openai|/inference/v1|/compatible-mode/v1|/api/paas/v4|/api/v3|/openai/deployments/[\\w.-]+|/v1/[\\w-]+/[\\w-]+/(?:openai|compat)(?:/v1)?)'
const ANTHROPIC = '(?:/api|/anthropic|/api/anthropic)?/v1'

/** Content parts of a user, some of which carry what tools and documents say. */
const USER_PARTS: Reading = {
  text: 'user',
  each: {
    members: {
      toolResult: 'tool_result',
      functionResponse: 'tool_result',
      function_response: 'tool_result',
      document: 'document',
      searchResult: 'document',
    },
    by: ['type'],
    cases: {
      tool_result: 'tool_result',
      document: 'document',
      search_result: 'document',
      file: 'document',
      input_file: 'document',
    },
  },
}
const MODEL_PARTS: Reading = {
  text: 'model',
  each: {
    by: ['type'],
    cases: {
      '': { members: { text: 'model', toolUse: 'model', reasoningContent: 'model' } },
      text: 'model',
      output_text: 'model',
      refusal: 'model',
      thinking: 'model',
      reasoning: 'model',
      tool_use: 'model',
      server_tool_use: 'model',
      mcp_tool_use: 'model',
      web_search_tool_result: 'tool_result',
      web_fetch_tool_result: 'tool_result',
      code_execution_tool_result: 'tool_result',
      mcp_tool_result: 'tool_result',
      tool_result: 'tool_result',
    },
  },
}

const USER: Reading = { members: { content: USER_PARTS } }
const MODEL: Reading = {
  members: {
    content: MODEL_PARTS,
    thinking: 'model',
    reasoning: 'model',
    reasoning_content: 'model',
    refusal: 'model',
    tool_calls: 'model',
    function_call: 'model',
    tool_plan: 'model',
  },
}

const messages = (cases: Readonly<Record<string, Reading>>): Reading => ({
  each: { by: ['role'], cases: { user: USER, assistant: MODEL, ...cases } },
})

const OPENAI_MESSAGES = messages({
  system: 'operator',
  developer: 'operator',
  tool: 'tool_result',
  function: 'tool_result',
})

const ASSISTANT: Reading = {
  members: {
    instructions: 'operator',
    additional_instructions: 'operator',
    tools: 'tool_description',
  },
}

/** An item without a type is a message. */
const asMessage = (reading: Reading): Reading => ({
  by: ['type'],
  cases: { '': reading, message: reading },
})

/** A system message after a turn of the user, which the API takes since Claude Opus 4.8. It has texts only: other parts are a user's. */
const LATER_SYSTEM: Reading = {
  members: { content: { text: 'operator', each: { by: ['type'], cases: { text: 'operator' } } } },
}

const ANTHROPIC_BODY: Reading = {
  members: {
    system: 'operator',
    messages: messages({ system: LATER_SYSTEM }),
    tools: 'tool_description',
  },
}

const GEMINI_BODY: Reading = {
  members: {
    systemInstruction: 'operator',
    system_instruction: 'operator',
    contents: {
      each: {
        by: ['role'],
        cases: {
          '': { members: { parts: USER_PARTS } },
          user: { members: { parts: USER_PARTS } },
          model: { members: { parts: { each: 'model' } } },
          function: 'tool_result',
          tool: 'tool_result',
        },
      },
    },
    tools: 'tool_description',
  },
}

/** The APIs whose requests are read as a conversation. The first shape that fits counts. */
export const SHAPES: readonly Shape[] = [
  {
    name: 'openai_chat',
    path: new RegExp(`^${OPENAI}?/chat/completions$`),
    requires: ['messages'],
    root: {
      members: {
        messages: OPENAI_MESSAGES,
        tools: 'tool_description',
        functions: 'tool_description',
        response_format: 'tool_description',
      },
    },
  },
  {
    name: 'openai_responses',
    path: new RegExp(`^${OPENAI}/responses(?:/compact|/input_tokens)?$`),
    requires: ['input'],
    root: {
      members: {
        instructions: 'operator',
        input: {
          text: 'user',
          each: {
            by: ['role', 'type'],
            cases: {
              system: asMessage('operator'),
              developer: asMessage('operator'),
              user: asMessage(USER),
              assistant: asMessage(MODEL),
              function_call: 'model',
              custom_tool_call: 'model',
              local_shell_call: 'model',
              shell_call: 'model',
              apply_patch_call: 'model',
              computer_call: 'model',
              reasoning: 'model',
              function_call_output: 'tool_result',
              custom_tool_call_output: 'tool_result',
              local_shell_call_output: 'tool_result',
              shell_call_output: 'tool_result',
              apply_patch_call_output: 'tool_result',
              computer_call_output: 'tool_result',
              mcp_call: 'tool_result',
              web_search_call: 'tool_result',
              file_search_call: 'document',
              code_interpreter_call: 'tool_result',
            },
          },
        },
        tools: 'tool_description',
        text: 'tool_description',
      },
    },
  },
  {
    name: 'openai_assistants',
    path: new RegExp(`^${OPENAI}/assistants$`),
    requires: ['model'],
    root: ASSISTANT,
  },
  {
    name: 'openai_assistants',
    path: new RegExp(`^${OPENAI}/threads(?:/thread_\\w+)?/runs$`),
    requires: ['assistant_id'],
    root: ASSISTANT,
  },
  {
    name: 'openai_completions',
    path: new RegExp(`^${OPENAI}/completions$`),
    requires: ['prompt'],
    root: { members: { prompt: 'template' } },
  },
  {
    name: 'anthropic',
    path: new RegExp(`^${ANTHROPIC}/messages$`),
    requires: ['model', 'messages', 'max_tokens'],
    root: ANTHROPIC_BODY,
  },
  {
    name: 'anthropic',
    path: new RegExp(`^${ANTHROPIC}/messages/count_tokens$`),
    requires: ['model', 'messages'],
    root: ANTHROPIC_BODY,
  },
  {
    name: 'anthropic',
    path: /^\/model\/[\w.:%-]+\/invoke(?:-with-response-stream)?$/,
    requires: ['anthropic_version', 'messages', 'max_tokens'],
    root: ANTHROPIC_BODY,
  },
  {
    name: 'anthropic',
    path: /^(?:\/v\d\w*)?(?:\/(?:projects|locations|publishers|models)\/[\w.@-]+){3,4}:(?:streamR|r)awPredict$/,
    requires: ['anthropic_version', 'messages', 'max_tokens'],
    root: ANTHROPIC_BODY,
  },
  {
    name: 'gemini',
    path: /^(?:\/v\d\w*)?(?:\/(?:projects|locations|publishers|models|tunedModels|endpoints)\/[\w.@-]+){1,4}:(?:generateContent|streamGenerateContent|countTokens)$/,
    requires: ['contents'],
    root: GEMINI_BODY,
  },
  {
    name: 'gemini',
    path: /^\/v1internal:(?:generateContent|streamGenerateContent|countTokens)$/,
    requires: ['request'],
    root: { members: { request: GEMINI_BODY } },
  },
  {
    name: 'bedrock_converse',
    path: /^\/model\/[\w.:%-]+\/converse(?:-stream)?$/,
    requires: ['messages'],
    root: {
      members: {
        system: 'operator',
        messages: messages({}),
        toolConfig: 'tool_description',
      },
    },
  },
  {
    name: 'bedrock_prompt',
    path: /^\/model\/[\w.:%-]+\/invoke(?:-with-response-stream)?$/,
    requires: ['prompt'],
    root: { members: { prompt: 'template' } },
  },
  {
    name: 'cohere_v2',
    path: /^\/v2\/chat$/,
    requires: ['model', 'messages'],
    root: {
      members: {
        messages: messages({
          system: 'operator',
          developer: 'operator',
          tool: 'tool_result',
        }),
        documents: 'document',
        tools: 'tool_description',
      },
    },
  },
  {
    name: 'cohere_v1',
    path: /^\/v1\/chat$/,
    requires: ['message'],
    root: {
      members: {
        preamble: 'operator',
        chat_history: {
          each: {
            by: ['role'],
            cases: { SYSTEM: 'operator', CHATBOT: 'model', TOOL: 'tool_result' },
          },
        },
        documents: 'document',
        tool_results: 'tool_result',
        tools: 'tool_description',
      },
    },
  },
  {
    name: 'ollama_chat',
    path: /^\/api\/chat$/,
    requires: ['model', 'messages'],
    root: {
      members: {
        messages: messages({ system: 'operator', tool: 'tool_result' }),
        tools: 'tool_description',
      },
    },
  },
  {
    name: 'ollama_generate',
    path: /^\/api\/generate$/,
    requires: ['model', 'prompt'],
    root: { members: { system: 'operator', prompt: 'template' } },
  },
  {
    name: 'text_generation',
    path: /^(?:\/generate|\/generate_stream|\/models\/[\w.-]+\/[\w.-]+|\/endpoints\/[\w-]+\/invocations)$/,
    requires: ['inputs'],
    root: { members: { inputs: 'template' } },
  },
  {
    name: 'llama_cpp',
    path: /^\/completion$/,
    requires: ['prompt'],
    root: { members: { prompt: 'template' } },
  },
  // The last two may have any path, since no speaker in them counts for more than a user.
  {
    name: 'a2a',
    path: /^/,
    requires: ['jsonrpc', 'method', 'params'],
    root: {
      by: ['method'],
      cases: {
        'message/send': { members: { params: { members: { message: a2aMessage() } } } },
        'message/stream': { members: { params: { members: { message: a2aMessage() } } } },
      },
    },
  },
  {
    name: 'mcp_answer',
    path: /^/,
    requires: ['jsonrpc', 'id', 'result'],
    root: { members: { result: { members: { content: 'tool_result' } } } },
  },
]

function a2aMessage(): Reading {
  const parts: Reading = { each: { by: ['kind'], cases: { data: 'document', file: 'document' } } }
  return { by: ['role'], cases: { user: { members: { parts } }, agent: 'tool_result' } }
}
