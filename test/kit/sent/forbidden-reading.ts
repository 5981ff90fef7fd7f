import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib'
import { DENIED_TOOL, INJECTION } from './random-body.ts'

/** A request as the API received it. */
export interface Arrived {
  readonly query: string
  readonly content_type: string
  readonly body: Buffer
}

/**
 * Reads what the API received in the ways that servers read it, with other programs than the gateway's.
 * @returns a reading that the scope forbids; null if there is none
 */
export function forbiddenReading({ query, content_type, body }: Arrived): string | null {
  if (overrides(query)) return 'a method in the query'
  const isForm =
    content_type === '' || content_type.includes(',') || /urlencoded/i.test(content_type)
  const isData = /^image|octet-stream/.test(content_type)
  for (const bytes of inflated(body)) {
    const text = bytes.toString('utf8')
    if (text.includes(INJECTION)) return 'an attack'
    if (isForm && overrides(text)) return 'a method in a form'
    for (const value of [text, bytes.toString('utf16le')].flatMap(jsonOf)) {
      const { method, params, _method } = value
      if (method === 'tools/call' && params?.name === DENIED_TOOL) return 'a denied tool'
      if (!isData && _method === 'DELETE') return 'a method in JSON'
    }
  }
  return null
}

const overrides = (text: string): boolean =>
  new URLSearchParams(text).getAll('_method').includes('DELETE')

/** Undone whatever the headers say: the API may ignore them. */
function inflated(body: Buffer): readonly Buffer[] {
  const layers = [body]
  for (const undo of [gunzipSync, inflateSync, brotliDecompressSync])
    for (const bytes of layers.slice())
      try {
        layers.push(undo(bytes))
      } catch {
        // It is not in this encoding.
      }
  return layers
}

/** The objects of a JSON text, also in a batch. */
function jsonOf(text: string): readonly any[] {
  try {
    return [JSON.parse(text.trim().replace(/^\ufeff/, ''))]
      .flat(3)
      .filter((value) => typeof value === 'object' && value !== null)
  } catch {
    return []
  }
}
