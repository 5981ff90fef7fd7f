import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { createRemoteJWKSet, jwtVerify } from 'jose'
import { distribution } from '../../bench/kill-fixture.ts'
import { call } from '../kit/call.ts'
import type { MadeAgent } from '../kit/operator.ts'
import { startAll, stopAll } from '../kit/shared-stack.ts'
import { startOidcProvider } from '../kit/start-oidc-provider.ts'
import { until } from '../kit/until.ts'

/**
 * The gateway with two OAuth servers of others: npm run build && node dist/test/witness/oauth-servers.js [--kills 20]
 * At oidc-provider, how long after the answer to a kill the tokens of the agent live on, by its own word. At oauth2-mock-server, the flow
 * by code with PKCE, the refresh and client credentials; the API takes what its key has signed.
 */
const MOCK = 'oauth2-mock-server@8.2.3'
const FOLDER = join(process.env['AGW_WITNESS_DIR'] ?? join(tmpdir(), 'agw-witness'), 'oauth')
const DEAD_WITHIN_MS = 2_000
/** Kills fall anywhere in the interval in which admin looks for work. */
const LOOK_INTERVAL_MS = 1_000
/** A token of it is refreshed after half its life. */
const SHORT_LIFE_S = 4

interface MockServer {
  readonly issuer: {
    readonly url: string
    readonly keys: { generate(algorithm: string): Promise<object> }
  }
  readonly service: {
    on(
      event: 'beforeResponse',
      heard: (
        response: { readonly body: Record<string, unknown> },
        request: { readonly body: Readonly<Record<string, string>> },
      ) => void,
    ): void
  }
  start(port: number, host: string): Promise<void>
  stop(): Promise<void>
}

const { values } = parseArgs({ options: { kills: { type: 'string', default: '20' } } })
const stack = await startAll({ AGW_KILL_LEASE_MS: '15000' })
const { operator, api } = stack
const callback = `${stack.apiUrl}/oauth/callback`
let wrong = 0
const check = (what: string, isRight: boolean): void => {
  if (!isRight) wrong++
  process.stdout.write(`${isRight ? 'ok   ' : 'WRONG'} ${what}\n`)
}

/** An agent with a connection of its own, to which a user has consented. */
async function consented(auth: object, consent: (authorize_url: string) => Promise<URL>) {
  const access = await stack.makeAccess({ auth: { type: 'none' } })
  const path = `/admin/integrations/${access.integration.integration_id}/connections`
  const subject = `agent:${access.agent.agent_id}`
  const { connection_id } = await operator.send('POST', path, { name: 'own', subject, auth })
  const begin = async (): Promise<Record<string, string>> => {
    const made = await operator.send('POST', `${path}/${connection_id}/authorize`, {})
    return Object.fromEntries((await consent(made.authorize_url)).searchParams)
  }
  const finish = (answer: object, expect?: number) =>
    operator.send('POST', '/admin/oauth/callback', answer, expect)
  /** The token with which the call reached the API; null if it did not. */
  const send = async (): Promise<string | null> => {
    const sent = api.mark()
    const { status } = await stack.callAs(access, '/x')
    const [one] = sent()
    return status === 200 ? (one?.header('authorization') ?? '').replace('Bearer ', '') : null
  }
  return { agent: access.agent as MadeAgent, begin, finish, send }
}

async function kills(count: number): Promise<void> {
  const provider = await startOidcProvider({ redirect_uri: callback })
  const { auth } = await operator.send('POST', '/admin/oauth/discover', { url: provider.issuer })
  const { pushed_authorization_url: _, ...endpoints } = auth
  const own = {
    ...endpoints,
    authorization_url: `${endpoints.authorization_url}?prompt=consent`,
    ...provider.client,
    scope: 'openid offline_access read',
    resource: 'https://api.test/',
  }
  const connect = async () => {
    const already = provider.issued.length
    const one = await consented(own, provider.consent)
    await one.finish(await one.begin())
    const token = await one.send()
    return { ...one, token, tokens: provider.issued.slice(already) }
  }
  const neighbour = await connect()
  const lived: number[] = []
  let complete = 0
  for (let i = 0; i < count; i++) {
    const { agent, token, tokens, send } = await connect()
    if (token === null || !tokens.includes(token) || tokens.length !== 2)
      throw new Error('the call had no token of the provider')
    await wait(Math.random() * LOOK_INTERVAL_MS)
    const { kill_id } = await operator.send('POST', `/admin/agents/${agent.agent_id}/kill`)
    const answered_ms = performance.now()
    await until(
      'both tokens are dead',
      async () => !(await Promise.all(tokens.map(provider.isActive))).includes(true),
    )
    lived.push(performance.now() - answered_ms)
    const [row] = await until('the receipt says so', async () => {
      const { credentials } = await operator.send('GET', `/admin/kills/${kill_id}`)
      return credentials?.length === 1 && credentials
    })
    if (row.result === 'revoked' && row.tokens === 2 && (await send()) === null) complete++
  }
  process.stdout.write(`tokens live on after the answer to a kill: ${distribution(lived)}\n`)
  check(`dead within ${DEAD_WITHIN_MS} ms`, Math.max(...lived) <= DEAD_WITHIN_MS)
  check(`${complete} of ${count} receipts say that both were revoked`, complete === count)
  const isAlive = await Promise.all(neighbour.tokens.map(provider.isActive))
  check('the tokens of the neighbour live', isAlive.length === 2 && !isAlive.includes(false))
  check('and its calls pass', (await neighbour.send()) === neighbour.token)
  await provider.stop()
}

