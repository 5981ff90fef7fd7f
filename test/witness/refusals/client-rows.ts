import type { ErrorFormat } from '../../../core/catalogue/error-formats.ts'

/** A client whose users may see refusals. */
export interface ClientRow {
  /** A script of `agents/scripts` runs it, in an environment of Python or in Node.js; or a row of the coding agents. */
  readonly by:
    | { readonly python: string; readonly environment: string }
    | { readonly node: string }
    | { readonly agent: string }
  /** The package whose version is reported. */
  readonly version: string | null
  readonly format: ErrorFormat
  /** Of the credential of AWS. */
  readonly service?: string
  readonly is_mcp?: true
}

const python = (name: string, environment = 'clients'): ClientRow['by'] => ({
  python: name,
  environment,
})

export const CLIENTS: Readonly<Record<string, ClientRow>> = {
  'openai, Python': { by: python('openai'), version: 'openai', format: 'openai' },
  'openai, Node.js': { by: { node: 'openai' }, version: 'openai', format: 'openai' },
  'anthropic, Python': { by: python('anthropic'), version: 'anthropic', format: 'anthropic' },
  'anthropic, Node.js': {
    by: { node: 'anthropic' },
    version: '@anthropic-ai/sdk',
    format: 'anthropic',
  },
  'google-genai, Python': { by: python('google_genai'), version: 'google-genai', format: 'google' },
  'google-genai, Node.js': {
    by: { node: 'google-genai' },
    version: '@google/genai',
    format: 'google',
  },
  'Vercel AI SDK': { by: { node: 'vercel-ai' }, version: 'ai', format: 'openai' },
  litellm: { by: python('litellm', 'litellm'), version: 'litellm', format: 'openai' },
  'stripe, Python': { by: python('stripe'), version: 'stripe', format: 'stripe' },
  'stripe, Node.js': { by: { node: 'stripe' }, version: 'stripe', format: 'stripe' },
  octokit: { by: { node: 'octokit' }, version: 'octokit', format: 'gateway' },
  'slack_sdk, Python': { by: python('slack_sdk'), version: 'slack_sdk', format: 'slack' },
  'Slack, Node.js': { by: { node: 'slack' }, version: '@slack/web-api', format: 'slack' },
  'Slack, Node.js, no retries': {
    by: { node: 'slack-once' },
    version: '@slack/web-api',
    format: 'slack',
  },
  'notion-client, Python': {
    by: python('notion_client'),
    version: 'notion-client',
    format: 'notion',
  },
  'Notion, Node.js': { by: { node: 'notion' }, version: '@notionhq/client', format: 'notion' },
  'boto3, S3': { by: python('s3'), version: 'boto3', format: 'aws', service: 's3' },
  'boto3, Bedrock': { by: python('bedrock'), version: 'boto3', format: 'aws', service: 'bedrock' },
  'AWS SDK for Node.js, S3': {
    by: { node: 's3' },
    version: '@aws-sdk/client-s3',
    format: 'aws',
    service: 's3',
  },
  'AWS SDK for Node.js, Bedrock': {
    by: { node: 'bedrock' },
    version: '@aws-sdk/client-bedrock-runtime',
    format: 'aws',
    service: 'bedrock',
  },
  'MCP SDK, Python': { by: python('mcp', 'mcp'), version: 'mcp', format: 'gateway', is_mcp: true },
  fastmcp: {
    by: python('fastmcp', 'fastmcp'),
    version: 'fastmcp',
    format: 'gateway',
    is_mcp: true,
  },
  'MCP SDK, Node.js': {
    by: { node: 'mcp' },
    version: '@modelcontextprotocol/sdk',
    format: 'gateway',
    is_mcp: true,
  },
  'mcp-remote': {
    by: { node: 'mcp-remote' },
    version: 'mcp-remote',
    format: 'gateway',
    is_mcp: true,
  },
  'httpx, Python': { by: python('httpx'), version: null, format: 'gateway' },
  'requests, Python': { by: python('requests'), version: null, format: 'gateway' },
  fetch: { by: { node: 'fetch' }, version: null, format: 'gateway' },
  undici: { by: { node: 'undici' }, version: null, format: 'gateway' },
  curl: { by: { node: 'curl' }, version: null, format: 'gateway' },
  'Codex CLI': { by: { agent: 'Codex CLI' }, version: '@openai/codex', format: 'openai' },
  'Claude Code': {
    by: { agent: 'Claude Code' },
    version: '@anthropic-ai/claude-code',
    format: 'anthropic',
  },
  'Gemini CLI': { by: { agent: 'Gemini CLI' }, version: '@google/gemini-cli', format: 'google' },
}
