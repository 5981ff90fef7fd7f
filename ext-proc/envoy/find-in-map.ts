import type { ProtobufReader } from './protobuf-reader.ts'

const FIRST = 10
const KEY = 10
const VALUE = 18
const STRING_VALUE = 26

/** Enters the map that is field 1 of the message, and calls `found` at the value of each wanted key. */
export function findInMap(
  reader: ProtobufReader,
  wanted: readonly string[],
  found: (key: string) => void,
): void {
  const outer = reader.enter()
  while (!reader.atEnd) {
    const tag = reader.varint()
    if (tag !== FIRST) {
      reader.skip(tag & 7)
      continue
    }
    const pair = reader.enter()
    let key = ''
    while (!reader.atEnd) {
      const part = reader.varint()
      if (part === KEY) key = reader.latin1()
      else if (part === VALUE && wanted.includes(key)) found(key)
      else reader.skip(part & 7)
    }
    reader.leave(pair)
  }
  reader.leave(outer)
}

/** The text of a google.protobuf.Value; empty for other values. */
export const readStringValue = (reader: ProtobufReader): string => reader.textIn(STRING_VALUE) ?? ''
