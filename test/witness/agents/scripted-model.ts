import type { IncomingMessage, ServerResponse } from 'node:http'
import { MODEL_APIS } from './model-apis.ts'
import type { Step } from './steps.ts'
import { chooseTool, lastCall } from './steps.ts'

/** A session that the model leads. */
export interface Session {
  readonly step_count: number
  readonly stepAt: (turn: number) => Step
}

export interface Asked {
  readonly path: string
  readonly turn: number
}

/**
 * Plays the model APIs of OpenAI, Anthropic and Google: it leads an agent through the steps of a session, one call of a tool a turn.
 * @returns what the agent asked, if it asked a model
 */
export function answerAsModel(
  request: IncomingMessage,
  response: ServerResponse,
  body: string,
  session: Session,
): Asked | null {
  const [path = ''] = (request.url ?? '').split('?')
  const api = MODEL_APIS.find((one) => one.path.test(path))
  if (request.method !== 'POST' || api === undefined) {
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ data: [], models: [], totalTokens: 1, input_tokens: 1 }))
    return null
  }
  const asked = JSON.parse(body)
  const { tools, results: turn } = api.read(asked)
  const { step_count, stepAt } = session
  const isOver = turn >= step_count || tools.length === 0
  const choice = isOver
    ? turn === step_count
      ? lastCall(tools)
      : null
    : chooseTool(stepAt(turn), tools)
  const isStream = asked.stream === true || path.endsWith(':streamGenerateContent')
  if (!isStream) {
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(api.whole(choice, turn)))
    return { path, turn }
  }
  response.setHeader('content-type', 'text/event-stream')
  for (const [name, data] of api.events(choice, turn)) {
    if (name !== null) response.write(`event: ${name}\n`)
    response.write(`data: ${JSON.stringify(data)}\n\n`)
  }
  if (path.endsWith('/chat/completions')) response.write('data: [DONE]\n\n')
  response.end()
  return { path, turn }
}
