import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { fromRoot } from '../../core/system/root.ts'
import { closeConnections } from '../kit/call.ts'
import { mainJob } from '../kit/main-job.ts'
import { startFleet } from '../kit/start-fleet.ts'
import { until } from '../kit/until.ts'

// Runs the gateway with the least rights in the store that docs/guides/store.md names: the main job, restarts of all processes,
// lists, a webhook, the log. Fails if the store has refused a command or a key.
//   node cli/prepare.mjs build && node dist/test/witness/store-acl.js

const guide = readFileSync(fromRoot('docs', 'guides', 'store.md'), 'utf8')
const [, rules = ''] = /^user agw on >PASSWORD (.*)$/m.exec(guide) ?? []
assert.notEqual(rules, '', 'the guide names the rights')

const fleet = await startFleet({ edges: [{}, {}] })
const { redis, admin, identity, operator } = fleet
const rights = rules.split(' ')
// This connection keeps all rights, as another user.
await redis.call('ACL', 'SETUSER', 'witness', 'on', '>witness', '~*', '&*', '+@all')
await redis.call('AUTH', 'witness', 'witness')
await redis.call('ACL', 'SETUSER', 'default', 'resetkeys', 'resetchannels', '-@all', ...rights)
await redis.call('ACL', 'LOG', 'RESET')
const refused = async (): Promise<readonly unknown[]> =>
  (await redis.call('ACL', 'LOG')) as readonly unknown[]

/** Without a right that it needs, a process waits for the store for ever. */
const WAIT_LIMIT_MS = 60_000
setTimeout(async () => {
  process.stdout.write(`not done after a minute; refused: ${JSON.stringify(await refused())}\n`)
  process.exit(1)
}, WAIT_LIMIT_MS).unref()

for (const edge of fleet.edges) {
  edge.signal('SIGTERM')
  await edge.exited()
  await edge.restart()
}
const another = await fleet.restartAdmin()
const job = await mainJob({
  proxyUrl: fleet.envoys[0]?.url ?? '',
  apiUrl: another.url,
  adminToken: identity.token,
})
await job.stop()
for (const path of [
  'agents?q=a',
  'agents?status=killed',
  'activity?q=chat',
  'activity/facets',
  'alerts',
  'kills',
  'edges',
  'stats',
])
  await operator.send('GET', `/admin/${path}`)
await operator.send('POST', '/webhooks', {
  name: 'all',
  url: 'https://receiver.example.com/',
  events: ['agent_killed'],
})
const { agent } = await operator.makeAccess(`${fleet.upstream.origin}/acl`)
await operator.send('POST', `/admin/agents/${agent.agent_id}/kill`)
await operator.send('POST', `/admin/agents/${agent.agent_id}/reactivate`, { reason: 'acl' })
await operator.send('DELETE', `/admin/agents/${agent.agent_id}?cascade=true`)
await until('the calls are in the log', async () => {
  const { data } = await operator.send('GET', '/admin/activity?event=request_allowed')
  return data.length > 0
})
const ready = await fetch(`${admin.url}/readyz`)
process.stdout.write(`readyz ${ready.status} ${await ready.text()}\n`)
const found = await refused()
for (const one of found) process.stdout.write(`refused: ${JSON.stringify(one)}\n`)
process.stdout.write(`${found.length} commands refused with the rights: ${rules}\n`)
closeConnections()
await fleet.stop()
process.exit(found.length === 0 ? 0 : 1)
