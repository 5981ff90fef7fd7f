import type { ApiTemplate } from './template.ts'

export const mcp: ApiTemplate = {
  name: 'mcp',
  title: 'MCP server',
  base_url: '{url}',
  parameters: { url: 'address of its endpoint, such as https://mcp.example.com/mcp' },
  auth: { type: 'bearer' },
  secrets: { token: 'MCP_TOKEN' },
  // Which tools only read is known to the server alone: name them in mcp_tools and read_tools of the scope.
  actions: { write: ['GET,POST,DELETE /'] },
  description: { none: 'every MCP server has one endpoint, and tools of its own' },
}
