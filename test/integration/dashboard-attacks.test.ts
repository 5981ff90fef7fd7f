import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, afterEach, before, describe, test } from 'node:test'
import type { BrowserContext, Page } from 'playwright-core'
import { ACTIVITY_FIELD } from '../../core/activity/activity-entry.ts'
import { connectRedis } from '../../core/redis/connect-redis.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { activityEntry } from '../kit/activity-entry.ts'
import { call } from '../kit/call.ts'
import { openBrowser } from '../kit/open-browser.ts'
import { sharedStack } from '../kit/shared-stack.ts'

const stack = await sharedStack()
const browser = await openBrowser()
/** A page that a group of tests keeps. */
let kept: Page | undefined
afterEach(() => browser.closePages(kept))

async function signIn(on: Page, token: string): Promise<void> {
  await on.getByLabel('Admin token').fill(token)
  await on.getByRole('button', { name: 'Sign in' }).click()
  await on.getByRole('heading', { name: 'Overview' }).waitFor()
}

const newToken = (role: string, email = `${role}@example.com`): Promise<{ token: string }> =>
  stack.operator.send('POST', '/admin/tokens', { email, role })

async function newTab(context: BrowserContext, url = `${stack.apiUrl}/`): Promise<Page> {
  const tab = await context.newPage()
  await tab.goto(url)
  return tab
}