async function startMock(): Promise<MockServer> {
  const packaged = join(FOLDER, 'node_modules', 'oauth2-mock-server')
  if (!existsSync(packaged))
    execFileSync('npm', ['install', '--prefix', FOLDER, '--no-audit', '--no-fund', MOCK])
  const module = pathToFileURL(join(packaged, 'dist', 'index.mjs')).href
  const { OAuth2Server } = (await import(module)) as {
    readonly OAuth2Server: new () => MockServer
  }
  const server = new OAuth2Server()
  await server.issuer.keys.generate('RS256')
  await server.start(0, '127.0.0.1')
  return server
}

async function mock(): Promise<void> {
  const server = await startMock()
  const refreshes: string[] = []
  const given = new Set<unknown>()
  let lifetime_s = SHORT_LIFE_S
  server.service.on('beforeResponse', ({ body }, request) => {
    body['expires_in'] = lifetime_s
    given.add(body['access_token'])
    const { refresh_token } = request.body
    if (refresh_token !== undefined) refreshes.push(refresh_token)
  })
  const { url } = server.issuer
  const keys = createRemoteJWKSet(new URL(`${url}/jwks`))
  const isOfServer = async (token: string | null): Promise<boolean> =>
    token !== null &&
    given.has(token) &&
    (await jwtVerify(token, keys, { issuer: url }).then(
      () => true,
      () => false,
    ))
  const { auth } = await operator.send('POST', '/admin/oauth/discover', { url })
  const browse = async (authorize_url: string): Promise<URL> => {
    const answer = await fetch(authorize_url, { redirect: 'manual' })
    return new URL(answer.headers.get('location') ?? '')
  }
  const client = { client_id: 'agents', client_secret: 'secret-at-the-mock-server', scope: 'read' }
  const one = await consented({ ...auth, ...client }, browse)
  const [first, second] = [await one.begin(), await one.begin()]
  const refused = await one.finish({ ...second, code: first['code'] }, 409)
  check(
    'a code with the verifier of another is refused',
    refused.details.reason === 'exchange_failed',
  )
  await one.finish(await one.begin())
  const before = await one.send()
  check(
    'flow by code with PKCE: the call has a token that the server signed',
    await isOfServer(before),
  )
  const after = await until('the token is refreshed', async () => {
    const token = await one.send()
    if (token === null) throw new Error('a call failed during a refresh')
    return token !== before && token
  })
  check('refresh: the next call has another one', await isOfServer(after))
  await until('it is refreshed twice more', () => refreshes.length >= 3)
  check('each refresh token was sent once', new Set(refreshes).size === refreshes.length)
  lifetime_s = 3_600
  const machine = await stack.makeAccess({
    auth: { type: 'oauth2_client_credentials', token_url: auth.token_url, ...client },
  })
  const sent = api.mark()
  const path = `/${machine.base_url}/x`
  for (let i = 0; i < 3; i++) await call({ to: stack.proxyUrl, path, headers: machine.headers })
  const tokens = sent().map((each) => (each.header('authorization') ?? '').replace('Bearer ', ''))
  const isOne = tokens.length === 3 && new Set(tokens).size === 1
  check(
    'client credentials: three calls have one token of the server',
    isOne && (await isOfServer(tokens[0] ?? null)),
  )
  await server.stop()
}

try {
  await kills(Number(values.kills))
  await mock()
  process.stdout.write(`${wrong} wrong\n`)
  process.exitCode = wrong === 0 ? 0 : 1
} finally {
  await stopAll(stack)
}
