import assert from 'node:assert/strict'
import { test } from 'node:test'
import { call } from '../kit/call.ts'
import { findLeaks } from '../kit/find-leaks.ts'
import { freePort } from '../kit/free-port.ts'
import { sharedStack } from '../kit/shared-stack.ts'

const stack = await sharedStack()
const { operator } = stack
const canary = (name: string): string => `canary ${name}/+=&${Date.now()}`.replace(' ', '-')

test('threat 11: the search for leaks finds what is there', async () => {
  const marker = `marker-${Date.now()}`
  await operator.makeAgent({ agent_name: marker })
  const places = await findLeaks(stack, [marker])
  for (const place of ['admin agents', 'store', 'file'])
    assert.ok(
      places.some((found) => found.includes(`in ${place}`)),
      `${place}: ${places.join('; ')}`,
    )
})

test('threat 11: a credential of whatever kind is in no log, event, metric, dump, answer or store', async () => {
  const secrets = ['token', 'value', 'password', 'query'].map(canary)
  const [token = '', value = '', password = '', query = ''] = secrets
  const auths = [
    { type: 'bearer', token },
    { type: 'header', name: 'X-Api-Key', value },
    { type: 'basic', username: 'somebody', password },
    { type: 'query', name: 'key', value: query },
  ]
  const closed = `http://127.0.0.1:${await freePort()}`
  for (const [i, auth] of auths.entries()) {
    const access = await operator.makeAccess(stack.ownBaseUrl(), {
      auth,
      rules: [{ methods: ['GET'], paths: ['/a/**'] }],
    })
    const away = await operator.makeIntegration(`${closed}/${i}`, { auth })
    await operator.makeScope(access.agent.agent_id, away.integration_id)
    const sent = stack.api.mark()
    for (const [url, headers] of [
      [`${access.base_url}/a/b?c=d`, access.headers],
      [`${access.base_url}/denied?c=d`, access.headers],
      [`${access.base_url}/a/drop`, access.headers],
      [`${access.base_url}/a/status/500`, access.headers],
      [`${access.base_url}/a/b`, {}],
      [`${away.base_url}/a/b`, access.headers],
    ] as const) {
      const answer = await call({ to: stack.proxyUrl, path: `/${url}`, headers })
      const said = JSON.stringify([answer.headers, answer.body.toString()])
      for (const secret of secrets)
        assert.ok(!said.includes(secret) && !said.includes(encodeURIComponent(secret)))
    }
    const arrived = JSON.stringify(sent().map((one) => [one.path, one.headers]))
    assert.ok(
      [
        secrets[i] ?? '',
        encodeURIComponent(secrets[i] ?? ''),
        Buffer.from(`somebody:${password}`).toString('base64'),
      ].some((form) => arrived.includes(form)),
      'the upstream did get it',
    )
    const path = `/admin/integrations/${access.integration.integration_id}`
    await operator.send('PUT', path, { name: `renamed ${i} ${Date.now()}` })
    await operator.send('PUT', path, { auth })
  }
  assert.deepEqual(await findLeaks(stack, secrets), [])
})
