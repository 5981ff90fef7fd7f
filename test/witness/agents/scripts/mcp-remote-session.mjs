import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { callReleases } from './call-releases.mjs'

const { MCP_URL, OPENAI_API_KEY, MCP_REMOTE } = process.env
await callReleases(
  new StdioClientTransport({
    command: process.execPath,
    args: [
      MCP_REMOTE,
      MCP_URL,
      '--header',
      `Authorization: Bearer ${OPENAI_API_KEY}`,
      '--allow-http',
      '--enable-proxy',
    ],
    env: process.env,
  }),
)
process.exit(0)
