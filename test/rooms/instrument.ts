import { createRequire } from 'node:module'

// A loader hook. Each function of the product notes its file when it is entered. Needs --expose-internals: Node.js carries
// a parser of JavaScript, and no other package here has one.

interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly body?: Node
}

const require = createRequire(import.meta.url)
const { parse } = require('internal/deps/acorn/acorn/dist/acorn') as {
  readonly parse: (source: string, options: object) => Node
}
const { full } = require('internal/deps/acorn/acorn-walk/dist/walk') as {
  readonly full: (root: Node, onNode: (node: Node) => void) => void
}

const FUNCTION = /^(?:Arrow)?Function(?:Declaration|Expression)$/
const PRODUCT = /\/dist\/((?:core|ext-proc)\/.+)\.js$/

interface Loaded {
  readonly source?: string | Uint8Array | null
}

export async function load(
  url: string,
  context: object,
  next: (url: string, context: object) => Promise<Loaded>,
): Promise<Loaded> {
  const loaded = await next(url, context)
  const file = PRODUCT.exec(url)?.[1]
  if (file === undefined || loaded.source === undefined || loaded.source === null) return loaded
  return { ...loaded, source: instrument(Buffer.from(loaded.source).toString(), file) }
}

function instrument(source: string, file: string): string {
  const call = `globalThis.__entered?.(${JSON.stringify(file)})`
  const inserts: [at: number, text: string][] = []
  full(parse(source, { ecmaVersion: 'latest', sourceType: 'module' }), ({ type, body }) => {
    if (!FUNCTION.test(type) || body === undefined) return
    if (body.type === 'BlockStatement') inserts.push([body.start + 1, `${call};`])
    else inserts.push([body.start, `(${call},(`], [body.end, '))'])
  })
  // From the end to the beginning, so that the places before stay true. At one place, what was found last goes first.
  inserts.sort(([a], [b]) => b - a)
  let text = source
  for (const [at, inserted] of inserts) text = text.slice(0, at) + inserted + text.slice(at)
  return text
}
