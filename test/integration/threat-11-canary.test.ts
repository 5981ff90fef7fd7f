import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { CREDENTIAL_TYPES, secretMembers } from '../../core/credential/catalogue.ts'
import { call } from '../kit/call.ts'
import { findLeaks } from '../kit/find-leaks.ts'
import { freePort } from '../kit/free-port.ts'
import { sampleAuths, samplePrivateKey } from '../kit/sample-auth.ts'
import { sharedStack } from '../kit/shared-stack.ts'
import { TEST_UPSTREAM_HOSTS } from '../kit/test-upstream.ts'
import type { ReceivedRequest } from '../kit/test-upstream/received-request.ts'
import { startTokenEndpoint } from '../kit/start-token-endpoint.ts'

const stack = await sharedStack()
const { operator } = stack
const tokens = await startTokenEndpoint(stack.api.certificates, TEST_UPSTREAM_HOSTS.other)
after(() => tokens.stop())
const canary = (name: string): string => `canary-${name}/+=&${Date.now()}`

/** The headers and query parameters of a request, as text, by name. */
const partsOf = ({ path, headers }: ReceivedRequest): ReadonlyMap<string, string> => {
  const query = path.split('?')[1]?.split('&') ?? []
  return new Map([
    ...headers.map(([name, value]) => [`header ${name}`, `${name}: ${value}`] as const),
    ...query.map((pair) => [`parameter ${pair.split('=')[0]}`, pair] as const),
  ])
}

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
  // First, as it shows what arrives without a credential.
  const types = CREDENTIAL_TYPES.filter(
    ({ application }) => application.kind !== 'connection',
  ).sort((a, b) => Number(b.type === 'none') - Number(a.type === 'none'))
  const usual = new Set<string>()
  const samples = types.flatMap((declared) => {
    const { type } = declared
    return sampleAuths(declared, tokens.url(type), (member, { text }) => {
      return text === 'private_key' ? samplePrivateKey().pem : canary(`${type}-${member}`)
    }).map((auth) => ({ ...declared, auth }))
  })
  for (const [i, { type, application, auth }] of samples.entries()) {
    const own = secretMembers(type).flatMap((member) => {
      const secret = auth[member]
      return secret?.startsWith('-----') ? (secret.split('\n')[2] ?? []) : (secret ?? [])
    })
    secrets.push(...own)
    const away_auth = JSON.parse(JSON.stringify(auth).replaceAll(tokens.url(type), closed))
    const access = await stack.makeAccess({
      auth,
      rules: [{ methods: ['GET'], paths: ['/a/**'] }],
    })
    const away = await operator.makeIntegration(`${closed}/${i}`, { auth: away_auth })
    await operator.makeScope(access.agent.agent_id, away.integration_id)
    const sent = stack.api.mark()
    for (const [url, headers] of [
      [`${access.base_url}/a/b?c=d&key={agw:token}`, access.headers],
      [`${access.base_url}/denied?c=d`, access.headers],
      [`${access.base_url}/a/drop?key={agw:token}`, access.headers],
      [`${access.base_url}/a/status/500?key=%7Bagw:token%7D`, access.headers],
      [`${access.base_url}/a/b`, {}],
      [`${away.base_url}/a/b`, access.headers],
    ] as const) {
      const answer = await call({ to: stack.proxyUrl, path: `/${url}`, headers })
      const said = JSON.stringify([answer.headers, answer.body.toString()])
      for (const secret of secrets)
        assert.ok(!said.includes(secret) && !said.includes(encodeURIComponent(secret)))
    }
    const [arrived] = sent()
    assert.ok(arrived, `a call with a credential of type ${type} reaches the API`)
    const parts = partsOf(arrived)
    if (type === 'none') for (const name of parts.keys()) usual.add(name)
    const added = [...parts].flatMap(([name, text]) => (usual.has(name) ? [] : [text]))
    const forms = own.flatMap((secret) => [secret, encodeURIComponent(secret)])
    forms.push(Buffer.from(own.join(':')).toString('base64'))
    const showsSecret = (text: string): boolean => forms.some((form) => text.includes(form))
    // What each type has to add to the request; the search below proves nothing of a credential that is never sent.
    const isSent: Readonly<Record<typeof application.kind, () => boolean>> = {
      static: () => added.some(showsSecret) || showsSecret(arrived.path),
      token: () =>
        tokens.given(type).some((token) => added.some((text) => text.includes(token))) &&
        tokens.asked(type).length > 0,
      // Its own tests search for what a provider issues.
      connection: () => true,
      signature: () => added.some((text) => !showsSecret(text)),
    }
    if (own.length > 0)
      assert.ok(isSent[application.kind](), `the API gets the credential of type ${type}`)
    const path = `/admin/integrations/${access.integration.integration_id}`
    await operator.send('PUT', path, { name: `renamed ${i} ${Date.now()}` })
    await operator.send('PUT', path, { auth })
  }
  assert.deepEqual(await findLeaks(stack, secrets), [])
})
