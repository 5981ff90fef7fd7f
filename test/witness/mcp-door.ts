import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { fromRoot } from '../../core/system/root.ts'
import { operatorAt } from '../kit/operator.ts'
import { MCP_REVISIONS, type McpRevision } from '../kit/start-mcp-revisions.ts'
import { startStack } from '../kit/start-stack.ts'
import { runWith } from './run-with.ts'

/**
 * The official MCP clients in TypeScript, Python (`mcp` of PyPI) and Go (`github.com/modelcontextprotocol/go-sdk`) use the tools of the
 * door for agents at every revision: node cli/prepare.mjs build && node dist/test/witness/mcp-door.js
 */
const FOLDER = join(process.env['AGW_WITNESS_DIR'] ?? join(tmpdir(), 'agw-witness'), 'mcp-door')
const SOURCES = fromRoot('test', 'witness', 'mcp')

interface Row {
  readonly revision: string
  readonly tool: string
  readonly is_listed: boolean
  readonly text: string
}
type Calls = Readonly<Record<string, Record<string, string>>>
type Run = (url: string, key: string, revision: McpRevision, calls: Calls) => Promise<Row[]>

const rowsOf = (text: string): Row[] =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Row)

const inTypeScript: Run = async (url, authorization, revision, calls) => {
  const mode = revision > '2026' ? { pin: revision } : 'legacy'
  const client = new Client(
    { name: 'witness', version: '1.0.0' },
    { versionNegotiation: { mode }, supportedProtocolVersions: [revision] },
  )
  const requestInit = { headers: { authorization } }
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }))
  const listed = new Set((await client.listTools()).tools.map(({ name }) => name))
  const rows: Row[] = []
  for (const [tool, given] of Object.entries(calls)) {
    const { content } = await client.callTool({ name: tool, arguments: given })
    const [first] = content
    const text = first?.type === 'text' ? first.text : ''
    const used = client.getNegotiatedProtocolVersion() ?? ''
    rows.push({ revision: used, tool, is_listed: listed.has(tool), text })
  }
  await client.close()
  return rows
}

function installPython(): Run {
  const python = join(FOLDER, 'python', 'bin', 'python')
  execFileSync('python3', ['-m', 'venv', join(FOLDER, 'python')])
  execFileSync(python, ['-m', 'pip', 'install', '-q', 'mcp'], { stdio: 'inherit' })
  return async (url, key, revision, calls) =>
    rowsOf(
      await runWith(
        python,
        [join(SOURCES, 'client.py'), url, key, revision],
        JSON.stringify(calls),
      ),
    )
}

function installGo(): Run {
  const folder = join(FOLDER, 'go')
  const go = (...args: string[]) =>
    execFileSync('go', args, { cwd: folder, stdio: ['ignore', 'inherit', 'ignore'] })
  mkdirSync(folder, { recursive: true })
  execFileSync('rm', ['-f', join(folder, 'go.mod')])
  copyFileSync(join(SOURCES, 'client.go'), join(folder, 'main.go'))
  go('mod', 'init', 'witness')
  go('mod', 'tidy')
  go('build', '-o', 'client', '.')
  return async (url, key, revision, calls) =>
    rowsOf(await runWith(join(folder, 'client'), [url, key, revision], JSON.stringify(calls)))
}

const clients: readonly (readonly [string, Run])[] = [
  ['TypeScript', inTypeScript],
  ['Python', installPython()],
  ['Go', installGo()],
]

const stack = await startStack({ AGW_EGRESS_ALLOW_CIDRS: '127.0.0.0/8' })
const operator = operatorAt(stack.apiUrl, stack.adminToken)
let failed = 0
for (const [name, run] of clients) {
  for (const revision of MCP_REVISIONS) {
    // Each has an agent of its own, since an agent may ask 60 times a minute.
    const base_url = `http://127.0.0.1:9/${name}/${revision}`
    const access = await operator.makeAccess(base_url)
    const wanted: Readonly<Record<string, string>> = {
      whoami: access.agent.agent_id,
      check_call: '"answer":"allowed"',
      list_access: base_url,
    }
    const calls = {
      whoami: {},
      check_call: { method: 'GET', url: `${base_url}/x` },
      list_access: {},
    }
    const url = `${stack.proxyUrl}/.well-known/agw/mcp`
    const rows = await run(url, access.headers.authorization, revision, calls)
    const results = Object.keys(calls).map((tool) => {
      const row = rows.find((one) => one.tool === tool)
      const isGood =
        row?.revision === revision && row.is_listed && row.text.includes(wanted[tool] ?? '')
      if (!isGood) failed++
      return `${tool} ${isGood ? 'yes' : `no: ${JSON.stringify(row)}`}`
    })
    process.stdout.write(`${name.padEnd(10)} ${revision}  ${results.join('  ')}\n`)
  }
}
process.stdout.write(`${failed} failed\n`)
await stack.stop()
process.exit(failed === 0 ? 0 : 1)
