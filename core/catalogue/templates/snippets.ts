/** What a client needs to call as an agent. */
export interface ClientPlace {
  readonly proxy_url: string
  readonly api_key: string
  readonly agent_name: string
  /** Of the API that it may call; null while there is none. */
  readonly base_url: string | null
  /** A path below the base URL that reads, to try. */
  readonly path: string
  /** Name of the template of the API. */
  readonly template: string
}

export const CLIENTS = [
  'curl',
  'OpenAI SDK',
  'Claude Code',
  'Codex',
  'MCP client',
  'agw run',
] as const
export type Client = (typeof CLIENTS)[number]

/** The clients as a word of a command. */
export const CLIENT_WORDS: ReadonlyMap<string, Client> = new Map(
  CLIENTS.map((client) => [client.toLowerCase().replaceAll(' ', '-'), client]),
)

const OPENAI = 'https://api.openai.com/v1'
const ANTHROPIC = 'https://api.anthropic.com/v1'
const MCP = 'https://mcp.example.com/mcp'

/** The client that an API is mostly used with. */
export const clientFor = (template: string): Client =>
  template === 'openai'
    ? 'OpenAI SDK'
    : template === 'anthropic'
      ? 'Claude Code'
      : template === 'mcp'
        ? 'MCP client'
        : 'curl'

/** Texts to paste, whole: address and key are filled in. A client for another API than the agent's shows that of its vendor. */
export function snippetsOf(place: ClientPlace): Readonly<Record<Client, string>> {
  const { proxy_url, api_key, agent_name, base_url, path, template } = place
  const call = base_url === null ? `${OPENAI}/models` : base_url + path
  const at = (vendor: string): string => `${proxy_url}/${vendor}`
  const insecure = proxy_url.startsWith('https:') && LOOPBACK.test(proxy_url) ? ' -k' : ''
  return {
    curl: [
      `export AGW_KEY=${inQuotes(api_key)}`,
      // -g: brackets and braces are a part of the URL, not a list of URLs.
      `curl -ig${insecure} ${inQuotes(`${proxy_url}/${call}`)} -H "Authorization: Bearer $AGW_KEY"`,
    ].join('\n'),
    'OpenAI SDK': [
      '# pip install openai',
      'from openai import OpenAI',
      '',
      `client = OpenAI(base_url=${text(at(OPENAI))}, api_key=${text(api_key)})`,
      'print(client.models.list())',
    ].join('\n'),
    'Claude Code': [
      // It adds the version itself.
      `export ANTHROPIC_BASE_URL=${inQuotes(at(ANTHROPIC).replace(/\/v1$/, ''))}`,
      `export ANTHROPIC_AUTH_TOKEN=${inQuotes(api_key)}`,
      'claude',
    ].join('\n'),
    Codex: [
      `export AGW_KEY=${inQuotes(api_key)}`,
      // Each -c is a line of ~/.codex/config.toml.
      `codex -c model_provider=gateway -c ${inQuotes(`model_providers.gateway={name="gateway",base_url=${text(at(OPENAI))},wire_api="responses",env_key="AGW_KEY"}`)}`,
    ].join('\n'),
    'MCP client': JSON.stringify(
      {
        mcpServers: {
          gateway: {
            type: 'http',
            url: at(template === 'mcp' && base_url !== null ? base_url : MCP),
            headers: { Authorization: `Bearer ${api_key}` },
          },
        },
      },
      null,
      2,
    ),
    'agw run': [
      '# Any program: its calls go through the forward proxy, and it needs no setting of its own.',
      `export AGW_KEY=${inQuotes(api_key)}`,
      `agw run ${asOperand(agent_name)}${isOption(agent_name) ? '' : ' --'} curl -ig ${inQuotes(call)}`,
    ].join('\n'),
  }
}

/** A URL of this machine: its scheme, and its host. */
const LOOPBACK = /^(https?:\/\/)(?:127\.[\d.]+|\[::1\]|localhost)(?=[:/]|$)/

/** The address of the proxy as this machine reaches it: one of its own machine is that of the admin API. */
export function reachableProxy(proxy_url: string, api_host: string): string {
  const url = proxy_url.replace(/\/$/, '')
  if (LOOPBACK.test(`http://${api_host}`)) return url
  return url.replace(LOOPBACK, (_, scheme: string) => scheme + api_host)
}

/**
 * One argument for a POSIX shell, zsh and fish. Between single quotes nothing is special but the quote itself; in fish, a backslash is
 * too.
 */
export const inQuotes = (text: string): string =>
  `'${text.replaceAll("'", `'"'"'`).replaceAll('\\', String.raw`'"\\"'`)}'`

const isOption = (name: string): boolean => name.startsWith('-')

/** The first argument of a command of ours. A name that looks like an option, such as `--url=https://…`, stays a name. */
export const asOperand = (name: string): string => (isOption(name) ? '-- ' : '') + inQuotes(name)

/** A string of Python and TOML. */
const text = (value: string): string => JSON.stringify(value)
