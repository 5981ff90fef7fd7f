import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { COMPANY_TOKEN } from './company-envoy.ts'
import { rawHttp } from './raw-http.ts'

export interface CompanyApi {
  readonly port: number
  readonly origin: string
  /** What arrived: request line and headers. */
  readonly seen: string[]
  readonly stop: () => Promise<void>
}

/** Answers with what it received, so that two answers are equal only if two requests were. `/sse` never ends. */
export async function startCompanyApi(): Promise<CompanyApi> {
  const seen: string[] = []
  const open = new Set<ServerResponse>()
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.once('end', () => {
      const { method, url = '', rawHeaders } = request
      const text = [`${method} ${url}`, ...rawHeaders, Buffer.concat(chunks).toString()].join('\n')
      seen.push(text)
      response.sendDate = false
      if (!url.endsWith('/sse')) {
        response.end(text)
        return
      }
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write('data: first\n\n')
      open.add(response)
    })
  })
  server.keepAliveTimeout = 60_000
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    port,
    origin: `http://127.0.0.1:${port}`,
    seen,
    stop: async () => {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}

/** Of the caller's trace. */
export const COMPANY_TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
export const COMPANY_TRACEPARENT = `00-${COMPANY_TRACE}-00f067aa0ba902b7-01`

const OF_EVERY_CALL = [
  'host: company.test',
  'x-request-id: of-the-caller',
  `traceparent: ${COMPANY_TRACEPARENT}`,
]
const call = (line: string, ...headers: readonly string[]): string =>
  `${[`${line} HTTP/1.1`, ...OF_EVERY_CALL, ...headers].join('\r\n')}\r\n\r\n`
const TOKEN = `x-company-token: ${COMPANY_TOKEN}`

/** Calls of the company's own routes, with what the gateway would treat in its own way. */
export const COMPANY_CALLS: Readonly<Record<string, string>> = {
  'a route that Envoy answers': call('GET /public'),
  'without the token': call('GET /private'),
  'with the token': call('GET /private/a?b=c', TOKEN),
  'two slashes': call('GET //private'),
  dots: call('GET /public/../private'),
  'an encoded slash': call('GET /private%2Fa', TOKEN),
  'no route': call('GET /elsewhere'),
  'headers of the gateway': call(
    'GET /private',
    TOKEN,
    'x-agw-pass: x',
    'x-agw-host: y',
    'x-agw-up: https',
  ),
  'a forwarded call': call(
    'GET /private',
    TOKEN,
    'x-forwarded-for: 10.1.2.3',
    'x-forwarded-proto: https',
  ),
  'a body': `${call('POST /private', TOKEN, 'content-length: 5')}hello`,
  'a large header': call('GET /private', TOKEN, `x-large: ${'x'.repeat(20_000)}`),
  'an authorization of its own': call('GET /private', TOKEN, 'authorization: Bearer company'),
  'a method of its own': call('PURGE /private', TOKEN),
  'an address of another host': call('GET http://other.test/private', TOKEN),
}

/** The answers as bytes, but for what changes with every call: the date and the time that the API took. */
export async function companyAnswers(url: string): Promise<Record<string, string>> {
  const answers: Record<string, string> = {}
  for (const [name, bytes] of Object.entries(COMPANY_CALLS)) {
    const { answers: got } = await rawHttp(url, bytes)
    answers[name] = got
      .map(({ head, body }) => `${head}\n\n${body}`)
      .join('\n')
      .replace(/^(date|x-envoy-upstream-service-time): .*$/gm, '$1')
  }
  return answers
}
