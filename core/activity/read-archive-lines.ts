import { createReadStream } from 'node:fs'
import { pipeline, type Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'

/**
 * The lines of an hour file, plain or compressed.
 * @throws (rejects) when it cannot be read, or its compressed data is damaged; the lines before that have been returned
 */
export async function* readArchiveLines(path: string): AsyncGenerator<string> {
  const file = createReadStream(path)
  // The reader of the lines gets the error.
  const text: Readable = path.endsWith('.gz')
    ? pipeline(file, createGunzip(), () => undefined)
    : file
  text.setEncoding('utf8')
  let rest = ''
  for await (const chunk of text as AsyncIterable<string>) {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
  if (rest !== '') yield rest
}
