import { createReadStream } from 'node:fs'
import { pipeline, type Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'

/** A line has 33 kB at most. A damaged or foreign file may be one that never ends. */
const LINE_CHARACTERS_MAX = 1 << 20

/**
 * The lines of an hour file, plain or compressed.
 * @throws (rejects) when it cannot be read, its compressed data is damaged or a line is too long; the lines before that have been
 * returned
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
    if (rest.length > LINE_CHARACTERS_MAX)
      throw new Error(
        `a line has more than ${LINE_CHARACTERS_MAX} characters, so it is not an archive line. Restore another copy of the file`,
      )
  }
  if (rest !== '') yield rest
}
