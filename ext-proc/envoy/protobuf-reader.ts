/** Reads the protobuf wire format from one Buffer. Truncated or malformed messages throw. */
export class ProtobufReader {
  readonly #bytes: Buffer
  #at: number
  #end: number

  constructor(bytes: Buffer) {
    this.#bytes = bytes
    this.#at = 0
    this.#end = bytes.length
  }

  get atEnd(): boolean {
    return this.#at >= this.#end
  }

  /** A tag: field number × 8 + wire type. */
  varint(): number {
    let value = 0
    let weight = 1
    for (let i = 0; i < 10; i++) {
      const byte = this.#bytes[this.#at++]
      if (byte === undefined || this.#at > this.#end) throw new Error('protobuf: truncated')
      value += (byte & 127) * weight
      if (byte < 128) return value
      weight *= 128
    }
    throw new Error('protobuf: varint too long')
  }

  fixed64(): bigint {
    if (this.#at + 8 > this.#end) throw new Error('protobuf: truncated')
    const value = this.#bytes.readBigUInt64LE(this.#at)
    this.#at += 8
    return value
  }

  /** The bytes of a length-delimited field; they share memory with the message. */
  bytes(): Buffer {
    const stop = this.#stop()
    const part = this.#bytes.subarray(this.#at, stop)
    this.#at = stop
    return part
  }

  /** The same as text, one character per byte: header values are bytes, and most are ASCII. */
  latin1(): string {
    const stop = this.#stop()
    const text = this.#bytes.toString('latin1', this.#at, stop)
    this.#at = stop
    return text
  }

  /** Enters a message field. Pass the result to `leave`. */
  enter(): number {
    const outer = this.#end
    this.#end = this.#stop()
    return outer
  }

  leave(outer: number): void {
    this.#at = this.#end
    this.#end = outer
  }

  /** The text with this tag in the message that follows; null if there is none. */
  textIn(wanted: number): string | null {
    const outer = this.enter()
    let text: string | null = null
    while (!this.atEnd) {
      const tag = this.varint()
      if (tag === wanted) text = this.latin1()
      else this.skip(tag & 7)
    }
    this.leave(outer)
    return text
  }

  skip(wireType: number): void {
    switch (wireType) {
      case 0:
        this.varint()
        return
      case 1:
        this.#at += 8
        break
      case 2:
        this.#at = this.#stop()
        return
      case 5:
        this.#at += 4
        break
      default:
        throw new Error(`protobuf: unknown wire type ${wireType}`)
    }
    if (this.#at > this.#end) throw new Error('protobuf: truncated')
  }

  #stop(): number {
    const length = this.varint()
    const stop = this.#at + length
    if (stop > this.#end) throw new Error('protobuf: truncated')
    return stop
  }
}
