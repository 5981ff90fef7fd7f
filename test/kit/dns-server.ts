import { createSocket } from 'node:dgram'
import { isIPv4, isIPv6 } from 'node:net'

const TYPE_A = 1
const TYPE_AAAA = 28
const NAME_ERROR = 3
/** Envoy asks again at least as often as the time to live allows; 1 s keeps rebinding tests short. */
const TTL_S = 1

export interface KitDns {
  /** `127.0.0.1:port`, as AGW_DNS_RESOLVERS wants it. */
  readonly address: string
  /** How often a name was asked for, by the tests' own count. */
  readonly asked: (name: string) => number
  /** The addresses of a name from now on; an array of arrays is answered one after the other, the last one for ever. */
  readonly set: (
    name: string,
    addresses: readonly string[] | readonly (readonly string[])[],
  ) => void
  readonly stop: () => Promise<void>
}

/**
 * A DNS server over UDP for the names in a table.
 * @param otherwise the addresses of any other name; without them there is no such name
 */
export async function startDnsServer(
  table: Readonly<Record<string, readonly string[]>>,
  otherwise?: readonly string[],
): Promise<KitDns> {
  const answers = new Map<string, (readonly string[])[]>()
  const counts = new Map<string, number>()
  for (const [name, addresses] of Object.entries(table)) answers.set(name, [addresses])
  const socket = createSocket('udp4')
  socket.on('message', (query, from) => {
    const question = readQuestion(query)
    if (question === null) return
    counts.set(question.name, (counts.get(question.name) ?? 0) + 1)
    const turns = answers.get(question.name)
    const [now = otherwise ?? []] = turns ?? []
    const fits =
      question.type === TYPE_A ? isIPv4 : question.type === TYPE_AAAA ? isIPv6 : () => false
    const found = now.filter(fits)
    if (turns !== undefined && turns.length > 1 && found.length > 0) turns.shift()
    socket.send(
      answerTo(query, question, turns === undefined && otherwise === undefined ? null : found),
      from.port,
      from.address,
    )
  })
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
  return {
    address: `127.0.0.1:${socket.address().port}`,
    asked: (name) => counts.get(name) ?? 0,
    set: (name, addresses) => {
      const turns =
        typeof addresses[0] === 'string' || addresses.length === 0 ? [addresses] : addresses
      answers.set(name, [...turns] as (readonly string[])[])
    },
    stop: () => new Promise((resolve) => socket.close(() => resolve())),
  }
}

interface Question {
  readonly name: string
  readonly type: number
  /** Where the question section ends. */
  readonly end: number
}

function readQuestion(query: Buffer): Question | null {
  const labels: string[] = []
  let at = 12
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    if (length > 63 || labels.length > 127) return null
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  if (at + 5 > query.length) return null
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 }
}

/** `addresses` null: there is no such name. */
function answerTo(query: Buffer, question: Question, addresses: readonly string[] | null): Buffer {
  const head = Buffer.alloc(12)
  query.copy(head, 0, 0, 2)
  // A response, authoritative, recursion desired and available.
  head.writeUInt16BE(0x8580 | (addresses === null ? NAME_ERROR : 0), 2)
  head.writeUInt16BE(1, 4)
  head.writeUInt16BE(addresses?.length ?? 0, 6)
  const records = (addresses ?? []).map((address) => {
    const data = addressBytes(address)
    const record = Buffer.alloc(12)
    // A pointer to the name in the question.
    record.writeUInt16BE(0xc00c, 0)
    record.writeUInt16BE(question.type, 2)
    record.writeUInt16BE(1, 4)
    record.writeUInt32BE(TTL_S, 6)
    record.writeUInt16BE(data.length, 10)
    return Buffer.concat([record, data])
  })
  return Buffer.concat([head, query.subarray(12, question.end), ...records])
}

function addressBytes(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split('.').map(Number))
  const [left = '', right] = address.split('::')
  const groups = (text: string): number[] =>
    text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16))
  const before = groups(left)
  const after = right === undefined ? [] : groups(right)
  const bytes = Buffer.alloc(16)
  before.forEach((group, i) => void bytes.writeUInt16BE(group, i * 2))
  after.forEach((group, i) => void bytes.writeUInt16BE(group, (8 - after.length + i) * 2))
  return bytes
}
