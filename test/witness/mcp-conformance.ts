import { execFile } from 'node:child_process'
import { readFileSync, readdirSync, statSync } from 'node:fs'
import { createServer, request as ask } from 'node:http'
import type { AddressInfo } from 'node:net'
import { basename, dirname, join } from 'node:path'
import { startMcpServer } from '../kit/mcp-server.ts'
import { operatorAt } from '../kit/operator.ts'
import { startStack } from '../kit/start-stack.ts'
import { tempFolder } from '../kit/temp-folder.ts'

/**
 * Runs the official MCP conformance suite at every revision against one server, directly and through the gateway, and
 * compares check by check. Through the gateway it runs without restrictions, with tool permissions, and with scanning
 * of requests and responses.
 *
 *     npm install --prefix FOLDER @modelcontextprotocol/conformance node@22
 *     node cli/prepare.mjs build && node dist/test/witness/mcp-conformance.js [--product FOLDER] [--server URL]
 *       FOLDER/node_modules/@modelcontextprotocol/conformance/dist/index.js FOLDER/node_modules/.bin/node
 *
 * The suite needs Node 22; the second argument is its binary. The server is that of the tests, which speaks the
 * revisions up to 2025-11-25, unless another one's URL is given.
 */
const words = process.argv.slice(2)
const option = (name: string): string | undefined => {
  const at = words.indexOf(name)
  return at < 0 ? undefined : words.splice(at, 2)[1]
}
const product = option('--product')
const url = option('--server')
const [suite, node = process.execPath] = words
if (suite === undefined) throw new Error("name the suite's dist/index.js")
const RUN_LIMIT_MS = 240_000
/** Those for which the suite has scenarios. */
const REVISIONS = ['2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28']

/** A scope for each way through the gateway. */
const SCOPES: Readonly<Record<string, object>> = {
  gateway: {},
  permissions: { mcp_tools: { allow: ['*'], deny: ['no_such_tool'] } },
  scanned: { injection_detection: { enabled: true, mode: 'block', scan_responses: true } },
}

const server = url === undefined ? await startMcpServer() : { url, stop: async () => {} }
const stack = await startStack({ AGW_EGRESS_ALLOW_CIDRS: '127.0.0.0/8' }, product)
const stops: (() => void)[] = []
try {
  const ways = new Map([['directly', server.url], ...(await doors())])
  let worse = 0
  for (const revision of REVISIONS) {
    const results = new Map<string, ReadonlyMap<string, string>>()
    for (const [way, address] of ways) results.set(way, await run(address, revision))
    if (results.get('directly')?.size === 0)
      throw new Error(`the suite left no result for ${revision}`)
    const checks = new Set([...results.values()].flatMap((found) => [...found.keys()]))
    const counts = [...results].map(([way, found]) => `${way} ${passedOf(found)}`)
    console.log(`${revision}: ${checks.size} checks, passed ${counts.join(', ')}`)
    for (const check of checks) {
      const [directly, ...through] = [...results.values()].map((one) => one.get(check) ?? 'absent')
      if (through.every((status) => status === directly)) continue
      if (directly === 'SUCCESS') worse++
      console.log(`  differs: ${check}: ${[directly, ...through].join(' / ')}`)
    }
  }
  console.log(`${worse} checks pass directly and not each way through the gateway`)
  process.exitCode = worse === 0 ? 0 : 1
} finally {
  for (const stop of stops) stop()
  await stack.stop()
  await server.stop()
}
process.exit()

function passedOf(results: ReadonlyMap<string, string>): number {
  return [...results.values()].filter((status) => status === 'SUCCESS').length
}

async function doors(): Promise<[string, string][]> {
  const operator = operatorAt(stack.apiUrl, stack.adminToken)
  const integration = await operator.makeIntegration(server.url, { auth: { type: 'none' } })
  const made: [string, string][] = []
  for (const [way, scope] of Object.entries(SCOPES)) {
    const agent = await operator.makeAgent()
    await operator.makeScope(agent.agent_id, integration.integration_id, scope)
    made.push([way, await openDoor(`/${integration.base_url}`, agent.api_key)])
  }
  return made
}

/** The suite sends no Authorization, so a door in front of the gateway adds it; all else goes through as it came. */
async function openDoor(path: string, api_key: string): Promise<string> {
  const gateway = new URL(stack.proxyUrl)
  const door = createServer((incoming, outgoing) => {
    const onward = ask(
      {
        host: gateway.hostname,
        port: gateway.port,
        method: incoming.method,
        path,
        headers: { ...incoming.headers, authorization: `Bearer ${api_key}` },
      },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.rawHeaders)
        outgoing.flushHeaders()
        answer.pipe(outgoing)
        answer.on('error', () => outgoing.destroy())
      },
    )
    onward.on('error', () => outgoing.destroy())
    outgoing.on('close', () => onward.destroy())
    incoming.pipe(onward)
  })
  await new Promise<void>((resolve) => door.listen(0, '127.0.0.1', resolve))
  stops.push(() => door.close().closeAllConnections())
  return `http://127.0.0.1:${(door.address() as AddressInfo).port}/mcp`
}

/** Status by scenario and check; a check that comes several times is numbered. */
async function run(address: string, revision: string): Promise<ReadonlyMap<string, string>> {
  const folder = tempFolder('mcp-conformance')
  const args = [suite ?? '', 'server', '--url', address, '--suite', 'all']
  await new Promise<void>((resolve) => {
    execFile(
      node,
      [...args, '--spec-version', revision, '--output-dir', folder],
      { timeout: RUN_LIMIT_MS, maxBuffer: 1 << 26 },
      // It exits with 1 when a check has failed; the files say which.
      () => resolve(),
    )
  })
  const results = new Map<string, string>()
  for (const file of checksIn(folder)) {
    const scenario = basename(dirname(file)).replace(/-\d{4}-\d\d-\d\dT.*$/, '')
    const checks = JSON.parse(readFileSync(file, 'utf8')) as { id: string; status: string }[]
    for (const { id, status } of checks) {
      let key = `${scenario} ${id}`
      for (let number = 2; results.has(key); number++) key = `${scenario} ${id} ${number}`
      results.set(key, status)
    }
  }
  return results
}

function checksIn(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name)
    if (statSync(path).isDirectory()) return checksIn(path)
    return name === 'checks.json' ? [path] : []
  })
}
