import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import type { ClientRequest, IncomingMessage } from 'node:http'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { promisify } from 'node:util'
import { CookieJar } from 'tough-cookie'
import { fetch as undiciFetch, ProxyAgent, Agent as UndiciAgent } from 'undici'
import { sharedStack } from '../kit/shared-stack.ts'
import {
  type KeyHeader,
  ORDINARY_NAMES,
  type RedirectApis,
  startRedirectApis,
} from '../kit/start-redirect-apis.ts'
import { tempFolder } from '../kit/temp-folder.ts'
import { scripted } from '../kit/test-upstream/plain-routes.ts'

// Redirects and cookies with the clients that npm can install.

interface FollowRedirects {
  readonly http: {
    get(
      url: string,
      options: { headers: Readonly<Record<string, string>>; maxRedirects: number },
    ): ClientRequest
  }
}
/** It has no types. */
const { http: following } = createRequire(import.meta.url)('follow-redirects') as FollowRedirects

const stack = await sharedStack()
const started: RedirectApis[] = []
after(() => Promise.all(started.map((apis) => apis.stop())))
const start = async (header?: KeyHeader): Promise<RedirectApis> => {
  const apis = await startRedirectApis(stack.operator, stack.proxyUrl, header)
  started.push(apis)
  return apis
}

const clients = {
  fetch: async (url: string, headers: Readonly<Record<string, string>>) => {
    await (await fetch(url, { headers })).arrayBuffer()
  },
  'follow-redirects': async (url: string, headers: Readonly<Record<string, string>>) => {
    // A copy: it takes headers out of the object it is given.
    const sent = following.get(url, { headers: { ...headers }, maxRedirects: 5 })
    const [answer] = (await once(sent, 'response')) as [IncomingMessage]
    answer.resume()
    await once(answer, 'end')
  },
}

for (const [name, get] of Object.entries(clients))
  for (const header of ['authorization', 'x-api-key'] as const)
    test(`${name} follows no redirect to another API, and every ordinary one (key in ${header})`, async () => {
      const apis = await start(header)
      for (const { url } of apis.cases) // One that leaves the gateway leads nowhere.
        await get(url, apis.headers).catch(() => undefined)
      assert.deepEqual(apis.reached(), [])
      assert.deepEqual(apis.arrived(), ORDINARY_NAMES)
    })

test('a cookie jar sends an API its own cookies, and no other', async () => {
  const apis = await start()
  const jar = new CookieJar()
  const get = async (url: string): Promise<void> => {
    const cookie = await jar.getCookieString(url)
    const answer = await fetch(url, {
      headers: { ...apis.headers, ...(cookie === '' ? {} : { cookie }) },
    })
    for (const value of answer.headers.getSetCookie()) await jar.setCookie(value, url)
    await answer.arrayBuffer()
  }
  const { login, inside, deep, other } = apis.urls
  for (const url of [login, inside, deep, other, inside]) await get(url)
  assert.deepEqual(apis.cookiesAt('/inside'), ['folder plain', 'folder plain'])
  assert.deepEqual(apis.cookiesAt('/deep/x'), ['deep folder plain'])
  assert.deepEqual(apis.cookiesAt('/other'), [''])
  assert.equal(await jar.getCookieString(`${stack.proxyUrl}/admin/agents`), '')
  assert.equal(await jar.getCookieString(`${stack.proxyUrl}/`), '')
  assert.equal(await jar.getCookieString(`${stack.apiUrl}/`), '')
})

const run = promisify(execFile)
const WAYS = ['base URL', 'forward proxy'] as const
const METHODS = ['GET', 'POST', 'PUT'] as const
const STATUSES = [301, 302, 303, 307, 308] as const

