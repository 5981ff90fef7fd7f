import { readHuffman } from './huffman.ts'

/** RFC 7541, Appendix A. */
const STATIC_NAMES =
  ':authority :method :method :path :path :scheme :scheme :status :status :status :status :status :status :status accept-charset accept-encoding accept-language accept-ranges accept access-control-allow-origin age allow authorization cache-control content-disposition content-encoding content-language content-length content-location content-range content-type cookie date etag expect expires from host if-match if-modified-since if-none-match if-range if-unmodified-since last-modified link location max-forwards proxy-authenticate proxy-authorization range referer refresh retry-after server set-cookie strict-transport-security transfer-encoding user-agent vary via www-authenticate'.split(
    ' ',
  )
const STATIC_VALUES = new Map<number, string>([
  [2, 'GET'],
  [3, 'POST'],
  [4, '/'],
  [5, '/index.html'],
  [6, 'http'],
  [7, 'https'],
  [8, '200'],
  [9, '204'],
  [10, '206'],
  [11, '304'],
  [12, '400'],
  [13, '404'],
  [14, '500'],
  [16, 'gzip, deflate'],
])
const STATIC: readonly Entry[] = STATIC_NAMES.map((name, i) => ({
  name,
  value: STATIC_VALUES.get(i + 1) ?? '',
}))

/** The default size of HTTP/2, and the only one that is offered. */
const TABLE_BYTES = 4_096
/** Counted for each entry in addition to its letters. */
const ENTRY_BYTES = 32
/** More than any length or index that is allowed here. */
const INTEGER_LIMIT = 1 << 24

interface Entry {
  readonly name: string
  readonly value: string
}

/** Reads the header blocks of one connection, in their order: each may add to a table that the next ones refer to. */
export class HpackDecoder {
  /** Oldest first. */
  readonly #entries: Entry[] = []
  #bytes = 0
  #limit_bytes = TABLE_BYTES
  #block: Buffer = Buffer.alloc(0)
  #at = 0

  /**
   * @param onHeader is given each header of the block, text one character a byte
   * @throws when the block is malformed, after which the connection is of no more use
   */
  read(block: Buffer, onHeader: (name: string, value: string) => void): void {
    this.#block = block
    this.#at = 0
    let mayResize = true
    while (this.#at < block.length) {
      const byte = block[this.#at] ?? 0
      if (byte >= 0x20 && byte < 0x40) {
        if (!mayResize) throw new Error('HPACK: a new table size within a block')
        this.#resize(this.#integer(5))
        continue
      }
      mayResize = false
      const { name, value } = this.#header(byte)
      onHeader(name, value)
    }
  }

  #header(byte: number): Entry {
    if (byte >= 0x80) return this.#entry(this.#integer(7))
    // With the next bit set the header is added to the table, else it is not.
    const isKept = byte >= 0x40
    const index = this.#integer(isKept ? 6 : 4)
    const name = index === 0 ? this.#text() : this.#entry(index).name
    const header = { name, value: this.#text() }
    if (isKept) this.#keep(header)
    return header
  }

  #entry(index: number): Entry {
    const entry =
      index <= STATIC.length
        ? STATIC[index - 1]
        : this.#entries[this.#entries.length - (index - STATIC.length)]
    if (entry === undefined) throw new Error('HPACK: no such entry')
    return entry
  }

  #keep(entry: Entry): void {
    this.#entries.push(entry)
    this.#bytes += sizeOf(entry)
    this.#evict()
  }

  #resize(limit_bytes: number): void {
    if (limit_bytes > TABLE_BYTES) throw new Error('HPACK: a table larger than was offered')
    this.#limit_bytes = limit_bytes
    this.#evict()
  }

  #evict(): void {
    while (this.#bytes > this.#limit_bytes) {
      const oldest = this.#entries.shift()
      if (oldest === undefined) return
      this.#bytes -= sizeOf(oldest)
    }
  }

  /** @param bits how many of the first byte belong to the number */
  #integer(bits: number): number {
    const most = 2 ** bits - 1
    let value = this.#byte() & most
    if (value < most) return value
    for (let weight = 1; ; weight *= 128) {
      const byte = this.#byte()
      value += (byte & 127) * weight
      if (value > INTEGER_LIMIT || weight > INTEGER_LIMIT)
        throw new Error('HPACK: a number is too large')
      if (byte < 128) return value
    }
  }

  #text(): string {
    const isHuffman = (this.#block[this.#at] ?? 0) >= 128
    const length = this.#integer(7)
    const end = this.#at + length
    if (end > this.#block.length) throw new Error('HPACK: cut short')
    const bytes = this.#block.subarray(this.#at, end)
    this.#at = end
    return isHuffman ? readHuffman(bytes) : bytes.toString('latin1')
  }

  #byte(): number {
    const byte = this.#block[this.#at++]
    if (byte === undefined) throw new Error('HPACK: cut short')
    return byte
  }
}

const sizeOf = ({ name, value }: Entry): number => name.length + value.length + ENTRY_BYTES
