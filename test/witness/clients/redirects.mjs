// Follows redirects and references and keeps cookies with one client of JavaScript; reads its order on standard input,
// prints its version. It runs in a folder in which the client is installed.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

const order = JSON.parse(readFileSync(0, 'utf8'))
const [, , client = 'fetch'] = process.argv
const { headers } = order
const require = createRequire(import.meta.url)
const versionOf = (name) =>
  `${name} ${JSON.parse(readFileSync(new URL(`node_modules/${name}/package.json`, import.meta.url), 'utf8')).version}`
const LIMIT_MS = 10_000

const clients = {
  fetch: async () => ({
    version: `fetch of Node.js ${process.versions.node}, undici ${process.versions.undici}`,
    get: async (url, cookie) => {
      const answer = await fetch(url, {
        headers: cookie ? { ...headers, cookie } : headers,
        signal: AbortSignal.timeout(LIMIT_MS),
      })
      await answer.arrayBuffer()
      return answer
    },
  }),
  got: async () => {
    const { default: got } = await import('got')
    return {
      version: versionOf('got'),
      get: (url) => got(url, { headers, retry: { limit: 0 }, timeout: { request: LIMIT_MS } }),
    }
  },
  axios: async () => {
    const { default: axios } = await import('axios')
    return {
      version: versionOf('axios'),
      get: (url) => axios.get(url, { headers, timeout: LIMIT_MS }),
    }
  },
  'node-fetch': async () => {
    const { default: get } = await import('node-fetch')
    return {
      version: versionOf('node-fetch'),
      get: async (url) => (await get(url, { headers })).text(),
    }
  },
  superagent: async () => {
    const superagent = require('superagent')
    return {
      version: versionOf('superagent'),
      get: (url) => superagent.get(url).set(headers).timeout(LIMIT_MS),
    }
  },
}

const FOLLOWED = [
  'location',
  'content-location',
  'operation-location',
  'azure-asyncoperation',
  'x-goog-upload-url',
  'x-goog-upload-control-url',
  'refresh',
  'link',
  'www-authenticate',
  'x-storage-url',
  'odata-entityid',
]
const all = (value, pattern) => [...value.matchAll(pattern)].map(([, one]) => one)
const references = (name, value) => {
  if (name === 'link') return [...all(value, /<([^>]*)>/g), ...all(value, /<([^<>]*)>/g)]
  if (name === 'refresh')
    return [
      value.replace(/^[^=]*=\s*['"]?/, '').replace(/['"].*$/, ''),
      value.replace(/^[^;,\s]*[;,\s]*/, ''),
    ]
  if (name === 'www-authenticate') return all(value, /="([^"]*)"/g)
  return [value]
}

const { version, get } = await clients[client]()
// node-fetch throws at some redirects where no caller can catch it.
let giveUp = () => undefined
process.on('uncaughtException', () => giveUp(null))
const attempt = async (url, cookie) => {
  try {
    return await Promise.race([
      get(url, cookie),
      new Promise((resolve) => {
        giveUp = resolve
      }),
    ])
  } catch {
    return null
  }
}
for (const url of order.redirects) await attempt(url)
if (client === 'fetch') {
  const { CookieJar } = require('tough-cookie')
  for (const urls of order.jars) {
    const jar = new CookieJar()
    for (const url of urls) {
      const answer = await attempt(url, await jar.getCookieString(url))
      for (const value of answer?.headers.getSetCookie() ?? [])
        await jar.setCookie(value, url).catch(() => null)
    }
  }
  for (const url of order.references) {
    const answer = await attempt(url)
    for (const name of FOLLOWED)
      for (const reference of answer?.headers.has(name)
        ? references(name, answer.headers.get(name))
        : [])
        if (URL.canParse(reference, answer.url)) await attempt(new URL(reference, answer.url).href)
  }
}
console.log(version)
process.exit(0)
