import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { callReleases } from './call-releases.mjs'

const headers = { authorization: `Bearer ${process.env.OPENAI_API_KEY}` }
const url = new URL(process.env.MCP_URL)
await callReleases(new StreamableHTTPClientTransport(url, { requestInit: { headers } }))
