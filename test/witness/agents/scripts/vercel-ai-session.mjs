import { createAnthropic } from '@ai-sdk/anthropic'
import { createGoogleGenerativeAI } from '@ai-sdk/google'
import { createOpenAI } from '@ai-sdk/openai'
import { stepCountIs, streamText, tool } from 'ai'
import { INSTRUCTIONS, PROMPT, TOOLS } from './tools.mjs'

const { env } = process
const model = {
  openai: () => createOpenAI({ baseURL: env.OPENAI_BASE_URL, apiKey: env.OPENAI_API_KEY })('gpt-5'),
  anthropic: () =>
    createAnthropic({ baseURL: `${env.ANTHROPIC_BASE_URL}/v1`, apiKey: env.OPENAI_API_KEY })(
      'claude-sonnet-4-5',
    ),
  google: () =>
    createGoogleGenerativeAI({
      baseURL: `${env.GOOGLE_GEMINI_BASE_URL}/v1beta`,
      apiKey: env.OPENAI_API_KEY,
    })('gemini-2.5-flash'),
}[env.PROVIDER ?? 'openai']()
const tools = TOOLS.map(({ name, description, parameters, execute }) => [
  name,
  tool({ description, inputSchema: parameters, execute }),
])
const result = streamText({
  model,
  system: INSTRUCTIONS,
  prompt: PROMPT,
  tools: Object.fromEntries(tools),
  stopWhen: stepCountIs(1000),
})
console.log(await result.text)
