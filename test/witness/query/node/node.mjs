// What readers of JavaScript read as api_key in each query: one line of Base64 in, one line of JSON out. See ../../query-readers.ts.
import querystring from 'node:querystring'
import { createInterface } from 'node:readline'
import fast from 'fast-querystring'
import qs from 'qs'
import queryString from 'query-string'

const READERS = {
  qs: (text) => qs.parse(text).api_key,
  'Express, extended': (text) => qs.parse(text, { allowPrototypes: true }).api_key,
  'Node querystring': (text) => querystring.parse(text).api_key,
  'WHATWG URL': (text) => new URLSearchParams(text).get('api_key'),
  'Fastify (fast-querystring)': (text) => fast.parse(text).api_key,
  'query-string': (text) => queryString.parse(text).api_key,
  'query-string, brackets': (text) => queryString.parse(text, { arrayFormat: 'bracket' }).api_key,
}
for await (const line of createInterface({ input: process.stdin })) {
  const text = `${Buffer.from(line, 'base64').toString()}&api_key=ours`
  const seen = {}
  for (const [name, read] of Object.entries(READERS)) {
    try {
      seen[name] = read(text) ?? null
    } catch {
      seen[name] = null
    }
  }
  console.log(JSON.stringify(seen))
}