/** A server of somebody else's on another port of the same host, which to a browser is the same site. */
async function neighbour(answer: (asked: IncomingMessage, reply: ServerResponse) => void) {
  const asked: IncomingMessage[] = []
  const server = createServer((request, reply) => {
    asked.push(request)
    answer(request, reply)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    stop: () => (server.closeAllConnections(), server.close()),
  }
}

describe('threat 6: a server on another port of the host, which the operator visits,', () => {
  test('is sent the cookie, and it opens nothing for a program that claims to be the page', async () => {
    const other = await neighbour((_, reply) => reply.end('hello'))
    try {
      const page = await browser.open(`${stack.apiUrl}/`)
      await signIn(page, stack.adminToken)
      await newTab(page.context(), other.url)
      const cookie = other.asked[0]?.headers.cookie ?? ''
      assert.match(cookie, /agw_session=/)
      const page_secret = /agw_session=([\w-]+)/.exec(cookie)?.[1] ?? ''
      const claims = {
        cookie,
        'x-agw-client': 'dashboard',
        'sec-fetch-site': 'same-origin',
        origin: stack.apiUrl,
      }
      for (const headers of [claims, { ...claims, 'x-agw-page-secret': page_secret }])
        for (const path of ['/admin/agents', '/admin/tokens', '/webhooks'])
          assert.equal((await call({ to: stack.apiUrl, path, headers })).status, 401)
    } finally {
      other.stop()
    }
  })

  test('makes no change and reads nothing by forms, elements, fetches, streams and frames', async () => {
    const name = `made from elsewhere ${Date.now()}`
    const other = await neighbour((asked, reply) => {
      reply.setHeader('content-type', asked.url === '/' ? 'text/html' : 'text/plain')
      reply.end(asked.url === '/' ? attackOf(name) : '')
    })
    try {
      const { agent_id } = await stack.operator.makeAgent()
      const page = await browser.open(`${stack.apiUrl}/`)
      await signIn(page, stack.adminToken)
      const tab = await newTab(page.context(), other.url)
      const script = await page.locator('script').last().getAttribute('src')
      const told = await tab.evaluate(`attack(${JSON.stringify([stack.apiUrl, agent_id, script])})`)
      assert.deepEqual(told, [])
      const agents = await stack.operator.send('GET', '/admin/agents?q=made%20from%20elsewhere')
      assert.deepEqual(agents.data, [])
      const agent = await stack.operator.send('GET', `/admin/agents/${agent_id}`)
      assert.equal(agent.status, 'active')
      await page.getByRole('link', { name: 'Agents', exact: true }).click()
      await page.getByRole('heading', { level: 1, name: 'Agents' }).waitFor()
    } finally {
      browser.complaints()
      other.stop()
    }
  })

  /** Returns what it could read; a frame that shows the page would do so in `load` with a document to look at. */
  const attackOf = (name: string): string => `<!doctype html><body><script>
    const body = JSON.stringify({ agent_name: '${name}' })
    const form = (action, type, field) => new Promise((resolve) => {
      const frame = document.createElement('iframe')
      frame.name = 'f' + Math.random()
      document.body.append(frame)
      frame.onload = resolve
      const made = document.body.appendChild(document.createElement('form'))
      Object.assign(made, { action, method: 'POST', enctype: type, target: frame.name })
      const input = made.appendChild(document.createElement('input'))
      Object.assign(input, { name: field, value: 'x' })
      made.submit()
    })
    const element = (tag, url) => new Promise((resolve) => {
      const made = document.createElement(tag)
      made.onload = () => resolve(tag === 'iframe' ? null : tag + ' ' + url)
      made.onerror = () => resolve(null)
      made.src = url
      document.body.append(made)
    })
    const stream = (url) => new Promise((resolve) => {
      const made = new EventSource(url, { withCredentials: true })
      made.onopen = () => resolve('stream')
      made.onerror = () => resolve(null)
    })
    async function attack([api, id, script]) {
      const told = []
      for (const mode of ['no-cors', 'cors'])
        for (const [path, method, type] of [
          ['/admin/agents', 'GET'], ['/session', 'GET'], ['/admin/activity/export', 'GET'],
          ['/admin/agents', 'POST', 'text/plain'], ['/admin/agents', 'POST', 'application/json'],
          ['/admin/agents/' + id + '/kill', 'POST', 'text/plain'], ['/session', 'DELETE'],
          ['/admin/agents/' + id, 'DELETE'], ['/session', 'POST', 'text/plain'],
        ]) {
          const headers = { ...(type ? { 'content-type': type } : {}), ...(mode === 'cors' ? { 'x-agw-client': 'dashboard' } : {}) }
          const sent = { mode, method, headers, credentials: 'include', ...(type ? { body } : {}) }
          const text = await fetch(api + path, sent).then((answer) => answer.text(), () => '')
          if (text !== '') told.push(mode + ' ' + method + ' ' + path)
        }
      for (const [action, type, field] of [
        ['/admin/agents', 'text/plain', body.slice(0, -1) + ',"metadata":{"a":"'],
        ['/admin/agents?_method=POST', 'application/x-www-form-urlencoded', 'agent_name'],
        ['/admin/agents/' + id + '/kill', 'text/plain', '{"reason":"'],
        ['/admin/agents/' + id + '/kill', 'multipart/form-data', 'reason'],
        ['/session?_method=DELETE', 'text/plain', 'x'],
      ]) await form(api + action, type, field)
      told.push(await stream(api + '/admin/activity/stream'))
      for (const tag of ['img', 'script'])
        for (const path of ['/admin/agents', '/admin/activity/export?format=csv', '/session', script])
          told.push(await element(tag, api + path))
      const frame = document.body.appendChild(document.createElement('iframe'))
      await new Promise((resolve) => { frame.onload = resolve; frame.src = api + '/' })
      try { if (frame.contentDocument.title) told.push('frame') } catch {}
      return told.filter((one) => one !== null)
    }
  </script>`

  test('plants a session of its own: the operator is asked to sign in and never works in it', async () => {
    const { token } = await newToken('admin', 'planter@example.com')
    const opened = await call({
      to: stack.apiUrl,
      path: '/session',
      method: 'POST',
      body: '{}',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${token}`,
        'x-agw-client': 'dashboard',
        'sec-fetch-site': 'same-origin',
      },
    })
    assert.equal(opened.status, 201)
    const planted = (opened.header('set-cookie') ?? '').split(';')[0] ?? ''
    const other = await neighbour((_, reply) => {
      reply.setHeader('set-cookie', [`${planted}; Path=/`, `${planted}; Path=/admin`])
      reply.end('hello')
    })
    try {
      const fresh = await browser.open(other.url)
      await fresh.goto(`${stack.apiUrl}/`)
      await fresh.getByLabel('Admin token').waitFor()
      const page = await browser.open(`${stack.apiUrl}/`)
      await signIn(page, stack.adminToken)
      await newTab(page.context(), other.url)
      // The page also polls its state, so its menu may disappear before a click.
      await page.evaluate("location.hash = '#/agents'")
      await page.getByRole('alert').filter({ hasText: 'Your session has ended' }).waitFor()
      await page.reload()
      await page.getByLabel('Admin token').waitFor()
    } finally {
      browser.complaints(/401/)
      other.stop()
    }
  })
})

describe('of several tabs', () => {
  test('all show who is signed in: they follow a sign-out and a sign-in as another operator', async () => {
    const [first, second] = [await newToken('viewer'), await newToken('operator')]
    const one = await browser.open(`${stack.apiUrl}/`)
    await signIn(one, first.token)
    const two = await newTab(one.context(), `${stack.apiUrl}/#/scopes`)
    await two.getByText('viewer@example.com').waitFor()
    await one.getByRole('button', { name: 'Sign out' }).click()
    await two.getByLabel('Admin token').waitFor()
    assert.equal(await two.getByRole('heading', { name: 'Scopes' }).count(), 0)
    await signIn(one, second.token)
    await two.getByText('operator@example.com').waitFor()
    await two.getByRole('heading', { name: 'Scopes' }).waitFor()
    assert.deepEqual(browser.complaints(), [])
  })

  test('none shows what was there before the sign-out when one goes back to it', async () => {
    const page = await browser.open(`${stack.apiUrl}/`)
    await signIn(page, stack.adminToken)
    await page.goto(`${stack.apiUrl}/#/access`)
    await page.getByRole('heading', { level: 1, name: 'Settings' }).waitFor()
    await page.goto(`${stack.apiUrl}/docs`)
    const other = await newTab(page.context())
    await other.getByRole('button', { name: 'Sign out' }).click()
    await other.getByLabel('Admin token').waitFor()
    await page.goBack()
    await page.getByLabel('Admin token').waitFor()
    assert.equal(await page.getByText('admin@localhost').count(), 0)
    assert.deepEqual(browser.complaints(), [])
  })
})

describe('a page of an admin', () => {
  let page: Page

  before(async () => {
    page = await browser.open(`${stack.apiUrl}/`)
    kept = page
    await signIn(page, stack.adminToken)
  })

  after(() => {
    kept = undefined
    return browser.closePages()
  })

  test('a link can only make the page request the resource that it names', async () => {
    // The overview requests what it shows.
    await page.goto(`${stack.apiUrl}/#/try`)
    await page.getByRole('heading', { name: 'Policy tester' }).waitFor()
    await page.waitForLoadState('networkidle')
    const asked: string[] = []
    page.on('request', (request) => asked.push(new URL(request.url()).pathname))
    for (const hash of [
      'activity/export',
      'activity/stream',
      'activity/counts',
      'activity/..',
      'webhooks/..',
      'agents/..',
      'agents/%2e%2e%2ftokens',
      'scopes/.',
      'scopes/..',
      'requests/..',
    ]) {
      await page.goto(`${stack.apiUrl}/#/${hash}`)
      await page.getByRole('heading', { name: 'Not found' }).waitFor()
      await page.goto(`${stack.apiUrl}/#/try`)
      await page.getByRole('heading', { name: 'Policy tester' }).waitFor()
    }
    // The browser requests the icon on its own, at any time.
    const usual = ['/admin/stats', '/readyz', '/dashboard/icon.svg']
    const paths = asked.filter((path) => !usual.includes(path))
    for (const path of paths)
      assert.match(path, /^\/admin\/(access-requests|agents|alerts|alerts\/causes|edges|locks)$/)
    assert.deepEqual(browser.complaints(), [])
  })

  test('an answer that a page cannot show leaves the way to the other pages', async () => {
    await page.route('**/admin/alerts/causes?*', (route) => route.fulfill({ json: { data: null } }))
    await page.goto(`${stack.apiUrl}/#/alerts`)
    await page.getByRole('alert').filter({ hasText: 'could not be displayed' }).waitFor()
    await page.getByRole('link', { name: 'Agents', exact: true }).click()
    await page.getByRole('heading', { level: 1, name: 'Agents' }).waitFor()
    assert.equal(await page.getByText('could not be displayed').count(), 0)
    assert.equal(browser.complaints().length, 1)
    await page.unrouteAll({ behavior: 'wait' })
  })

  test('hidden tabs that follow the log leave the connections to the visible one', async () => {
    const BROWSER_CONNECTIONS = 6
    const show = (tab: Page, state: string): Promise<unknown> =>
      tab.evaluate(
        `Object.defineProperty(document, 'visibilityState', { configurable: true, value: '${state}' }), document.dispatchEvent(new Event('visibilitychange'))`,
      )
    const { agent_id, agent_name } = await stack.operator.makeAgent()
    await page.goto(`${stack.apiUrl}/#/agents`)
    const tabs: Page[] = []
    for (let i = 0; i < BROWSER_CONNECTIONS; i++) {
      const tab = await newTab(
        page.context(),
        `${stack.apiUrl}/#/activity?live=1&agent_id=${agent_id}&event=agent_killed`,
      )
      await tab.getByText('Live:').waitFor()
      await show(tab, 'hidden')
      await tab.getByText('Connecting').waitFor()
      tabs.push(tab)
    }
    await page.goto(`${stack.apiUrl}/#/agents/${agent_id}`)
    await page.getByRole('heading', { name: agent_name }).waitFor()
    await stack.operator.send('POST', `/admin/agents/${agent_id}/kill`, { reason: 'unseen' })
    const [last] = tabs.slice(-1)
    assert.ok(last !== undefined)
    await show(last, 'visible')
    await last.getByText('Live:').waitFor()
    await last.getByRole('row').filter({ hasText: 'unseen' }).waitFor()
    await Promise.all(tabs.map((tab) => tab.close()))
    assert.deepEqual(browser.complaints(), [])
  })

  test('a name that is typed is searched for when it is typed, not letter by letter', async () => {
    const { agent_id } = await stack.operator.makeAgent({ agent_name: 'quickly typed' })
    const own = await browser.open(`${stack.apiUrl}/`)
    await signIn(own, stack.adminToken)
    await own.goto(`${stack.apiUrl}/#/try`)
    await own.getByRole('heading', { level: 1, name: 'Policy tester' }).waitFor()
    // The clock is at zero for a moment, which a request of the overview would show.
    await own.clock.install()
    await own.clock.pauseAt(Date.now() + 3_600_000)
    const searched: string[] = []
    own.on('request', (request) => {
      const { pathname, searchParams } = new URL(request.url())
      const q = searchParams.get('q')
      // The first list, without a name, may be read again meanwhile.
      if (pathname === '/admin/agents' && q !== null) searched.push(q)
    })
    // The first list of agents has this one too.
    const search = own.waitForRequest((request) => request.url().includes('q=quickly'))
    await own.getByLabel('Agent', { exact: true }).pressSequentially('quickly typed')
    await own.clock.runFor(1_000)
    await search
    await own.clock.resume()
    await own.locator(`datalist option[value="${agent_id}"]`).waitFor({ state: 'attached' })
    assert.deepEqual(searched.slice(-1), ['quickly typed'])
    assert.ok(searched.length <= 2, `searched for ${searched.join(', ')}`)
  })

  test('the live view stays small and quick while thousands of entries come', async () => {
    await page.goto(`${stack.apiUrl}/#/activity?live=1&event=request_allowed`)
    await page.getByText('Live:').waitFor()
    const redis = connectRedis(stack.redisUrl, { name: 'test', role: 'queue' })
    try {
      const ENTRIES = 4_000
      const write = (agent_name: string): void => {
        const entry = activityEntry('request_allowed', { agent_name, decision: 'allowed' })
        writes.xadd(REDIS_KEYS.activity('org_default'), '*', ACTIVITY_FIELD, JSON.stringify(entry))
      }
      let writes = redis.pipeline()
      for (let i = 0; i < ENTRIES; i++) {
        write(i === ENTRIES - 1 ? 'the last of them' : `agent ${i}`)
        if (i % 1000 !== 999) continue
        await writes.exec()
        writes = redis.pipeline()
      }
      await page.getByText('the last of them').waitFor()
      const rows = page.getByRole('row')
      assert.ok((await rows.count()) < 80, `${await rows.count()} rows are in the page`)
      await page.getByRole('button', { name: 'Stop following' }).click()
      await page.getByRole('button', { name: 'Follow live' }).waitFor()
      await page.getByText(/^\d+ entries so far/).waitFor()
      assert.ok((await rows.count()) < 80, `${await rows.count()} rows are in the page`)
    } finally {
      redis.disconnect()
    }
    assert.deepEqual(browser.complaints(), [])
  })
})
