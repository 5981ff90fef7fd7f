import { type BodyField, type FieldsThatMatter, fieldsThatMatter } from './fields-that-matter.ts'
import type { Excerpt } from './sealed-excerpt.ts'
import { maskSecrets, maskWithin } from '../masking/mask-secrets.ts'
import type { Header } from '../request/header.ts'
import { inflateBody } from '../scanner/format/inflate-body.ts'

/** As JSON. */
const EXCERPT_MAX_BYTES = 8_192
const BODY_MAX_CHARACTERS = 6_144
/** Read after the part that is shown, so that a secret that begins in it is found. */
const LOOK_AHEAD_CHARACTERS = 4_096
const HEADERS_MAX = 20
const FIELD_MAX_CHARACTERS = 200
const FIELDS_MAX_BYTES = 2_048
const HEADER_MAX_CHARACTERS = 200
/** A compressed body that becomes longer is not shown. */
const INFLATED_MAX_BYTES = 1_048_576
/** Nothing that could reorder the text or hide a part of it; line feeds and tabs stay. */
export const UNPRINTABLE = /[^\P{C}\n\t]|[\u2028\u2029]/gu

export function makeExcerpt(headers: readonly Header[], body: Buffer): Excerpt {
  const shown = headers
    .slice(0, HEADERS_MAX)
    .map(({ name, value }) => [name, shownHeader(name, value)] as const)
  const bytes = bytesOf(headers, body)
  const text = textOf(bytes)
  const matters = text === null ? null : shownFields(headers, bytes)
  let length = BODY_MAX_CHARACTERS
  for (;;) {
    const part = text === null ? null : text.slice(0, length)
    const masked =
      part === null || text === null
        ? null
        : clean(maskWithin('', part, text.slice(length, length + LOOK_AHEAD_CHARACTERS)))
    const is_cut = headers.length > HEADERS_MAX || (text?.length ?? 0) > length
    const excerpt = { headers: shown, body: masked, is_cut, matters }
    if (length < 64 || Buffer.byteLength(JSON.stringify(excerpt)) <= EXCERPT_MAX_BYTES)
      return excerpt
    length = Math.floor(length / 2)
  }
}

/** With its name, which tells that the value is a secret. */
function shownHeader(name: string, value: string): string {
  const masked = maskSecrets(`${name}: ${value.slice(0, HEADER_MAX_CHARACTERS * 2)}`)
  return clean(masked.slice(name.length + 2, name.length + 2 + HEADER_MAX_CHARACTERS))
}

const clean = (text: string): string => text.replace(UNPRINTABLE, '\ufffd')

/** Without what it is compressed with; empty if that is not undone. */
function bytesOf(headers: readonly Header[], body: Buffer): Buffer {
  const encoding = headers.find(({ name }) => name === 'content-encoding')?.value ?? null
  const inflated = inflateBody(body, encoding, INFLATED_MAX_BYTES, 'request')
  return inflated.kind === 'inflated' ? inflated.bytes : encoding === null ? body : Buffer.alloc(0)
}

/** The beginning of a body that is text. */
function textOf(bytes: Buffer): string | null {
  const text = bytes.subarray(0, (BODY_MAX_CHARACTERS + LOOK_AHEAD_CHARACTERS) * 3).toString('utf8')
  return text === '' || text.slice(0, BODY_MAX_CHARACTERS).includes('\0') ? null : text
}

function shownFields(headers: readonly Header[], bytes: Buffer): FieldsThatMatter | null {
  const type = headers.find(({ name }) => name === 'content-type')?.value ?? ''
  const matters = fieldsThatMatter(bytes, type)
  if (matters === null) return null
  const fields = matters.fields.map(([path, value]): BodyField => {
    const [start, rest] = [value.slice(0, FIELD_MAX_CHARACTERS), value.slice(FIELD_MAX_CHARACTERS)]
    return [clean(maskSecrets(path)), clean(maskWithin(`${path}: `, start, rest))]
  })
  let shown = fields
  while (Buffer.byteLength(JSON.stringify(shown)) > FIELDS_MAX_BYTES) shown = shown.slice(0, -1)
  return { fields: shown, more: matters.more + fields.length - shown.length }
}
