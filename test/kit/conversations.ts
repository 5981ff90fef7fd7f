import type { Speaker } from '../../core/catalogue/model.ts'

type Say = (text: string) => unknown

/** How each speaker of an API says a text: its path below the base URL, and the bodies. */
export type Conversation = {
  readonly path: string
  readonly says: Partial<Readonly<Record<Speaker, Say>>>
}

const user = { role: 'user', content: 'Hello' }
const tool = (description: string) => ({ name: 'look_up', description, parameters: {} })

const openai = (messages: readonly object[], more: object = {}) => ({
  model: 'm',
  messages,
  ...more,
})
const anthropic = (messages: readonly object[], more: object = {}) => ({
  model: 'm',
  max_tokens: 1_024,
  messages,
  ...more,
})
const part = (content: object) => [{ role: 'user', content: [content] }]
const gemini = (contents: readonly object[], more: object = {}) => ({ contents, ...more })
const said = (role: string, content: unknown) => ({ role, content })
const parts = (role: string, one: object) => ({ role, parts: [one] })

const GEMINI: Conversation['says'] = {
  operator: (text) =>
    gemini([parts('user', { text: 'Hi' })], { systemInstruction: { parts: [{ text }] } }),
  user: (text) => gemini([parts('user', { text })]),
  model: (text) => gemini([parts('user', { text: 'Hi' }), parts('model', { text })]),
  tool_result: (text) =>
    gemini([parts('user', { functionResponse: { name: 'look_up', response: { output: text } } })]),
  tool_description: (text) =>
    gemini([parts('user', { text: 'Hi' })], { tools: [{ functionDeclarations: [tool(text)] }] }),
}

