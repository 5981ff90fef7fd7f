import {
  BATCH_PARTS_MAX,
  type BatchPart,
  type FoundBatch,
  foldName,
  listKind,
  type NamedValue,
} from './batch.ts'
import { type FieldReader, findJsonBatch } from './find-json-batch.ts'
import { findOverrides } from './find-overrides.ts'
import { blankLineIn, nextDelimiter } from './find-multipart-overrides.ts'

/** A part that is a request: Google, OData, SharePoint; ArangoDB has a type of its own. */
const HTTP_PART =
  /content-type\s*:(?:(?!content-type\s*:)[^\r\n])*?(?:application\s*\/\s*http|batchpart)/i
const OTHER_ENCODING = /content-transfer-encoding\s*:\s*(?!binary|7bit|8bit)\S/i
const FIELD_NAME = /[\s;]name\s*=\s*"?([\w:.$-]{1,64})/i
/** `GET /items/1 HTTP/1.1`; Google also takes it without the version. */
const REQUEST_LINE =
  /^[ \t]*([!#$%&'*+.^_`|~0-9a-z-]{1,32})[ \t]+([^\s]+)(?:[ \t]+HTTP\/\d(?:\.\d)?)?[ \t]*\r?$/i
const LATER_REQUEST = /^[a-z]{3,16} \S+ HTTP\/\d/im
const MAY_BE_BATCH = /application\s*\/\s*http|batchpart|^[a-z]{3,20}[ \t]+\S+[ \t]+http\//im
const JSON_START = /^\s*[[{]/

/**
 * Finds requests in the parts of a multipart body, whatever their boundary is, and lists of calls in JSON fields of a form.
 * @param text one character per byte (latin1)
 * @param is_form whether the type is `multipart/form-data`, whose fields may hold such a line as text
 */
export function findMultipartBatch(
  text: string,
  found: FoundBatch,
  fields: FieldReader,
  is_form: boolean,
  any: boolean,
): void {
  const mayHoldRequests = MAY_BE_BATCH.test(text)
  const parts: BatchPart[] = []
  for (let start = 0, index = 0; start !== -1; index++) {
    const next = nextDelimiter(text, start + 2)
    const whole = text.slice(start, next === -1 ? text.length : next)
    start = next
    const blank = blankLineIn(whole)
    if (blank === null) continue
    const head = whole.slice(0, blank.start)
    const body = whole.slice(blank.end)
    const field = FIELD_NAME.exec(head)?.[1]
    if (field !== undefined && listKind(foldName(field)) !== null && JSON_START.test(body)) {
      if (!findJsonBatch(Buffer.from(body, 'latin1'), found, fields, any, field))
        found.unread ??= field
    }
    if (!mayHoldRequests) continue
    const isHttp = HTTP_PART.test(head)
    if (!isHttp && (is_form || !REQUEST_LINE.test(firstLine(body)))) continue
    if (parts.length > BATCH_PARTS_MAX) break
    parts.push(readPart(head, body, `part[${parts.length}]`, fields))
  }
  if (parts.length === 0) return
  if (parts.length > BATCH_PARTS_MAX) found.unread ??= 'multipart'
  found.lists.push({ is_certain: true, parts })
}

const firstLine = (text: string): string => /^\s*([^\r\n]*)/.exec(text)?.[1] ?? ''

function readPart(head: string, body: string, place: string, fields: FieldReader): BatchPart {
  const start = body.search(/\S/)
  const text = start === -1 ? '' : body.slice(start)
  const blank = blankLineIn(text)
  const top = blank === null ? text : text.slice(0, blank.start)
  const [line = '', ...lines] = top.replace(/\r?\n[ \t]+/g, ' ').split(/\r?\n|\r/)
  const request = REQUEST_LINE.exec(line)
  const methods: NamedValue[] = []
  const addresses: NamedValue[] = []
  const hosts: NamedValue[] = []
  const unread =
    request === null || OTHER_ENCODING.test(head) || lines.length > HEADERS_MAX
      ? 'request line'
      : blank !== null && LATER_REQUEST.test(text.slice(blank.end))
        ? 'second request'
        : null
  if (request !== null) {
    methods.push({ value: request[1] ?? '', name: 'method' })
    addresses.push({ value: request[2] ?? '', name: 'path' })
  }
  for (const one of lines.slice(0, HEADERS_MAX)) {
    const colon = one.indexOf(':')
    if (colon <= 0) continue
    const header = {
      name: one.slice(0, colon).trim().toLowerCase(),
      value: one.slice(colon + 1).trim(),
    }
    if (header.name === 'host') hosts.push({ value: header.value, name: 'host' })
    const said = findOverrides([header], null)
    for (const value of said.methods) methods.push({ value, name: header.name })
    for (const { kind, value } of said.addresses)
      (kind === 'host' ? hosts : addresses).push({ value, name: header.name })
  }
  if (blank !== null) {
    const said = fields(text.slice(blank.end))
    for (const value of said.methods) methods.push({ value, name: 'body' })
    for (const { value } of said.addresses) addresses.push({ value, name: 'body' })
  }
  return { place, methods, addresses, hosts, unread }
}

/** Of one part. */
const HEADERS_MAX = 64
