import { readFileSync } from 'node:fs'
import grpc from '@grpc/grpc-js'

/** A client of gRPC: unary calls, a stream, and a call that fails. */
const roots = readFileSync(process.env.SSL_CERT_FILE)
const client = new grpc.Client('grpc.vendor.test:443', grpc.credentials.createSsl(roots))
const same = (value) => value
const one = Buffer.from('one')
const unary = (path) =>
  new Promise((resolve, reject) => {
    client.makeUnaryRequest(path, same, same, one, (error, value) =>
      error ? reject(error) : resolve(value),
    )
  })
for (let turn = 0; turn < 6; turn++)
  if (String(await unary('/t.T/Unary')) !== 'one') throw new Error('another answer')
const parts = []
for await (const part of client.makeServerStreamRequest('/t.T/Stream', same, same, one))
  parts.push(String(part))
if (parts.join() !== 'one,one,one') throw new Error(parts.join())
const { code, details } = await unary('/t.T/Missing').catch((error) => error)
if (code !== grpc.status.NOT_FOUND || details !== 'no such release') throw new Error(details)
client.close()
console.log('The session is complete.')
