import { readFileSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import { join, resolve } from 'node:path'
import { call, closeConnections } from '../kit/call.ts'
import { operatorAt } from '../kit/operator.ts'
import { writeReleaseData } from '../kit/release-data.ts'
import { startStack } from '../kit/start-stack.ts'
import { tempFolder } from '../kit/temp-folder.ts'
import { until } from '../kit/until.ts'

// Lets a release write a data directory and keeps it for test/integration/upgrade.test.ts. For a new release, run this with a
// built checkout of it:
//   node dist/test/witness/write-release-data.js FOLDER-OF-THE-RELEASE

/** Fixed, because integrations name it; below the range that systems give to outgoing connections. */
const API_PORT = 23_817

const release = resolve(process.argv[2] ?? '')
const { version } = JSON.parse(readFileSync(join(release, 'package.json'), 'utf8')) as {
  version: string
}
const api = createServer((_request, response) => response.end('ok'))
await new Promise<void>((done) => api.listen(API_PORT, '127.0.0.1', done))
const folder = tempFolder('release')
const stack = await startStack(
  { AGW_DATA_DIR: folder, AGW_EGRESS_ALLOW_CIDRS: '127.0.0.0/8' },
  release,
)
const operator = operatorAt(stack.apiUrl, stack.adminToken)
const origin = `http://127.0.0.1:${API_PORT}`
const { agent } = await operator.makeAccess(`${origin}/bearer`)
const auths = {
  basic: { type: 'basic', username: 'stored-user', password: 'stored-password' },
  query: { type: 'query', name: 'api_key', value: 'stored-query-value' },
}
for (const [name, auth] of Object.entries(auths)) {
  const { integration_id } = await operator.makeIntegration(`${origin}/${name}`, { auth })
  await operator.makeScope(agent.agent_id, integration_id, {
    rules: [{ methods: ['GET'], paths: ['/allowed/**'] }],
    injection_detection: { enabled: true, mode: 'block', custom_patterns: ['forbidden fruit'] },
  })
}
const other = await operator.makeAccess(`${origin}/killed`)
await operator.makeOrganizationKey()
const { webhook_id } = await operator.send('POST', '/webhooks', {
  name: 'events',
  url: 'https://receiver.example.com/events',
  secret: 'the-secret-of-the-webhook',
  events: ['agent_killed', 'permission_denied'],
})
const ask = (path: string, api_key: string) =>
  call({
    to: stack.proxyUrl,
    path: `/${origin}${path}`,
    headers: { authorization: `Bearer ${api_key}` },
  })
await ask('/bearer/one', agent.api_key)
await ask('/basic/allowed/two', agent.api_key)
await ask('/basic/denied', agent.api_key)
await ask('/killed/before', other.agent.api_key)
const killed = await operator.send('POST', `/admin/agents/${other.agent.agent_id}/kill`, {
  reason: 'before the upgrade',
})
await ask('/killed/after', other.agent.api_key)
const entries = await until('all calls are logged', async () => {
  const { data } = await operator.send('GET', '/admin/activity?limit=100')
  const ids = data
    .filter(({ endpoint }: { endpoint: string | null }) => endpoint !== null)
    .map(({ id }: { id: string }) => id)
  return ids.length >= 5 && (ids as string[])
})
const { data: agents } = await operator.send('GET', '/admin/agents')
const { data: scopes } = await operator.send('GET', '/admin/scopes')
await stack.stop()
closeConnections()
api.close()
const target = writeReleaseData(folder, {
  version,
  api_port: API_PORT,
  base_urls: {
    bearer: `${origin}/bearer`,
    basic: `${origin}/basic`,
    query: `${origin}/query`,
  },
  agent: { agent_id: agent.agent_id, api_key: agent.api_key },
  killed: {
    agent_id: other.agent.agent_id,
    api_key: other.agent.api_key,
    killed_at: killed.killed_at,
  },
  webhook_id,
  entries,
  agents,
  scopes,
})
process.stdout.write(`${target}: ${statSync(target).size} bytes\n`)
