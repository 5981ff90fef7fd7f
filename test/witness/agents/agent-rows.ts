import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { nodeFolder, npmProgram } from './install-agents.ts'
import { VENDOR_HOSTS } from './play-vendors.ts'

export interface Run {
  readonly home: string
  /** Of the gateway. */
  readonly key: string
  /** What stands before the origin of an API: empty by forward proxy. */
  readonly before: string
}

/** How a program is started: an installed command, a script for Node.js, or one for a virtual environment of Python. */
type Start =
  | { readonly npm: string; readonly args: readonly string[] }
  | { readonly node: string }
  | { readonly python: string; readonly environment?: string }

export interface AgentRow {
  readonly start: Start
  /** The package whose version is reported. */
  readonly version: string
  /** `model`: led by the scripted model. `mcp` and `rpc`: makes its calls itself. */
  readonly leads?: 'mcp' | 'rpc'
  /** Only these ways; default: both. */
  readonly ways?: readonly Way[]
  readonly env?: (run: Run) => Readonly<Record<string, string>>
  readonly prepare?: (run: Run) => void
}

export const WAYS = ['base URL', 'forward proxy'] as const
export type Way = (typeof WAYS)[number]

export const PROMPT = 'Work through the release checklist, step by step.'
const MCP_URL = `https://${VENDOR_HOSTS.mcp}/mcp`
const openai = ({ before }: Run): string => `${before}https://${VENDOR_HOSTS.openai}/v1`

/** What each program finds in its environment. */
export const commonVariables = (run: Run): Readonly<Record<string, string>> => ({
  OPENAI_API_KEY: run.key,
  OPENAI_BASE_URL: openai(run),
  OPENAI_MODEL: 'gpt-5',
  ANTHROPIC_AUTH_TOKEN: run.key,
  ANTHROPIC_BASE_URL: `${run.before}https://${VENDOR_HOSTS.anthropic}`,
  GEMINI_API_KEY: run.key,
  GOOGLE_GEMINI_BASE_URL: `${run.before}https://${VENDOR_HOSTS.google}`,
  MCP_URL: `${run.before}${MCP_URL}`,
  PROMPT,
  MCP_REMOTE: npmProgram('mcp-remote'),
  MCP_INSPECTOR: npmProgram('mcp-inspector'),
})

function writeIn(home: string, folder: string, name: string, value: string | object): void {
  mkdirSync(join(home, folder), { recursive: true })
  writeFileSync(
    join(home, folder, name),
    typeof value === 'string' ? value : JSON.stringify(value, null, 2),
  )
}

const bearer = ({ key }: Run): object => ({ Authorization: `Bearer ${key}` })
const mcpServers = (run: Run, member: string): object => ({
  releases: { [member]: `${run.before}${MCP_URL}`, headers: bearer(run), trust: true },
})

