import assert from 'node:assert/strict'
import type { AddressInfo, Socket } from 'node:net'
import { createServer } from 'node:net'
import { test } from 'node:test'
import { AddressPolicy } from '../../core/egress/address-policy.ts'
import { createHostResolver } from '../../core/egress/resolve-host.ts'
import { type FormAnswer, postForm } from '../../core/token/post-form.ts'

const EGRESS = {
  policy: new AddressPolicy(['127.0.0.0/8']),
  resolve: createHostResolver([]),
  extra_ca_file: null,
  proxy: null,
}
const FORM = { headers: {}, body: 'grant_type=client_credentials' }

/** Posts a form to an endpoint that answers so, byte for byte. */
async function postTo(serve: (socket: Socket) => void, deadline: AbortSignal): Promise<FormAnswer> {
  const sockets: Socket[] = []
  const server = createServer((socket) => {
    sockets.push(socket)
    socket.on('error', () => undefined)
    socket.once('data', () => serve(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const answer = await postForm(EGRESS, `http://127.0.0.1:${port}/t`, FORM, deadline)
  for (const socket of sockets) socket.destroy()
  await new Promise((resolve) => server.close(resolve))
  return answer
}

/** Endless; stops when the client has disconnected. */
function writeOnAndOn(socket: Socket, text: string): void {
  while (!socket.destroyed && socket.write(text));
  if (!socket.destroyed) socket.once('drain', () => writeOnAndOn(socket, text))
}

const never = (): AbortSignal => new AbortController().signal

test('whatever an endpoint answers, it is over: nothing waits for an end that does not come', async () => {
  const failed = (cause: string) => ({ kind: 'failed', cause })
  const rows: ReadonlyArray<readonly [string, (socket: Socket) => void, object]> = [
    [
      'becomes another protocol',
      (socket) =>
        socket.write('HTTP/1.1 101 Over\r\nConnection: upgrade\r\nUpgrade: other\r\n\r\nhello'),
      failed('connection_failed'),
    ],
    ['closes', (socket) => socket.end(), failed('connection_failed')],
    ['resets', (socket) => socket.resetAndDestroy(), failed('connection_failed')],
    [
      'cuts its answer',
      (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n{"access'),
      failed('connection_failed'),
    ],
    [
      'sends a body without end',
      (socket) => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n')
        writeOnAndOn(socket, ' '.repeat(65_536))
      },
      failed('answer_too_large'),
    ],
    [
      'sends a header without end',
      (socket) => {
        socket.write('HTTP/1.1 200 OK\r\nx: ')
        writeOnAndOn(socket, 'x'.repeat(65_536))
      },
      failed('connection_failed'),
    ],
    [
      'sends trailers without end',
      (socket) => {
        socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nx: ')
        writeOnAndOn(socket, 'x'.repeat(65_536))
      },
      failed('connection_failed'),
    ],
    [
      'sends two answers',
      (socket) =>
        socket.write(
          'HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n1HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n2',
        ),
      { kind: 'answered', status: 200, body: Buffer.from('1') },
    ],
  ]
  for (const [name, serve, expected] of rows)
    assert.deepEqual(await postTo(serve, never()), expected, name)
})

test('an endpoint that says "go on" for ever is left at the deadline', async () => {
  const deadline = new AbortController()
  const answer = await postTo((socket) => {
    writeOnAndOn(socket, 'HTTP/1.1 100 Continue\r\n\r\n')
    deadline.abort()
  }, deadline.signal)
  assert.deepEqual(answer, { kind: 'failed', cause: 'timeout' })
})
