import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** The real `oidc-provider` on loopback, which consents by itself as the user `user-1`. */
export interface OidcProvider {
  readonly issuer: string
  readonly client: { readonly client_id: string; readonly client_secret: string }
  /** Refresh tokens that were sent to the token endpoint, oldest first. */
  readonly refreshes: readonly { readonly token: string; readonly is_accepted: boolean }[]
  /** Tokens of both kinds that it has given. */
  readonly issued: readonly string[]
  /** Why grants were refused. */
  readonly errors: readonly string[]
  /** Opens an authorization URL as a browser would; returns the address that it is sent to in the end. */
  readonly consent: (authorize_url: string) => Promise<URL>
  /** The answer to the question whether a token is good (RFC 7662). */
  readonly isActive: (token: string) => Promise<boolean>
  /** What happens before a request is answered; false: the connection is cut in place of an answer. */
  onRequest: (path: string, when: 'before' | 'after') => Promise<boolean> | boolean
  /** What happens before a refresh token is marked as used. */
  onRotation: () => Promise<void> | void
  /** What the user does. */
  answer: 'consents' | 'refuses'
  readonly stop: () => Promise<void>
}

interface Provider {
  callback(): (request: IncomingMessage, response: ServerResponse) => void
  interactionDetails(
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<{
    readonly prompt: { readonly name: string }
    readonly params: Readonly<Record<string, string | undefined>>
    readonly session?: { readonly accountId: string }
  }>
  interactionFinished(
    request: IncomingMessage,
    response: ServerResponse,
    result: object,
    options: object,
  ): Promise<void>
  readonly Grant: new (
    of: object,
  ) => {
    addOIDCScope(scope: string): void
    addResourceScope(resource: string, scope: string): void
    save(): Promise<string>
  }
  on(event: string, heard: (...args: readonly unknown[]) => void): void
}
interface Adapter {
  consume(id: string): Promise<void>
}
type NewProvider = new (issuer: string, configuration: object) => Provider

export const OIDC_CLIENT = {
  client_id: 'gateway',
  client_secret: 'client-secret-of-the-gateway',
} as const
const SCOPE = 'openid offline_access read'
const HOUR_S = 3600
const REDIRECTS_MAX = 12

export async function startOidcProvider(options: {
  readonly redirect_uri: string
  /** Of an access token. */
  readonly lifetime_s?: number
  readonly rotates?: boolean
  /** How long a refresh token is taken again after its first use. */
  readonly grace_s?: number
  /** Further scopes that it knows. */
  readonly scopes?: readonly string[]
}): Promise<OidcProvider> {
  // It has no types.
  const [name, adapters]: string[] = [
    'oidc-provider',
    'oidc-provider/lib/adapters/memory_adapter.js',
  ]
  const { default: Constructor } = (await import(name ?? '')) as { readonly default: NewProvider }
  const { createMemoryAdapter } = (await import(adapters ?? '')) as {
    readonly createMemoryAdapter: () => (model: string) => Adapter
  }
  let serve = (_: IncomingMessage, response: ServerResponse): void => void response.end()
  const server = createServer((request, response) => serve(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const adapterOf = createMemoryAdapter()
  const adapter = (model: string): Adapter => {
    const memory = adapterOf(model)
    const consume = memory.consume.bind(memory)
    if (model === 'RefreshToken')
      memory.consume = async (id) => {
        await it.onRotation()
        const { grace_s = 0 } = options
        if (grace_s > 0) setTimeout(() => void consume(id).catch(() => undefined), grace_s * 1000)
        else await consume(id)
      }
    return memory
  }
  const provider = new Constructor(issuer, { ...configurationOf(options), adapter })
  const errors: string[] = []
  const issued: string[] = []
  const refreshes: { token: string; is_accepted: boolean }[] = []
  const note = (context: unknown, is_accepted: boolean): void => {
    const { oidc } = context as { readonly oidc?: { readonly params?: Record<string, string> } }
    const token = oidc?.params?.['refresh_token']
    if (token !== undefined) refreshes.push({ token, is_accepted })
  }
  provider.on('grant.success', (context) => {
    const { body } = context as { readonly body: Readonly<Record<string, string>> }
    for (const kind of ['access_token', 'refresh_token'])
      if (body[kind] !== undefined) issued.push(body[kind])
    note(context, true)
  })
  provider.on('grant.error', (context, error) => {
    errors.push(String((error as Error).message))
    note(context, false)
  })
  const answerOf = provider.callback()
  const it: OidcProvider = {
    issuer,
    client: OIDC_CLIENT,
    refreshes,
    issued,
    errors,
    consent,
    isActive: (token) => isActive(issuer, token),
    onRequest: () => true,
    onRotation: () => undefined,
    answer: 'consents',
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  serve = (request, response) => {
    void handle(it, { provider, answerOf }, request, response).catch(() => response.destroy())
  }
  return it
}

function configurationOf({
  redirect_uri,
  lifetime_s = HOUR_S,
  rotates = true,
  scopes = [],
}: Parameters<typeof startOidcProvider>[0]): object {
  return {
    clients: [
      {
        ...OIDC_CLIENT,
        redirect_uris: [redirect_uri],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
      },
    ],
    features: {
      devInteractions: { enabled: false },
      revocation: { enabled: true },
      introspection: { enabled: true },
      pushedAuthorizationRequests: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => undefined,
        useGrantedResource: () => true,
        getResourceServerInfo: (_: unknown, audience: string) => ({
          scope: 'read',
          audience,
          accessTokenTTL: lifetime_s,
          accessTokenFormat: 'opaque',
        }),
      },
    },
    pkce: { required: () => true },
    rotateRefreshToken: rotates,
    issueRefreshToken: async () => true,
    ttl: {
      AccessToken: lifetime_s,
      RefreshToken: HOUR_S,
      Grant: HOUR_S,
      Session: HOUR_S,
      Interaction: 600,
      AuthorizationCode: 60,
      IdToken: HOUR_S,
    },
    scopes: [...SCOPE.split(' '), ...scopes],
    findAccount: (_: unknown, id: string) => ({
      accountId: id,
      claims: async () => ({ sub: id }),
    }),
    interactions: { url: (_: unknown, { uid }: { readonly uid: string }) => `/interaction/${uid}` },
  }
}

async function handle(
  it: OidcProvider,
  {
    provider,
    answerOf,
  }: {
    readonly provider: Provider
    readonly answerOf: ReturnType<Provider['callback']>
  },
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const path = request.url ?? ''
  if (path.startsWith('/interaction/')) return await interact(it, provider, request, response)
  if (!(await it.onRequest(path, 'before'))) return void request.destroy()
  // The answer is made, and then it waits or is cut.
  const end = response.end.bind(response)
  response.end = ((...args: Parameters<typeof end>) => {
    void Promise.resolve(it.onRequest(path, 'after')).then((isSent) => {
      if (isSent) end(...args)
      else response.destroy()
    })
    return response
  }) as typeof response.end
  answerOf(request, response)
}

async function interact(
  it: OidcProvider,
  provider: Provider,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { prompt, params, session } = await provider.interactionDetails(request, response)
  const finish = (result: object, merged: boolean): Promise<void> =>
    provider.interactionFinished(request, response, result, { mergeWithLastSubmission: merged })
  if (it.answer === 'refuses') return await finish({ error: 'access_denied' }, false)
  if (prompt.name === 'login') return await finish({ login: { accountId: 'user-1' } }, false)
  const grant = new provider.Grant({
    accountId: session?.accountId,
    clientId: params['client_id'],
  })
  grant.addOIDCScope(`${SCOPE} ${params['scope']}`)
  if (params['resource'] !== undefined) grant.addResourceScope(params['resource'], 'read')
  return await finish({ consent: { grantId: await grant.save() } }, true)
}

async function consent(authorize_url: string): Promise<URL> {
  const origin = new URL(authorize_url).origin
  const jar = new Map<string, string>()
  let url = new URL(authorize_url)
  for (let i = 0; i < REDIRECTS_MAX && url.origin === origin; i++) {
    const cookie = [...jar].map((pair) => pair.join('=')).join('; ')
    const answer = await fetch(url, { redirect: 'manual', headers: { cookie } })
    for (const set of answer.headers.getSetCookie()) {
      const [, key = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? []
      jar.set(key, value)
    }
    const location = answer.headers.get('location')
    if (location === null)
      throw new Error(`the provider answered ${answer.status}: ${await answer.text()}`)
    url = new URL(location, url)
  }
  return url
}

async function isActive(issuer: string, token: string): Promise<boolean> {
  const pair = Buffer.from(`${OIDC_CLIENT.client_id}:${OIDC_CLIENT.client_secret}`).toString(
    'base64',
  )
  const answer = await fetch(`${issuer}/token/introspection`, {
    method: 'POST',
    headers: { authorization: `Basic ${pair}` },
    body: new URLSearchParams({ token }),
  })
  return ((await answer.json()) as { readonly active?: boolean }).active === true
}