export const AGENTS: Readonly<Record<string, AgentRow>> = {
  'Codex CLI': {
    start: {
      npm: 'codex',
      args: ['exec', '--dangerously-bypass-approvals-and-sandbox', '--skip-git-repo-check', PROMPT],
    },
    version: '@openai/codex',
    prepare: (run) =>
      writeIn(
        run.home,
        '.codex',
        'config.toml',
        [
          'model = "gpt-5"',
          'model_provider = "gateway"',
          '[model_providers.gateway]',
          'name = "gateway"',
          `base_url = "${openai(run)}"`,
          'wire_api = "responses"',
          'env_key = "OPENAI_API_KEY"',
          '[mcp_servers.releases]',
          `url = "${run.before}${MCP_URL}"`,
          'bearer_token_env_var = "OPENAI_API_KEY"',
          '',
        ].join('\n'),
      ),
  },
  'Claude Code': {
    start: {
      npm: 'claude',
      args: [
        '-p',
        PROMPT,
        '--mcp-config',
        'mcp.json',
        '--allowedTools',
        'Bash',
        'Read',
        'Write',
        'Edit',
        'mcp__releases',
      ],
    },
    version: '@anthropic-ai/claude-code',
    env: () => ({ CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', ENABLE_TOOL_SEARCH: 'false' }),
    prepare: (run) =>
      writeIn(run.home, 'work', 'mcp.json', {
        mcpServers: {
          releases: { type: 'http', url: `${run.before}${MCP_URL}`, headers: bearer(run) },
        },
      }),
  },
  'Gemini CLI': {
    start: {
      npm: 'gemini',
      args: ['--skip-trust', '--yolo', '-m', 'gemini-2.5-flash', '-p', PROMPT],
    },
    version: '@google/gemini-cli',
    prepare: (run) =>
      writeIn(run.home, '.gemini', 'settings.json', {
        security: { auth: { selectedType: 'gemini-api-key' } },
        mcpServers: mcpServers(run, 'httpUrl'),
      }),
  },
  'Qwen Code': {
    start: { npm: 'qwen', args: ['--auth-type', 'openai', '--yolo', '-p', PROMPT] },
    version: '@qwen-code/qwen-code',
    prepare: (run) =>
      writeIn(run.home, '.qwen', 'settings.json', { mcpServers: mcpServers(run, 'httpUrl') }),
  },
  opencode: {
    start: { npm: 'opencode', args: ['run', '--model', 'gateway/gpt-5', PROMPT] },
    version: 'opencode-ai',
    prepare: (run) =>
      writeIn(run.home, 'work', 'opencode.json', {
        provider: {
          gateway: {
            npm: '@ai-sdk/openai-compatible',
            name: 'gateway',
            options: { baseURL: openai(run), apiKey: run.key },
            models: { 'gpt-5': { name: 'gpt-5', tool_call: true } },
          },
        },
        permission: { '*': 'allow' },
        autoupdate: false,
        mcp: { releases: { type: 'remote', url: `${run.before}${MCP_URL}`, headers: bearer(run) } },
      }),
  },
  'Cline CLI': {
    start: { npm: 'cline', args: ['--json', PROMPT] },
    version: 'cline',
    prepare: (run) => {
      const args = ['auth', '-p', 'openai', '-k', run.key, '-m', 'gpt-5', '-b', openai(run)]
      const env = { PATH: `${nodeFolder()}:${process.env['PATH']}`, HOME: run.home }
      execFileSync(npmProgram('cline'), args, { env })
      writeIn(run.home, '.cline/data/settings', 'cline_mcp_settings.json', {
        mcpServers: {
          releases: {
            type: 'streamableHttp',
            url: `${run.before}${MCP_URL}`,
            headers: bearer(run),
            disabled: false,
          },
        },
      })
    },
  },
  'OpenAI Agents SDK, Python': { start: { python: 'openai-agents' }, version: 'openai-agents' },
  'Claude Agent SDK, Python': {
    start: { python: 'claude-agent-sdk' },
    version: 'claude-agent-sdk',
  },
  'google-adk, Python': { start: { python: 'google-adk' }, version: 'google-adk' },
  LangGraph: { start: { python: 'langgraph' }, version: 'langgraph' },
  AutoGen: { start: { python: 'autogen' }, version: 'autogen-agentchat' },
  LlamaIndex: { start: { python: 'llama-index' }, version: 'llama-index-core' },
  Agno: { start: { python: 'agno' }, version: 'agno' },
  smolagents: { start: { python: 'smolagents' }, version: 'smolagents' },
  'Pydantic AI': { start: { python: 'pydantic-ai' }, version: 'pydantic-ai-slim' },
  'Strands Agents': { start: { python: 'strands' }, version: 'strands-agents' },
  'OpenAI Agents SDK, Node.js': { start: { node: 'openai-agents' }, version: '@openai/agents' },
  'Claude Agent SDK, Node.js': {
    start: { node: 'claude-agent-sdk' },
    version: '@anthropic-ai/claude-agent-sdk',
  },
  'Vercel AI SDK, OpenAI': { start: { node: 'vercel-ai' }, version: 'ai' },
  'Vercel AI SDK, Anthropic': {
    start: { node: 'vercel-ai' },
    version: 'ai',
    env: () => ({ PROVIDER: 'anthropic' }),
  },
  'Vercel AI SDK, Google': {
    start: { node: 'vercel-ai' },
    version: 'ai',
    env: () => ({ PROVIDER: 'google' }),
  },
  'LangGraph, Node.js': { start: { node: 'langgraph' }, version: '@langchain/langgraph' },
  Mastra: { start: { node: 'mastra' }, version: '@mastra/core' },
  'MCP SDK, Python': { start: { python: 'mcp' }, version: 'mcp', leads: 'mcp' },
  'MCP SDK, Node.js': {
    start: { node: 'mcp' },
    version: '@modelcontextprotocol/sdk',
    leads: 'mcp',
  },
  fastmcp: { start: { python: 'fastmcp' }, version: 'fastmcp', leads: 'mcp' },
  'mcp-remote': { start: { node: 'mcp-remote' }, version: 'mcp-remote', leads: 'mcp' },
  'MCP inspector CLI': {
    start: { node: 'mcp-inspector' },
    version: '@modelcontextprotocol/inspector',
    leads: 'mcp',
  },
  'gRPC, Python': {
    start: { python: 'grpc', environment: 'clients' },
    version: 'grpcio',
    leads: 'rpc',
    ways: ['forward proxy'],
  },
  'gRPC, Node.js': {
    start: { node: 'grpc' },
    version: '@grpc/grpc-js',
    leads: 'rpc',
    ways: ['forward proxy'],
  },
}
