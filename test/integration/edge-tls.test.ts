import assert from 'node:assert/strict'
import { copyFileSync, readFileSync } from 'node:fs'
import { connect as connectHttp2, constants } from 'node:http2'
import { join } from 'node:path'
import { test } from 'node:test'
import { connect, type ConnectionOptions } from 'node:tls'
import { startServer } from '../../ext-proc/envoy/start-server.ts'
import { freePort } from '../kit/free-port.ts'
import { issueCertificate } from '../kit/issue-certificate.ts'
import { makeCertificates } from '../kit/make-certificates.ts'
import { tempFolder } from '../kit/temp-folder.ts'
import { until } from '../kit/until.ts'

interface Files {
  readonly cert_file: string
  readonly key_file: string
}

const keyPair = ({ cert_file, key_file }: Files) => ({
  cert: readFileSync(cert_file),
  key: readFileSync(key_file),
})

/** What a gRPC health check gets: the status of its answer, or null without one. */
const check = (port: number, options: ConnectionOptions): Promise<number | null> =>
  new Promise((resolve) => {
    const session = connectHttp2(`https://127.0.0.1:${port}`, {
      createConnection: () =>
        connect({ host: '127.0.0.1', port, ALPNProtocols: ['h2'], ...options }),
    })
    const finish = (status: number | null): void => {
      session.destroy()
      resolve(status)
    }
    for (const event of ['error', 'close', 'goaway']) session.once(event, () => finish(null))
    const call = session.request({
      [constants.HTTP2_HEADER_METHOD]: 'POST',
      [constants.HTTP2_HEADER_PATH]: '/grpc.health.v1.Health/Check',
      'content-type': 'application/grpc',
    })
    const chunks: Buffer[] = []
    call.on('data', (chunk: Buffer) => chunks.push(chunk))
    call.once('error', () => finish(null))
    call.once('end', () => {
      const bytes = Buffer.concat(chunks)
      if (bytes.length > 0) finish(bytes.at(-1) ?? null)
    })
    call.end(Buffer.alloc(5))
  })

const SERVING = 1
const NOT_SERVING = 2

test('only an Envoy with an allowed name may connect; a renewed certificate and CA are used without a restart', async () => {
  const ca = await makeCertificates(['ext-proc.test'])
  const [envoy, other] = await Promise.all([
    issueCertificate(ca, ['envoy.test']),
    issueCertificate(ca, ['other.test']),
  ])
  const folder = tempFolder('edge-tls')
  const tls = {
    cert_file: join(folder, 'tls.crt'),
    key_file: join(folder, 'tls.key'),
    ca_file: join(folder, 'ca.crt'),
    client_sans: ['envoy.test'],
  }
  copyFileSync(ca.cert_file, tls.cert_file)
  copyFileSync(ca.key_file, tls.key_file)
  copyFileSync(ca.ca_file, tls.ca_file)
  const port = await freePort()
  let isServing = true
  const server = await startServer(
    { address: `127.0.0.1:${port}`, tls, message_limit_bytes: 1024 },
    { is_serving: () => isServing },
  )
  const serverName = { servername: 'ext-proc.test', ca: ca.ca }
  const allowed = { ...serverName, ...keyPair(envoy) }
  assert.equal(await check(port, allowed), SERVING)
  assert.equal(await check(port, { ...serverName, ...keyPair(other) }), null)
  assert.equal(await check(port, { ...serverName, cert: ca.cert, key: ca.key }), null)
  assert.equal(await check(port, serverName), null)
  isServing = false
  assert.equal(await check(port, allowed), NOT_SERVING)
  isServing = true

  // Resumed sessions are judged by the same certificate.
  const sessions: Buffer[] = []
  const first = connect({ host: '127.0.0.1', port, ALPNProtocols: ['h2'], ...allowed })
  first.on('session', (session: Buffer) => sessions.push(session))
  await until('the server hands out a session', () => sessions.length > 0)
  first.destroy()
  const session = sessions[0]
  assert.ok(session)
  assert.equal(await check(port, { ...allowed, session }), SERVING)

  // A certificate without its key is what a reader sees in the middle of a renewal: the one before stays in use.
  const next = await makeCertificates(['renewed.test'])
  const newEnvoy = await issueCertificate(next, ['envoy.test'])
  copyFileSync(next.cert_file, tls.cert_file)
  assert.equal(await check(port, allowed), SERVING)
  copyFileSync(next.key_file, tls.key_file)
  copyFileSync(next.ca_file, tls.ca_file)
  const renewed = { servername: 'renewed.test', ca: next.ca, ...keyPair(newEnvoy) }
  await until('the new certificate is used', async () => (await check(port, renewed)) === SERVING)
  assert.equal(await check(port, { ...allowed, ca: next.ca, servername: 'renewed.test' }), null)
  assert.equal(
    await check(port, { ...allowed, ca: next.ca, servername: 'renewed.test', session }),
    null,
    'a session from before the CA was replaced',
  )
  server.forceShutdown()
})
