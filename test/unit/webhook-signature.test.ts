import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Webhook as StandardWebhook } from 'standardwebhooks'
import { signDelivery } from '../../admin/webhooks/sign-delivery.ts'
import { mintSecret, openSecrets, sealSecret } from '../../admin/webhooks/webhook-secret.ts'
import type { Webhook } from '../../admin/webhooks/webhook.ts'
import { parseKeyRing } from '../../core/keys/seal.ts'
import { Secret } from '../../core/keys/secret.ts'

const ring = parseKeyRing(Buffer.alloc(32, 1).toString('base64'))
const now = new Date()
const timestamp_s = Math.floor(now.getTime() / 1000)

test('the signature of RFC 4231, case 2, comes out for its key and data', () => {
  const body = Buffer.from('what do ya want for nothing?')
  const headers = signDelivery({ event_id: 'e', body, timestamp_s }, [new Secret('Jefe')])
  assert.equal(
    headers['x-service-signature'],
    'sha256=5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
  )
})

test('any body and secret give headers that the standardwebhooks package accepts, and no other body does', () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 200 })
  const visible = fc
    .string({ minLength: 1, maxLength: 60 })
    .filter((secret) => !secret.startsWith('whsec_'))
  fc.assert(
    fc.property(text, visible, (payload, secret) => {
      const body = Buffer.from(payload)
      const headers = signDelivery({ event_id: 'act_1', body, timestamp_s }, [new Secret(secret)])
      const verifier = new StandardWebhook(Buffer.from(secret), { format: 'raw' })
      verifier.verify(body, headers, { jsonParse: false } as never)
      assert.throws(() => verifier.verify(Buffer.from(`${payload}x`), headers))
    }),
  )
})

test('without a secret nothing is signed', () => {
  const headers = signDelivery({ event_id: 'act_1', body: Buffer.from('{}'), timestamp_s }, [])
  assert.deepEqual(Object.keys(headers).sort(), ['content-type', 'webhook-id', 'webhook-timestamp'])
})

test('the previous secret signs in addition to the new one for a day', () => {
  const owner = { organization_id: 'o', webhook_id: 'whk_1' }
  const [old, fresh] = [mintSecret(), mintSecret()]
  const until = new Date(now.getTime() + 1000).toISOString()
  const webhook: Webhook = {
    ...owner,
    name: 'n',
    url: 'https://example.com',
    events: ['agent_killed'],
    secret: sealSecret(ring, owner, fresh),
    previous_secret: { sealed: sealSecret(ring, owner, old), until },
    created_at: now.toISOString(),
  }
  const signing = (at: Date): string[] =>
    (openSecrets(ring, webhook, at) ?? []).map((s) => s.reveal())
  assert.deepEqual(signing(now), [fresh, old])
  assert.deepEqual(signing(new Date(now.getTime() + 1000)), [fresh])
  assert.equal(openSecrets(ring, { ...webhook, webhook_id: 'whk_2' }, now), null)
  assert.equal(
    openSecrets(parseKeyRing(Buffer.alloc(32, 2).toString('base64')), webhook, now),
    null,
  )
})
