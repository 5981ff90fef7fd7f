import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** Makes one call for each case with a client of an API, and prints what its user sees: `refused.mjs CLIENT < cases`. */
const chat = (text) => [{ role: 'user', content: text }]
const toolOf = (base, text) => ({
  name: base.includes('mcp_tool_blocked') ? 'delete_release' : 'lookup_release',
  arguments: { version: text },
})

async function mcp(transport, base, text) {
  const { Client } = await import('@modelcontextprotocol/sdk/client/index.js')
  const client = new Client({ name: 'witness', version: '1.0.0' })
  await client.connect(transport)
  const result = await client.callTool(toolOf(base, text))
  return result.content[0].text
}

async function slack(base, token, text, options) {
  const { WebClient, LogLevel } = await import('@slack/web-api')
  const client = new WebClient(token, {
    slackApiUrl: `${base}/api/`,
    logLevel: LogLevel.ERROR,
    ...options,
  })
  await client.chat.postMessage({ channel: 'C1', text })
}

const CLIENTS = {
  openai: async (base, apiKey, text) => {
    const { default: OpenAI } = await import('openai')
    const client = new OpenAI({ baseURL: `${base}/v1`, apiKey })
    await client.chat.completions.create({ model: 'gpt-5', messages: chat(text) })
  },
  anthropic: async (baseURL, apiKey, text) => {
    const { default: Anthropic } = await import('@anthropic-ai/sdk')
    const client = new Anthropic({ baseURL, apiKey })
    await client.messages.create({
      model: 'claude-sonnet-4-5',
      max_tokens: 9,
      messages: chat(text),
    })
  },
  'google-genai': async (baseUrl, apiKey, contents) => {
    const { GoogleGenAI } = await import('@google/genai')
    const client = new GoogleGenAI({ apiKey, httpOptions: { baseUrl } })
    await client.models.generateContent({ model: 'gemini-2.5-flash', contents })
  },
  'vercel-ai': async (base, apiKey, prompt) => {
    const { createOpenAI } = await import('@ai-sdk/openai')
    const { generateText } = await import('ai')
    await generateText({
      model: createOpenAI({ baseURL: `${base}/v1`, apiKey })('gpt-5'),
      prompt,
    })
  },
  stripe: async (base, key, description) => {
    const { default: Stripe } = await import('stripe')
    const stripe = new Stripe(key, {
      telemetry: false,
      httpClient: Stripe.createFetchHttpClient((url, init) => {
        const { pathname, search } = new URL(url)
        return fetch(`${base}${pathname}${search}`, init)
      }),
    })
    await stripe.customers.create({ description })
  },
  octokit: async (baseUrl, auth, title) => {
    const { Octokit } = await import('octokit')
    const octokit = new Octokit({
      auth,
      baseUrl,
      log: { debug() {}, info() {}, warn() {}, error() {} },
    })
    await octokit.rest.issues.create({ owner: 'o', repo: 'r', title })
  },
  slack: (...call) => slack(...call, {}),
  'slack-once': (...call) => slack(...call, { retryConfig: { retries: 0 } }),
  notion: async (baseUrl, auth, query) => {
    const { Client } = await import('@notionhq/client')
    await new Client({ auth, baseUrl, logger() {} }).search({ query })
  },
  s3: async (endpoint, accessKeyId, Body) => {
    const { S3Client, PutObjectCommand } = await import('@aws-sdk/client-s3')
    const client = new S3Client({
      endpoint,
      region: 'eu-central-1',
      forcePathStyle: true,
      credentials: { accessKeyId, secretAccessKey: 'any' },
    })
    await client.send(new PutObjectCommand({ Bucket: 'bucket', Key: 'note.txt', Body }))
  },
  bedrock: async (endpoint, accessKeyId, text) => {
    const { BedrockRuntimeClient, ConverseCommand } = await import(
      '@aws-sdk/client-bedrock-runtime'
    )
    const { NodeHttpHandler } = await import('@smithy/node-http-handler')
    const client = new BedrockRuntimeClient({
      // Its default is HTTP/2, which what counts the calls does not speak.
      requestHandler: new NodeHttpHandler(),
      endpoint,
      region: 'eu-central-1',
      credentials: { accessKeyId, secretAccessKey: 'any' },
    })
    const messages = [{ role: 'user', content: [{ text }] }]
    await client.send(new ConverseCommand({ modelId: 'model', messages }))
  },
  mcp: async (base, key, text) => {
    const { StreamableHTTPClientTransport } = await import(
      '@modelcontextprotocol/sdk/client/streamableHttp.js'
    )
    const headers = { authorization: `Bearer ${key}` }
    const url = new URL(`${base}/mcp`)
    return mcp(new StreamableHTTPClientTransport(url, { requestInit: { headers } }), base, text)
  },
  'mcp-remote': async (base, key, text) => {
    const { StdioClientTransport } = await import('@modelcontextprotocol/sdk/client/stdio.js')
    const header = `Authorization: Bearer ${key}`
    const args = [process.env.MCP_REMOTE, `${base}/mcp`, '--header', header, '--allow-http']
    const transport = new StdioClientTransport({
      command: process.execPath,
      args,
      env: process.env,
      stderr: 'pipe',
    })
    let log = ''
    transport.stderr.on('data', (part) => (log += part))
    const shown = await mcp(transport, base, text).catch((error) => {
      throw new Error(
        `${error.message} ${log.split('\n').findLast((one) => /error/i.test(one)) ?? ''}`,
      )
    })
    await transport.close()
    return shown
  },
  fetch: async (base, key, text) => {
    const response = await fetch(`${base}/things`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ text }),
    })
    throw new Error(`${response.status} ${await response.text()}`)
  },
  undici: async (base, key, text) => {
    const { request } = await import('undici')
    const { statusCode, body } = await request(`${base}/things`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ text }),
    })
    throw new Error(`${statusCode} ${await body.text()}`)
  },
  curl: async (base, key, text) => {
    const args = [
      '-sS',
      '-H',
      `Authorization: Bearer ${key}`,
      '-H',
      'Content-Type: application/json',
    ]
    const input = JSON.stringify({ text })
    const command = [...args, '--data-binary', '@-', `${base}/things`]
    throw new Error(execFileSync('curl', command, { input, encoding: 'utf8' }))
  },
}

const client = CLIENTS[process.argv[2]]
for (const line of readFileSync(0, 'utf8').split('\n').filter(Boolean)) {
  const { name, base, key, text } = JSON.parse(line)
  let shown
  try {
    shown = `no error: ${await client(base, key, text)}`
  } catch (error) {
    shown = `${error.name}: ${error.message}`
  }
  console.log(`\n${JSON.stringify({ case: name, shown })}`)
}
process.exit(0)
