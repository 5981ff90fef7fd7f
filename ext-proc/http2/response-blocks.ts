/** Header blocks of gRPC's answers, written without a table (RFC 7541), so that they are the same on every connection. */

const INDEXED_STATUS_200 = 0x88
/** A header that is not added to the table, with its name spelled out. */
const LITERAL = 0x00

export function literalHeader(name: string, value: string): Buffer {
  return Buffer.concat([Buffer.from([LITERAL]), text(name), text(value)])
}

/** Without Huffman codes. */
function text(content: string): Buffer {
  return Buffer.concat([lengthOf(content.length), Buffer.from(content, 'latin1')])
}

/** An integer in the seven lower bits of a byte and what more it takes. */
function lengthOf(length: number): Buffer {
  if (length < 127) return Buffer.from([length])
  const bytes = [127]
  let rest = length - 127
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128)
  bytes.push(rest)
  return Buffer.from(bytes)
}

export const RESPONSE_HEADERS = Buffer.concat([
  Buffer.from([INDEXED_STATUS_200]),
  literalHeader('content-type', 'application/grpc'),
])
export const STATUS_OK = literalHeader('grpc-status', '0')
