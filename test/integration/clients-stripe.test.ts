import assert from 'node:assert/strict'
import { test } from 'node:test'
import Stripe from 'stripe'
import { sharedStack } from '../kit/shared-stack.ts'

const stack = await sharedStack()
const access = await stack.operator.makeAccess(`${stack.origin('payments')}/v1`, {
  auth: { type: 'bearer', token: 'sk_stored' },
  rules: [{ methods: ['POST'], paths: ['/customers'] }],
})

const makeStripe = (maxNetworkRetries: number): Stripe => {
  const { hostname, port, protocol } = new URL(stack.origin('payments'))
  return new Stripe(access.agent.api_key, {
    host: hostname,
    port,
    protocol: protocol === 'https:' ? 'https' : 'http',
    maxNetworkRetries,
    telemetry: false,
    httpClient: Stripe.createFetchHttpClient((url: string | URL | Request, init?: RequestInit) =>
      fetch(`${stack.proxyUrl}/${url as string}`, init),
    ),
  })
}

test('stripe shows why a call was refused, and does not repeat it', async () => {
  const path = `/admin/integrations/${access.integration.integration_id}`
  await stack.operator.send('PUT', path, { error_format: 'stripe' })
  const sent = stack.api.mark()
  await assert.rejects(makeStripe(2).customers.list(), (error: unknown) => {
    assert.ok(error instanceof Stripe.errors.StripePermissionError)
    assert.match(error.message, /^No scope of this agent/)
    assert.equal(error.code, 'permission_denied')
    return true
  })
  assert.equal(sent().length, 0)
})

test('stripe posts a form through its httpClient, since it takes no base path', async () => {
  const stripe = makeStripe(0)
  const sent = stack.api.mark()
  const customer = await stripe.customers.create({
    email: 'jo+test@example.test',
    metadata: { plan: 'pro & more' },
  })
  assert.equal(customer.email, 'jo+test@example.test')
  assert.equal(customer.metadata['plan'], 'pro & more')
  const [call] = sent()
  assert.equal(call?.header('authorization'), 'Bearer sk_stored')
  assert.equal(call?.header('content-type'), 'application/x-www-form-urlencoded')
  assert.equal(
    call?.body.toString(),
    'email=jo%2Btest%40example.test&metadata[plan]=pro%20%26%20more',
  )
})
