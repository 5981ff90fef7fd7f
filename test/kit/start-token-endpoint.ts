import { randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Certificates } from './make-certificates.ts'

export interface AskedToken {
  readonly method: string
  readonly authorization: string | undefined
  readonly headers: IncomingMessage['headers']
  readonly form: URLSearchParams
  readonly body: string
}

type TokenHandler = (asked: AskedToken, response: ServerResponse) => void | Promise<void>

export interface TokenEndpoint {
  /** An endpoint of its own for each name, all of them on one host. */
  readonly url: (name: string) => string
  /** What an endpoint was asked, oldest first. */
  readonly asked: (name: string) => readonly AskedToken[]
  /** Tokens that were given out, oldest first. */
  readonly given: (name: string) => readonly string[]
  /** What an endpoint does from now on, in place of giving out a new token that lives an hour. */
  readonly behave: (name: string, handler: TokenHandler) => void
  /** Answers with a new token of the endpoint. */
  readonly give: (name: string, response: ServerResponse, more?: object) => void
  readonly stop: () => Promise<void>
}

/** Token endpoints (RFC 6749) of a test's own. */
export async function startTokenEndpoint(
  { key, cert }: Certificates,
  host: string,
): Promise<TokenEndpoint> {
  const asked = new Map<string, AskedToken[]>()
  const given = new Map<string, string[]>()
  const handlers = new Map<string, TokenHandler>()
  const of = <T>(map: Map<string, T[]>, name: string): T[] => {
    const list = map.get(name) ?? []
    map.set(name, list)
    return list
  }
  const give: TokenEndpoint['give'] = (name, response, more = {}) => {
    const access_token = `token-${name}-${randomBytes(12).toString('hex')}`
    of(given, name).push(access_token)
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ access_token, token_type: 'Bearer', expires_in: 3600, ...more }))
  }
  /** An access token, an installation token of GitHub, or temporary keys of AWS. */
  const giveFor =
    (name: string, url: string): TokenHandler =>
    ({ form }, response) => {
      const token = `token-${name}-${randomBytes(12).toString('hex')}`
      const end = new Date(Date.now() + 3_600_000).toISOString()
      if (url.endsWith('/access_tokens'))
        response.writeHead(201).end(JSON.stringify({ token, expires_at: end }))
      else if (form.get('Action') === 'AssumeRole')
        response.writeHead(200).end(
          `<AssumeRoleResponse><AssumeRoleResult><Credentials><AccessKeyId>ASIA${name}</AccessKeyId>
          <SecretAccessKey>secret-${token}</SecretAccessKey><SessionToken>${token}</SessionToken>
          <Expiration>${end}</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>`,
        )
      else return give(name, response)
      of(given, name).push(token)
    }
  const server = createServer({ key, cert }, (request, response) => {
    response.on('error', () => undefined)
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      const name = (request.url ?? '').split('/')[1]?.split('?')[0] ?? ''
      const { headers, method = '' } = request
      const body = Buffer.concat(parts).toString()
      const form = new URLSearchParams(body)
      const one = { method, authorization: headers.authorization, headers, form, body }
      of(asked, name).push(one)
      void (handlers.get(name) ?? giveFor(name, request.url ?? ''))(one, response)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: (name) => `https://${host}:${port}/${name}`,
    asked: (name) => of(asked, name),
    given: (name) => of(given, name),
    behave: (name, handler) => void handlers.set(name, handler),
    give,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
