import { spawn } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { REASONS } from '../../core/reasons.ts'
import { fromRoot } from '../../core/root.ts'
import { startFleet } from '../kit/start-fleet.ts'
import { MCP_REVISIONS, startMcpRevisions } from '../kit/start-mcp-revisions.ts'
import { tempFolder } from '../kit/temp-folder.ts'

/**
 * Runs the official Python client of MCP against the gateway at every revision, and compares what its caller reads with
 * `mcp-python-client.json`. It needs Python 3.10 or newer with venv, and the package index.
 *
 *     node cli/prepare.mjs build && node dist/test/witness/mcp-python-client.js [--record]
 */
const PACKAGE = 'mcp==2.3.0'
const RECORD = fromRoot('test', 'witness', 'mcp-python-client.json')
/** Where the virtual environment stays between runs. */
const FOLDER = process.env['AGW_WITNESS_DIR'] ?? tempFolder('mcp-python')

const python = await environment()
const server = await startMcpRevisions()
const fleet = await startFleet()
try {
  const { url } = fleet.envoys[0] ?? { url: '' }
  const { operator } = fleet
  const { base_url, integration_id } = await operator.makeIntegration(server.url, {
    auth: { type: 'none' },
  })
  const keyOf = async (scope: object): Promise<{ agent_id: string; api_key: string }> => {
    const agent = await operator.makeAgent()
    await operator.makeScope(agent.agent_id, integration_id, scope)
    return agent
  }
  const keysOf = async (): Promise<Record<string, string>> => {
    const killed = await keyOf({})
    await operator.send('POST', `/admin/agents/${killed.agent_id}/kill`, { reason: 'witness' })
    const restricted = await keyOf({ mcp_tools: { allow: ['*'], deny: ['delete_*'] } })
    return {
      restricted: restricted.api_key,
      scanned: (await keyOf({ injection_detection: { enabled: true } })).api_key,
      elsewhere: (await keyOf({ rules: [{ methods: ['*'], paths: ['/other'] }] })).api_key,
      unknown: `${restricted.api_key.slice(0, -1)}_`,
      limited: (await keyOf({ rate_limiting: { requests_per_minute: 1 } })).api_key,
      killed: killed.api_key,
    }
  }
  const revisions = []
  for (const revision of MCP_REVISIONS) revisions.push({ revision, keys: await keysOf() })
  const asked = JSON.stringify({ url: `${url}/${base_url}`, revisions })
  const script = fromRoot('test', 'witness', 'mcp-python-client.py')
  const rows = named(await run(python, [script], asked))
    .trim()
    .split('\n')
  const text = `${JSON.stringify(
    { package: PACKAGE, rows: rows.map((row) => JSON.parse(row) as object) },
    null,
    2,
  )}\n`
  const isSame =
    existsSync(RECORD) &&
    isDeepStrictEqual(JSON.parse(readFileSync(RECORD, 'utf8')), JSON.parse(text))
  if (process.argv.includes('--record')) writeFileSync(RECORD, text)
  else if (!isSame) process.stdout.write(text)
  const ran = server.ran.filter((name) => name.startsWith('delete_'))
  process.stdout.write(
    `${rows.length} conversations ${isSame ? 'as recorded' : 'differ from the record'}; blocked tools that ran: ${ran.length}\n`,
  )
  process.exitCode = ran.length === 0 && (isSame || process.argv.includes('--record')) ? 0 : 1
} finally {
  await fleet.stop()
  await server.stop()
}
process.exit()

/** The sentence of a reason stands as its code, so that the record outlives its wording. */
function named(text: string): string {
  return Object.entries(REASONS).reduce(
    (all, [reason, { message }]) =>
      all.replaceAll(JSON.stringify(message).slice(1, -1), `<${reason}>`),
    text,
  )
}

async function environment(): Promise<string> {
  const inside = join(FOLDER, 'bin', 'python')
  if (!existsSync(inside)) await run('python3', ['-m', 'venv', FOLDER], '')
  await run(inside, ['-m', 'pip', 'install', '--quiet', PACKAGE], '')
  return inside
}

function run(command: string, args: readonly string[], input: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] })
    let out = ''
    child.stdout.on('data', (part: Buffer) => {
      out += part.toString()
    })
    child.on('error', reject)
    child.on('close', (code) => {
      if (code === 0) resolve(out)
      else reject(new Error(`${command} ${args[0] ?? ''} ended with ${code}`))
    })
    child.stdin.end(input)
  })
}