export const CONVERSATIONS: Readonly<Record<string, Conversation>> = {
  openai_chat: {
    path: '/v1/chat/completions',
    says: {
      operator: (text) => openai([said('system', text), user]),
      user: (text) => openai([said('user', [{ type: 'text', text }])]),
      model: (text) => openai([user, said('assistant', text), user]),
      tool_result: (text) => openai([user, { ...said('tool', text), tool_call_id: 'c' }]),
      tool_description: (text) =>
        openai([user], { tools: [{ type: 'function', function: tool(text) }] }),
    },
  },
  openai_responses: {
    path: '/v1/responses',
    says: {
      operator: (text) => ({ model: 'm', instructions: text, input: 'Hello' }),
      user: (text) => ({
        model: 'm',
        input: [
          { type: 'message', role: 'user', content: [{ type: 'input_text', text }] },
          { type: 'reasoning', summary: [] },
        ],
      }),
      model: (text) => ({
        model: 'm',
        input: [{ role: 'assistant', content: [{ type: 'output_text', text }] }, user],
      }),
      tool_result: (text) => ({
        model: 'm',
        input: [user, { type: 'function_call_output', call_id: 'c', output: text }],
      }),
      tool_description: (text) => ({
        model: 'm',
        input: 'Hello',
        tools: [{ type: 'function', ...tool(text) }],
      }),
    },
  },
  openai_assistants: {
    path: '/v1/threads/thread_1/runs',
    says: {
      operator: (text) => ({ assistant_id: 'asst_1', instructions: text }),
      user: (text) => ({ assistant_id: 'asst_1', additional_messages: [said('user', text)] }),
      tool_description: (text) => ({
        assistant_id: 'asst_1',
        tools: [{ type: 'function', function: tool(text) }],
      }),
    },
  },
  anthropic: {
    path: '/v1/messages',
    says: {
      operator: (text) => anthropic([user], { system: [{ type: 'text', text }] }),
      user: (text) => anthropic(part({ type: 'text', text })),
      model: (text) => anthropic([user, said('assistant', [{ type: 'text', text }])]),
      tool_result: (text) =>
        anthropic(
          part({ type: 'tool_result', tool_use_id: 't', content: [{ type: 'text', text }] }),
        ),
      tool_description: (text) =>
        anthropic([user], { tools: [{ name: 'look_up', description: text, input_schema: {} }] }),
      document: (text) =>
        anthropic(part({ type: 'document', source: { type: 'text', data: text } })),
    },
  },
  gemini: { path: '/v1beta/models/gemini-2.5-pro:streamGenerateContent', says: GEMINI },
  gemini_code_assist: {
    path: '/v1internal:generateContent',
    says: Object.fromEntries(
      Object.entries(GEMINI).map(([speaker, say]) => [
        speaker,
        (text: string) => ({ model: 'm', project: 'p', request: say(text) }),
      ]),
    ),
  },
  bedrock_converse: {
    path: '/model/anthropic.claude-3-sonnet-20240229-v1%3A0/converse',
    says: {
      operator: (text) => ({ system: [{ text }], messages: [said('user', [{ text: 'Hi' }])] }),
      user: (text) => ({ messages: [said('user', [{ text }])] }),
      model: (text) => ({
        messages: [said('user', [{ text: 'Hi' }]), said('assistant', [{ text }])],
      }),
      tool_result: (text) => ({
        messages: [said('user', [{ toolResult: { toolUseId: 't', content: [{ text }] } }])],
      }),
      tool_description: (text) => ({
        messages: [said('user', [{ text: 'Hi' }])],
        toolConfig: { tools: [{ toolSpec: tool(text) }] },
      }),
      document: (text) => ({
        messages: [said('user', [{ document: { name: 'd', source: { text } } }])],
      }),
    },
  },
  cohere_v2: {
    path: '/v2/chat',
    says: {
      operator: (text) => openai([said('system', text), user]),
      user: (text) => openai([said('user', text)]),
      model: (text) => openai([user, said('assistant', text), user]),
      tool_result: (text) => openai([user, { ...said('tool', text), tool_call_id: 'c' }]),
      document: (text) => openai([user], { documents: [{ data: { text } }] }),
    },
  },
  cohere_v1: {
    path: '/v1/chat',
    says: {
      operator: (text) => ({ message: 'Hi', preamble: text }),
      user: (text) => ({ message: text }),
      model: (text) => ({ message: 'Hi', chat_history: [{ role: 'CHATBOT', message: text }] }),
      document: (text) => ({ message: 'Hi', documents: [{ snippet: text }] }),
    },
  },
  ollama_chat: {
    path: '/api/chat',
    says: {
      operator: (text) => openai([said('system', text), user]),
      user: (text) => openai([said('user', text)]),
      model: (text) => openai([said('assistant', text), user]),
      tool_result: (text) => openai([user, said('tool', text)]),
    },
  },
  ollama_generate: {
    path: '/api/generate',
    says: {
      operator: (text) => ({ model: 'm', system: text, prompt: 'Hi' }),
      user: (text) => ({ model: 'm', prompt: text }),
    },
  },
  chatml: {
    path: '/v1/completions',
    says: {
      operator: (text) => ({
        model: 'm',
        prompt: `<|im_start|>system\n${text}<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n`,
      }),
      user: (text) => ({
        model: 'm',
        prompt: `<|im_start|>system\nBe kind.<|im_end|>\n<|im_start|>user\n${text}<|im_end|>\n<|im_start|>assistant\n`,
      }),
    },
  },
  llama_2: {
    path: '/generate',
    says: {
      operator: (text) => ({
        inputs: `<s>[INST] <<SYS>>\n${text}\n<</SYS>>\n\nHi [/INST] Hello. </s><s>[INST] Go on. [/INST]`,
      }),
      user: (text) => ({ inputs: `<s>[INST] ${text} [/INST]` }),
    },
  },
  sagemaker: {
    path: '/endpoints/llama-2/invocations',
    says: {
      operator: (text) => ({ inputs: `<s>[INST] <<SYS>>\n${text}\n<</SYS>>\n\nHi [/INST]` }),
      user: (text) => ({ inputs: `<s>[INST] ${text} [/INST]` }),
    },
  },
  llama_3: {
    path: '/model/meta.llama3-8b-instruct-v1:0/invoke',
    says: {
      operator: (text) => ({
        prompt: `<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\n${text}<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nHi<|eot_id|>`,
      }),
      user: (text) => ({
        prompt: `<|start_header_id|>user<|end_header_id|>\n\n${text}<|eot_id|>`,
      }),
    },
  },
  gemma: {
    path: '/models/google/gemma-2b',
    says: {
      user: (text) => ({
        inputs: `<start_of_turn>user\n${text}<end_of_turn>\n<start_of_turn>model\n`,
      }),
    },
  },
  harmony: {
    path: '/completion',
    says: {
      operator: (text) => ({
        prompt: `<|start|>system<|message|>${text}<|end|><|start|>user<|message|>Hi<|end|><|start|>assistant`,
      }),
      user: (text) => ({ prompt: `<|start|>user<|message|>${text}<|end|><|start|>assistant` }),
    },
  },
  headings: {
    path: '/v1/completions',
    says: {
      operator: (text) => ({
        model: 'm',
        prompt: `### System:\n${text}\n\n### User:\nHi\n\n### Assistant:\n`,
      }),
      user: (text) => ({ model: 'm', prompt: `### Instruction:\n${text}\n\n### Response:\n` }),
    },
  },
  a2a: {
    path: '/agents/billing',
    says: {
      user: (text) => a2a('user', { kind: 'text', text }),
      tool_result: (text) => a2a('agent', { kind: 'text', text }),
      document: (text) => a2a('user', { kind: 'data', data: { text } }),
    },
  },
  mcp: {
    path: '/mcp',
    says: {
      user: (text) => ({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'save_note', arguments: { text } },
      }),
      tool_result: (text) => ({
        jsonrpc: '2.0',
        id: 1,
        result: { role: 'assistant', content: { type: 'text', text } },
      }),
    },
  },
}

function a2a(role: string, one: object): unknown {
  const message = { role, messageId: 'm', parts: [one] }
  return { jsonrpc: '2.0', id: 1, method: 'message/send', params: { message } }
}

/** A body of the Messages API of Anthropic, which has every speaker. */
export const bodySaidBy = (speaker: Speaker, text: string): string => {
  const say = CONVERSATIONS['anthropic']?.says[speaker]
  if (say === undefined) throw new Error(`${speaker} does not speak`)
  return JSON.stringify(say(text))
}
