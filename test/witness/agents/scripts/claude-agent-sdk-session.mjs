import { query } from '@anthropic-ai/claude-agent-sdk'
import { INSTRUCTIONS, PROMPT } from './tools.mjs'

const headers = { Authorization: `Bearer ${process.env.OPENAI_API_KEY}` }
const messages = query({
  prompt: PROMPT,
  options: {
    systemPrompt: INSTRUCTIONS,
    allowedTools: ['Bash', 'Read', 'Write', 'Edit', 'Grep', 'mcp__releases'],
    mcpServers: { releases: { type: 'http', url: process.env.MCP_URL, headers } },
    env: {
      ...process.env,
      ENABLE_TOOL_SEARCH: 'false',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    },
  },
})
for await (const message of messages) if (message.type === 'result') console.log(message.result)
