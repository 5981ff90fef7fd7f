import { createOpenAI } from '@ai-sdk/openai'
import { Agent } from '@mastra/core/agent'
import { createTool } from '@mastra/core/tools'
import { INSTRUCTIONS, PROMPT, TOOLS } from './tools.mjs'

const { OPENAI_BASE_URL, OPENAI_API_KEY } = process.env
const tools = TOOLS.map(({ name, description, parameters, execute }) => [
  name,
  createTool({ id: name, description, inputSchema: parameters, execute }),
])
const agent = new Agent({
  id: 'release',
  name: 'release',
  instructions: INSTRUCTIONS,
  model: createOpenAI({ baseURL: OPENAI_BASE_URL, apiKey: OPENAI_API_KEY })('gpt-5'),
  tools: Object.fromEntries(tools),
})
console.log((await agent.generate(PROMPT, { maxSteps: 1000 })).text)
process.exit(0)
