import type { Row, Subject } from './subjects.ts'

const SENTENCE = 'The report of last week is ready, and the next one will follow on Monday. '

/** The request of a row as it goes on the wire: a GET, or a chat in ordinary words. */
export function requestOf(
  { path, headersOf }: Pick<Subject, 'path' | 'headersOf'>,
  row: Row,
): string {
  const target = row.streams === true ? `${path}/events` : path
  const head = `${target} HTTP/1.1\r\nhost: bench\r\n${headersOf(row)}`
  const body = row.body_bytes === 0 ? '' : chatOf(row.body_bytes)
  return body === ''
    ? `GET ${head}\r\n`
    : `POST ${head}content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`
}

/** A chat in ordinary words. */
export function chatOf(bytes: number): string {
  const words = SENTENCE.repeat(Math.ceil(bytes / SENTENCE.length))
  const text = (length: number): string =>
    JSON.stringify({ model: 'm', messages: [{ role: 'user', content: words.slice(0, length) }] })
  return text(bytes - text(0).length)
}
