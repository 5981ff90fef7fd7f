import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gunzipSync } from 'node:zlib'

export interface ReceivedSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string
  readonly name: string
  readonly kind: number
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes: readonly {
    readonly key: string
    readonly value: { readonly stringValue?: string; readonly intValue?: string }
  }[]
}

export interface SpanReceiver {
  readonly url: string
  readonly spans: ReceivedSpan[]
  /** All that has arrived: headers and decoded bodies. */
  readonly text: () => string
  readonly headers: IncomingMessage['headers'][]
  readonly stop: () => void
}

/** @param status of every answer; null: it never answers */
export async function startSpanReceiver(
  status: () => number | null = () => 200,
): Promise<SpanReceiver> {
  const spans: ReceivedSpan[] = []
  const headers: IncomingMessage['headers'][] = []
  const texts: string[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const answer = status()
      headers.push(request.headers)
      const text = gunzipSync(Buffer.concat(chunks)).toString()
      texts.push(JSON.stringify(request.headers), text)
      if (answer === null) return
      if (answer === 200) spans.push(...spansOf(text))
      response.writeHead(answer, { 'content-type': 'application/json' }).end('{}')
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/traces`,
    spans,
    text: () => texts.join('\n'),
    headers,
    stop: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

interface Request {
  readonly resourceSpans: readonly {
    readonly scopeSpans: readonly { readonly spans: readonly ReceivedSpan[] }[]
  }[]
}

function spansOf(text: string): readonly ReceivedSpan[] {
  const { resourceSpans } = JSON.parse(text) as Request
  return resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((one) => one.spans))
}
