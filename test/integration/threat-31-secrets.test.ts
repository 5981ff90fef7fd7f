import assert from 'node:assert/strict'
import { test } from 'node:test'
import { operatorAt } from '../kit/operator.ts'
import { sharedStack } from '../kit/shared-stack.ts'
import { until } from '../kit/until.ts'

const stack = await sharedStack()
const { operator } = stack
/** Webhooks are on the address of the admin service alone. */
const { send } = operatorAt(stack.apiUrl, stack.adminToken)

const tokenOf = async (role: string): Promise<string> =>
  (await operator.send('POST', '/admin/tokens', { email: `${role}@example.com`, role, name: role }))
    .token
const roles = {
  viewer: await tokenOf('viewer'),
  operator: await tokenOf('operator'),
  admin: await tokenOf('admin'),
}

async function read(token: string, path: string): Promise<string> {
  const answer = await fetch(stack.apiUrl + path, { headers: { authorization: `Bearer ${token}` } })
  assert.equal(answer.status, 200, path)
  return await answer.text()
}

/** What anybody can read of the log: the list, a search, one entry, both exports. */
async function readLog(token: string, target: string): Promise<string> {
  const list = await until(`the log holds ${target}`, async () => {
    const text = await read(token, `/admin/activity?q=${target}`)
    return text.includes(target) ? text : null
  })
  const { id } = JSON.parse(list).data[0]
  const rest = [`/${id}`, `/export?q=${target}`, `/export?format=csv&q=${target}`]
  const texts = await Promise.all(rest.map((path) => read(token, `/admin/activity${path}`)))
  return [list, ...texts].join('\n')
}

test('threat 31: the user name of a basic credential is shown to no role, by no read', async () => {
  const username = `sk_live_${Date.now()}_never_shown`
  const made = await operator.makeIntegration(stack.ownBaseUrl(), {
    auth: { type: 'basic', username, password: '' },
  })
  const path = `/admin/integrations/${made.integration_id}`
  const changed = await operator.send('PUT', path, { name: 'renamed', base_url: made.base_url })
  assert.deepEqual(changed.auth, {
    type: 'basic',
    username_last4: username.slice(-4),
    password_last4: null,
  })
  // What was read and is sent back changes nothing.
  assert.deepEqual((await operator.send('PUT', path, { auth: changed.auth })).auth, changed.auth)
  for (const token of Object.values(roles)) {
    for (const text of [
      await read(token, '/admin/integrations?limit=100'),
      await read(token, path),
      await readLog(token, made.integration_id),
    ])
      assert.ok(!text.includes(username.slice(0, -4)), text)
    assert.equal(JSON.parse(await read(token, `/admin/activity?q=${username}`)).data.length, 0)
  }
  await operator.send('DELETE', path, undefined, 204)
})

test('threat 31: the path and the query of a webhook URL are for the role admin alone, and not in the log', async () => {
  const secret = `T${Date.now()}SECRET`
  const url = `https://hooks.example.com/services/${secret}?token=${secret}`
  const webhook = await send('POST', '/webhooks', {
    name: 'slack',
    url,
    events: ['agent_killed'],
  })
  const path = `/webhooks/${webhook.webhook_id}`
  assert.equal(webhook.url, url)
  const key = (await operator.makeOrganizationKey({ uses: ['webhooks'] })).key
  for (const token of [roles.admin, key])
    for (const place of [path, '/webhooks?limit=100'])
      assert.ok((await read(token, place)).includes(JSON.stringify(url)))
  const moved = `${url}2`
  assert.equal((await send('PATCH', path, { url: moved })).url, moved)
  for (const token of [roles.viewer, roles.operator]) {
    assert.equal(JSON.parse(await read(token, path)).url, 'https://hooks.example.com/***')
    for (const place of [path, '/webhooks?limit=100', `${path}/deliveries`])
      assert.ok(!(await read(token, place)).includes(secret), place)
  }
  for (const token of Object.values(roles)) {
    const log = await readLog(token, webhook.webhook_id)
    assert.ok(!log.includes(secret), log)
    assert.match(log, /"url_changed":true/)
    assert.equal(JSON.parse(await read(token, `/admin/activity?q=${secret}`)).data.length, 0)
  }
  // What a lower role was shown is not taken for the URL.
  const hidden = await send('PATCH', path, { url: 'https://hooks.example.com/***' }, 400)
  assert.match(JSON.stringify(hidden), /provide the complete URL/)
  assert.equal(JSON.parse(await read(roles.admin, path)).url, moved)
  await send('DELETE', path)
})
