import type { Socket } from 'node:net'
import { STATUS_CODES } from 'node:http'
import { mintId } from '../../core/keys/api-key.ts'
import { errorReply } from './error-reply.ts'
import type { AdminErrorCode } from './admin-errors.ts'

const CODES: Readonly<Record<string, AdminErrorCode>> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
}

/** Malformed HTTP gets a JSON error too, if the connection is still writable. */
export function answerClientError(error: { readonly code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
  const issues = [{ path: '', message: 'is not well-formed HTTP' }]
  const code = CODES[error.code ?? ''] ?? 'validation_failed'
  const details = code === 'validation_failed' ? { issues } : {}
  const { status, body } = errorReply({ kind: 'refusal', error: code, details }, mintId('req'))
  const text = JSON.stringify(body)
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\nContent-Type: application/json\r\n` +
      `X-Agw-Reason: ${code}\r\nContent-Length: ${Buffer.byteLength(text)}\r\nConnection: close\r\n\r\n${text}`,
  )
}
