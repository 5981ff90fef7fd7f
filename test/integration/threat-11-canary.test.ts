import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CREDENTIAL_TYPES, secretMembers } from '../../core/credential/catalogue.ts'
import type { TextKind } from '../../core/credential/member.ts'
import { call } from '../kit/call.ts'
import { findLeaks } from '../kit/find-leaks.ts'
import { freePort } from '../kit/free-port.ts'
import { sharedStack } from '../kit/shared-stack.ts'

const stack = await sharedStack()
const { operator } = stack
/** What the members that are not secret have. */
const PUBLIC: Readonly<Record<TextKind, (origin: string) => string>> = {
  header_value: () => 'value',
  header_name: () => 'X-Api-Key',
  parameter_name: () => 'key',
  text: () => 'somebody',
  user_name: () => 'somebody',
  word: () => 'execute-api',
  url: (origin) => `${origin}/token`,
}
const canary = (name: string): string => `canary-${name}/+=&${Date.now()}`

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
  const closed = `http://127.0.0.1:${await freePort()}`
  const secrets: string[] = []
  for (const [i, { type, members, application }] of CREDENTIAL_TYPES.entries()) {
    const own = secretMembers(type).map((member) => canary(`${type}-${member}`))
    secrets.push(...own)
    const filled = Object.entries(members)
      .filter(([, { visibility }]) => visibility === 'public')
      .map(([member, { text }]) => [member, PUBLIC[text](closed)])
    const auth = {
      type,
      ...Object.fromEntries(filled),
      ...Object.fromEntries(secretMembers(type).map((member, at) => [member, own[at]])),
    }
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
    const forms = own.flatMap((secret) => [secret, encodeURIComponent(secret)])
    forms.push(Buffer.from(own.join(':')).toString('base64'))
    if (application.kind === 'plain' && own.length > 0)
      assert.ok(
        forms.some((form) => arrived.includes(form)),
        `the upstream did get the credential of type ${type}`,
      )
    const path = `/admin/integrations/${access.integration.integration_id}`
    await operator.send('PUT', path, { name: `renamed ${i} ${Date.now()}` })
    await operator.send('PUT', path, { auth })
  }
  assert.deepEqual(await findLeaks(stack, secrets), [])
})
