/**
 * Writes protobuf's wire format from the end to the beginning, so that a message's length is known when its
 * prefix is written, and nothing is measured or copied twice. Fields are therefore written in reverse order.
 */
export class ProtobufWriter {
  #bytes: Buffer
  #at: number

  constructor(initial_bytes: number) {
    this.#bytes = Buffer.allocUnsafe(initial_bytes)
    this.#at = initial_bytes
  }

  /** Bytes written so far; pass this as the mark to `close`. */
  get length(): number {
    return this.#bytes.length - this.#at
  }

  varintField(field: number, value: number): void {
    this.#varint(value)
    this.#varint(field * 8)
  }

  bytesField(field: number, value: Buffer): void {
    this.#room(value.length)
    this.#at -= value.length
    value.copy(this.#bytes, this.#at)
    this.#varint(value.length)
    this.#varint(field * 8 + 2)
  }

  /** One byte for each character: the text is ASCII, or was read by `latin1`. */
  latin1Field(field: number, value: string): void {
    this.#room(value.length)
    this.#at -= value.length
    this.#bytes.write(value, this.#at, 'latin1')
    this.#varint(value.length)
    this.#varint(field * 8 + 2)
  }

  /** Turns everything written since `mark` into the content of a message field. */
  close(field: number, mark: number): void {
    this.#varint(this.length - mark)
    this.#varint(field * 8 + 2)
  }

  /** A copy of the message; the writer is empty again. */
  take(): Buffer {
    const message = Buffer.from(this.#bytes.subarray(this.#at))
    this.#at = this.#bytes.length
    return message
  }

  #varint(value: number): void {
    let size = 1
    for (let rest = value; rest >= 128; rest = Math.floor(rest / 128)) size++
    this.#room(size)
    this.#at -= size
    let at = this.#at
    let rest = value
    for (; rest >= 128; rest = Math.floor(rest / 128)) this.#bytes[at++] = (rest % 128) | 128
    this.#bytes[at] = rest
  }

  #room(size: number): void {
    if (this.#at >= size) return
    const written = this.length
    const larger = Buffer.allocUnsafe(Math.max(this.#bytes.length * 2, written + size))
    this.#bytes.copy(larger, larger.length - written, this.#at)
    this.#at = larger.length - written
    this.#bytes = larger
  }
}
