import assert from 'node:assert/strict'
import { connect, type Socket } from 'node:net'
import { after, test } from 'node:test'
import { assertRefusal } from '../kit/assert-refusal.ts'
import type { Access } from '../kit/operator.ts'
import { sharedStack } from '../kit/shared-stack.ts'
import { until } from '../kit/until.ts'

// Uploads that are begun and not sent: one agent may hold a share of the memory for bodies, and the others go on.

const stack = await sharedStack()
const LARGEST_BYTES = 8_388_608
/** More than the share of an agent in one processor. */
const UPLOADS = 20

const sockets: Socket[] = []
after(() => {
  for (const socket of sockets) socket.destroy()
})

function beginUpload(access: Access, framing: string): void {
  const { hostname, port } = new URL(stack.proxyUrl)
  const socket = connect(Number(port), hostname)
  sockets.push(socket)
  socket.on('error', () => undefined)
  socket.resume()
  socket.write(
    [
      `POST /${access.base_url}/upload HTTP/1.1`,
      'Host: gateway',
      `Authorization: ${access.headers.authorization}`,
      'Content-Type: text/plain',
      framing,
      '',
      '',
    ].join('\r\n'),
  )
}

test('an agent that begins many uploads is refused further ones, and nobody else is', async () => {
  const scope = { injection_detection: { enabled: true } }
  const [flooding, other] = await Promise.all([
    stack.makeAccess({ scope }),
    stack.makeAccess({ scope }),
  ])
  const sent = stack.api.mark()
  const beginUploads = (count: number): void => {
    for (let i = 0; i < count; i++)
      beginUpload(
        flooding,
        i % 2 === 0 ? `Content-Length: ${LARGEST_BYTES}` : 'Transfer-Encoding: chunked',
      )
  }
  const send = (access: Access) =>
    stack.callAs(access, '/small', {
      method: 'POST',
      body: 'hello',
      headers: { 'content-type': 'text/plain' },
    })
  // Each processor has a share for the agent, and every one of them is used up, whichever Envoy prefers.
  const refused = await until('uploads are refused', async () => {
    beginUploads(UPLOADS)
    const answers = await Promise.all(Array.from({ length: 8 }, () => send(flooding)))
    return answers.every(({ status }) => status === 429) && answers[0]
  })
  assert.ok(refused !== undefined)
  assertRefusal(refused, 429, 'inspection_busy')
  assert.equal(refused.header('retry-after'), '1')
  assert.equal((await send(other)).status, 200)
  assert.ok(sent().every(({ path }) => !path.includes('/upload')))
  for (const socket of sockets) socket.destroy()
  await until('the agent may send again', async () => (await send(flooding)).status === 200)
})
