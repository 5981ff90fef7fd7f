import { tool } from '@langchain/core/tools'
import { createReactAgent } from '@langchain/langgraph/prebuilt'
import { ChatOpenAI } from '@langchain/openai'
import { INSTRUCTIONS, PROMPT, TOOLS } from './tools.mjs'

const agent = createReactAgent({
  llm: new ChatOpenAI({
    model: 'gpt-5',
    configuration: { baseURL: process.env.OPENAI_BASE_URL },
  }),
  prompt: INSTRUCTIONS,
  tools: TOOLS.map(({ name, description, parameters, execute }) =>
    tool(execute, { name, description, schema: parameters }),
  ),
})
const messages = [{ role: 'user', content: PROMPT }]
const result = await agent.invoke({ messages }, { recursionLimit: 1000 })
console.log(result.messages.at(-1).content)
