import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { ClientRequest, IncomingMessage } from 'node:http'
import { createRequire } from 'node:module'
import { after, test } from 'node:test'
import { CookieJar } from 'tough-cookie'
import { sharedStack } from '../kit/shared-stack.ts'
import {
  type KeyHeader,
  ORDINARY_NAMES,
  type RedirectApis,
  startRedirectApis,
} from '../kit/start-redirect-apis.ts'

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
