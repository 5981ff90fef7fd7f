import { connect } from 'node:net'
import type { OverrideShape } from './override-shapes.ts'

/** What a server saw: null where it refused the request, or did not answer with the two. */
export type SeenCall = { readonly method: string; readonly path: string } | null

/** A server that says nothing for this long has no answer to this request. */
const SILENCE_MS = 5_000

/** Sends the bytes as they are. */
export function sendShape(port: number, shape: OverrideShape): Promise<SeenCall> {
  const { method, target, headers, body } = shape
  const lines = [
    `${method} ${target} HTTP/1.1`,
    'Host: x',
    'Connection: close',
    ...(body === '' && method === 'GET' ? [] : [`Content-Length: ${body.length}`]),
    ...headers.map(([name, value]) => `${name}: ${value}`),
  ]
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    let text = ''
    socket.setTimeout(SILENCE_MS, () => socket.destroy())
    socket.on('data', (bytes) => (text += bytes.toString('latin1')))
    socket.once('error', () => socket.destroy())
    socket.once('close', () => resolve(seenIn(text)))
    socket.write(Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}`, 'latin1'))
  })
}

function seenIn(answer: string): SeenCall {
  const json = /\{"(?:method|path)":.*\}/.exec(answer)?.[0]
  if (json === undefined) return null
  try {
    const { method, path } = JSON.parse(json)
    return typeof method === 'string' && typeof path === 'string' ? { method, path } : null
  } catch {
    return null
  }
}
