import type { ReceivedRequest, UpstreamRequest, UpstreamResponse } from './received-request.ts'

export const CHAT_ANSWER = ['The ', 'capital ', 'of France ', 'is Paris.']

/** Chat completions in the manner of OpenAI, whole and streamed. */
export async function chatRoutes(
  received: ReceivedRequest,
  _request: UpstreamRequest,
  response: UpstreamResponse,
): Promise<boolean> {
  if (received.method !== 'POST' || received.path !== '/v1/chat/completions') return false
  await received.ended
  const asked = JSON.parse(received.body.toString()) as { model: string; stream?: boolean }
  const common = { id: 'chatcmpl-1', created: 1_700_000_000, model: asked.model }
  if (asked.stream !== true) {
    response.writeHead(200, { 'content-type': 'application/json' })
    const message = { role: 'assistant', content: CHAT_ANSWER.join('') }
    const choices = [{ index: 0, message, finish_reason: 'stop' }]
    response.end(JSON.stringify({ ...common, object: 'chat.completion', choices }))
    return true
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const content of CHAT_ANSWER) {
    const choices = [{ index: 0, delta: { content }, finish_reason: null }]
    const event = { ...common, object: 'chat.completion.chunk', choices }
    response.write(`data: ${JSON.stringify(event)}\n\n`)
  }
  response.end('data: [DONE]\n\n')
  return true
}
