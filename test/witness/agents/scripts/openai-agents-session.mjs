import { Agent, run, setTracingDisabled, tool } from '@openai/agents'
import { INSTRUCTIONS, PROMPT, TOOLS } from './tools.mjs'

setTracingDisabled(true)
const agent = new Agent({
  name: 'release',
  model: 'gpt-5',
  instructions: INSTRUCTIONS,
  tools: TOOLS.map((one) => tool(one)),
})
const result = await run(agent, PROMPT, { maxTurns: 1000 })
console.log(result.finalOutput)
