import type { FastifyInstance } from 'fastify'

/** Beyond this depth a recursive reader of the value could run out of stack. */
const DEPTH_LIMIT = 64

const JSON_TYPE = /^\s*application\/(?:merge-patch\+)?json\s*(?:;|$)/i

/**
 * Parses JSON bodies and merge patches. An empty body of any type is an empty object, so that a missing member is reported
 * as such; a member called `__proto__` is refused.
 */
export function readJson(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error')
  app.removeAllContentTypeParsers()
  // A malformed type would be refused before it is known whether there is a body.
  app.addHook('onRequest', async ({ raw: { headers } }) => {
    const type = headers['content-type']
    if (type === undefined) return
    headers['content-type'] = JSON_TYPE.test(type) ? 'application/json' : 'application/octet-stream'
  })
  app.addContentTypeParser('*', { parseAs: 'string' }, (_request, text, done) =>
    text === '' ? done(null, {}) : done(unsupported()),
  )
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, text, done) => {
    if (text === '') return done(null, {})
    if (depthOf(text as string) > DEPTH_LIMIT)
      return done(badRequest(`The body is nested deeper than ${DEPTH_LIMIT} levels`))
    void parse(request, text as string, done)
  })
}

/** The nesting depth of brackets outside of strings; the text need not be valid JSON. */
function depthOf(text: string): number {
  let depth = 0
  let deepest = 0
  let inString = false
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i)
    if (inString) {
      if (c === 0x5c) i++
      else if (c === 0x22) inString = false
    } else if (c === 0x22) inString = true
    else if (c === 0x7b || c === 0x5b) deepest = Math.max(deepest, ++depth)
    else if (c === 0x7d || c === 0x5d) depth--
  }
  return deepest
}

const unsupported = (): Error =>
  Object.assign(new Error('unsupported media type'), { code: 'FST_ERR_CTP_INVALID_MEDIA_TYPE' })

const badRequest = (message: string): Error =>
  Object.assign(new Error(message), { statusCode: 400 })