test('no redirect of a hostile API makes a client write to another API of its agent, by either way', async () => {
  const { operator, api, origin, proxyUrl, forwardPort } = stack
  const hostile = `${origin('other')}/hostile`
  const victims = [
    `${origin('payments')}/victim`,
    `${origin('other')}/victim`,
    `${origin('plain', 'http')}/victim`,
  ]
  const integrations: string[] = []
  for (const base_url of [hostile, ...victims])
    integrations.push((await operator.makeIntegration(base_url)).integration_id)
  const makeAgent = async (methods: readonly string[]): Promise<string> => {
    const { agent_id, api_key } = await operator.makeAgent()
    for (const [i, id] of integrations.entries())
      await operator.makeScope(agent_id, id, {
        rules: [{ methods: i === 0 ? ['*'] : methods, paths: ['/**'] }],
      })
    return api_key
  }
  const folder = tempFolder('redirects')
  const ca = join(folder, 'ca.pem')
  writeFileSync(ca, await (await fetch(`${stack.apiUrl}/ca.pem`)).text())

  /** The URLs of the hostile API, each of which leads to a victim; the victim sees by which method the first call was made. */
  const urls = (method: string): readonly string[] =>
    victims.flatMap((victim) => {
      const to = `${victim}/x?was=${method}`
      const answers: (readonly [number, readonly (readonly [string, string])[]])[] = [
        ...STATUSES.map((status) => [status, [['location', to]]] as const),
        [200, [['refresh', `0; url=${to}`]]],
        [200, [['link', `<${to}>; rel="next"`]]],
        [401, [['www-authenticate', `Bearer realm="${to}", resource_metadata="${to}"`]]],
      ]
      return answers.map(
        ([status, headers]) =>
          `${hostile}${scripted({ status, headers, pieces: [2], is_chunked: false })}`,
      )
    })
  const withKey = (key: string, way: (typeof WAYS)[number]) => {
    const dispatcher =
      way === 'base URL'
        ? new UndiciAgent()
        : new ProxyAgent({
            uri: `http://127.0.0.1:${forwardPort}`,
            token: `Basic ${Buffer.from(`agent:${key}`).toString('base64')}`,
            requestTls: { ca: readFileSync(ca, 'utf8') },
          })
    const headers = way === 'base URL' ? { authorization: `Bearer ${key}` } : {}
    const throughGateway = (url: string): string =>
      way === 'base URL' ? `${proxyUrl}/${url}` : url
    return { dispatcher, headers, throughGateway }
  }
  const byFetch = async (key: string, way: (typeof WAYS)[number], method: string) => {
    const { dispatcher, headers, throughGateway } = withKey(key, way)
    const ask = (url: string, as: string) =>
      undiciFetch(url, {
        method: as,
        headers,
        dispatcher,
        ...(as === 'GET' ? {} : { body: 'x' }),
      }).catch(() => null)
    for (const url of urls(method)) {
      const answer = await ask(throughGateway(url), method)
      await answer?.arrayBuffer()
      // As browsers, clients that read the next page and registry clients do.
      for (const name of ['refresh', 'link', 'www-authenticate']) {
        const [next] = /https?:[^>"]*/.exec(answer?.headers.get(name) ?? '') ?? []
        if (next !== undefined) await (await ask(next, 'GET'))?.arrayBuffer()
      }
    }
    await dispatcher.close()
  }
  const byCurl = async (key: string, way: (typeof WAYS)[number], method: string) => {
    const { headers, throughGateway } = withKey(key, way)
    const through =
      way === 'base URL'
        ? ['-H', `authorization: ${headers.authorization}`]
        : ['-x', `http://agent:${key}@127.0.0.1:${forwardPort}`, '--cacert', ca]
    const how = method === 'GET' ? [] : ['-X', method, '--data', 'x', '--location-trusted']
    await run('curl', [
      '-sL',
      '--max-time',
      '60',
      ...how,
      ...through,
      ...urls(method).flatMap((url) => [throughGateway(url), '--output', join(folder, 'out')]),
    ]).catch(() => undefined)
  }
  for (const methods of [['*'], ['GET']]) {
    const key = await makeAgent(methods)
    const sent = api.mark()
    for (const way of WAYS)
      for (const method of METHODS) {
        await byFetch(key, way, method)
        await byCurl(key, way, method)
      }
    const arrived = sent().filter(({ path }) => path.includes('/victim'))
    const seen = new Set(arrived.map((one) => `${one.method} ${/was=\w+/.exec(one.path)?.[0]}`))
    assert.deepEqual([...seen].sort(), ['GET was=GET', 'GET was=POST', 'GET was=PUT'])
  }
})
