import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { FastifyReply } from 'fastify'
import { acceptedEncoding } from './accepted-encoding.ts'
import type { Answer } from './outcome.ts'

/** Shorter answers fit into a packet or two as they are. */
const COMPRESSED_FROM_CHARACTERS = 2_048
/** Smaller than gzip at its best, in the time of gzip at its fastest. */
const BROTLI_QUALITY = 4
const ways = { br: promisify(brotliCompress), gzip: promisify(gzip) } as const
const OPTIONS = {
  br: { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } },
  gzip: {},
} as const

/** Sends an answer in the best encoding that the request accepts; it is compressed in a thread of the system's pool. */
export async function sendCompressed(
  reply: FastifyReply,
  { status, headers, body }: Answer,
  accepted: string | undefined,
): Promise<FastifyReply> {
  const text = JSON.stringify(body)
  const encoding = text.length < COMPRESSED_FROM_CHARACTERS ? null : acceptedEncoding(accepted)
  reply
    .code(status)
    .headers({ ...headers, vary: 'accept-encoding' })
    .type('application/json; charset=utf-8')
  if (encoding === null) return reply.send(text)
  const packed = await ways[encoding](text, OPTIONS[encoding])
  return reply.header('content-encoding', encoding).send(packed)
}
