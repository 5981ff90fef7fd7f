import assert from 'node:assert/strict'
import { test } from 'node:test'
import OpenAI from 'openai'
import { sharedStack } from '../kit/shared-stack.ts'
import { CHAT_ANSWER } from '../kit/test-upstream/chat-routes.ts'

const stack = await sharedStack()
const access = await stack.operator.makeAccess(`${stack.origin('chat')}/v1`, {
  auth: { type: 'bearer', token: 'sk-stored' },
  rules: [{ methods: ['POST'], paths: ['/chat/completions'] }],
})
/** As its documentation has it, with the two changes that the gateway needs. */
const client = new OpenAI({
  apiKey: access.agent.api_key,
  baseURL: `${stack.proxyUrl}/${access.base_url}`,
  maxRetries: 0,
})
const question = {
  model: 'gpt-test',
  messages: [{ role: 'user' as const, content: 'What is the capital of France?' }],
}

test('the openai SDK completes a chat with only base URL and key changed', async () => {
  const sent = stack.api.mark()
  const answer = await client.chat.completions.create(question)
  assert.equal(answer.choices[0]?.message.content, CHAT_ANSWER.join(''))
  const [call] = sent()
  assert.equal(sent().length, 1)
  assert.equal(call?.header('authorization'), 'Bearer sk-stored')
  assert.equal(call?.path, '/v1/chat/completions')
  assert.deepEqual(JSON.parse(call?.body.toString() ?? ''), question)
})

test('the openai SDK streams a chat', async () => {
  const stream = await client.chat.completions.create({ ...question, stream: true })
  const parts: string[] = []
  for await (const event of stream) parts.push(event.choices[0]?.delta.content ?? '')
  assert.deepEqual(parts, CHAT_ANSWER)
})

test('the openai SDK reports our refusal with its code and message', async () => {
  const sent = stack.api.mark()
  for (const error_format of ['gateway', 'openai'] as const) {
    const path = `/admin/integrations/${access.integration.integration_id}`
    await stack.operator.send('PUT', path, { error_format })
    await assert.rejects(client.models.list(), (error: unknown) => {
      assert.ok(error instanceof OpenAI.APIError)
      assert.equal(error.status, 403)
      assert.equal(error.headers?.get('x-agw-reason'), 'permission_denied')
      if (error_format === 'gateway') return true
      assert.match(error.message, /^403 No scope of this agent/)
      assert.equal(error.code, 'permission_denied')
      assert.equal(error.requestID, error.headers?.get('x-agw-request-id'))
      return true
    })
  }
  assert.equal(sent().length, 0)
})
