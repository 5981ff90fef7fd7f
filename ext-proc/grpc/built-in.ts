import { Http2Connection } from '../http2/connection.ts'
import { literalHeader } from '../http2/response-blocks.ts'
import { GRPC_STATUS, type GrpcMethods, type ServeConnection } from './grpc-call.ts'
import { GrpcStream } from './grpc-stream.ts'

const UNSUPPORTED_MEDIA_TYPE = Buffer.concat([
  literalHeader(':status', '415'),
  literalHeader('content-type', 'text/plain'),
])

/**
 * The default transport: made for few peers and many short calls. What grpc-js and node:http2 spend on a call is more than the
 * decision takes.
 * @param limit_bytes of one message
 */
export const serveBuiltIn =
  (methods: GrpcMethods, limit_bytes: number): ServeConnection =>
  (socket) => {
    const connection: Http2Connection = new Http2Connection(socket, (stream, head) => {
      const { method, path, content_type } = head
      const call = new GrpcStream(connection, stream, head, limit_bytes)
      const handle = methods.get(path)
      if (method !== 'POST' || !content_type.startsWith('application/grpc'))
        connection.sendTrailers(stream, UNSUPPORTED_MEDIA_TYPE)
      else if (handle === undefined) call.fail(GRPC_STATUS.unimplemented, `no such method: ${path}`)
      else call.begin(handle)
      return call
    })
    return connection
  }
