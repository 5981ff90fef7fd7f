import { type KeyRing, reseal, type SealBinding, seal, unseal } from '../keys/seal.ts'
import { maskSecrets, maskWithin } from '../masking/mask-secrets.ts'
import type { Header } from '../request/header.ts'
import { inflateBody } from '../scanner/format/inflate-body.ts'

/** What an approver sees of a call: secrets are masked, long texts cut. */
export interface Excerpt {
  /** Of the headers that count. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  /** Null if there is no body or it is no text. */
  readonly body: string | null
  readonly is_cut: boolean
}

/** As JSON. */
const EXCERPT_MAX_BYTES = 8_192
const BODY_MAX_CHARACTERS = 6_144
/** Read after the part that is shown, so that a secret that begins in it is found. */
const LOOK_AHEAD_CHARACTERS = 4_096
const HEADERS_MAX = 20
const HEADER_MAX_CHARACTERS = 200
/** A compressed body that becomes longer is not shown. */
const INFLATED_MAX_BYTES = 1_048_576
/** Nothing that could reorder the text or hide a part of it; line feeds and tabs stay. */
export const UNPRINTABLE = /[^\P{C}\n\t]|[\u2028\u2029]/gu

export function makeExcerpt(headers: readonly Header[], body: Buffer): Excerpt {
  const shown = headers
    .slice(0, HEADERS_MAX)
    .map(({ name, value }) => [name, shownHeader(name, value)] as const)
  const text = textOf(headers, body)
  let length = BODY_MAX_CHARACTERS
  for (;;) {
    const part = text === null ? null : text.slice(0, length)
    const masked =
      part === null || text === null
        ? null
        : clean(maskWithin('', part, text.slice(length, length + LOOK_AHEAD_CHARACTERS)))
    const is_cut = headers.length > HEADERS_MAX || (text?.length ?? 0) > length
    const excerpt = { headers: shown, body: masked, is_cut }
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

/** The beginning of a body that is text. */
function textOf(headers: readonly Header[], body: Buffer): string | null {
  if (body.length === 0) return null
  const encoding = headers.find(({ name }) => name === 'content-encoding')?.value ?? null
  const inflated = inflateBody(body, encoding, INFLATED_MAX_BYTES, 'request')
  const bytes =
    inflated.kind === 'inflated' ? inflated.bytes : encoding === null ? body : Buffer.alloc(0)
  const text = bytes.subarray(0, (BODY_MAX_CHARACTERS + LOOK_AHEAD_CHARACTERS) * 3).toString('utf8')
  return text === '' || text.slice(0, BODY_MAX_CHARACTERS).includes('\0') ? null : text
}

interface Owner {
  readonly organization_id: string
  readonly request_id: string
}

const bindingOf = ({ organization_id, request_id }: Owner): SealBinding => ({
  stored_as: 'access_excerpt',
  organization_id,
  owner_id: request_id,
  kind: 'access_request.excerpt',
  origin: '',
})

export const sealedExcerpt = {
  seal: (ring: KeyRing, owner: Owner, excerpt: Excerpt): string =>
    seal(ring, JSON.stringify(excerpt), bindingOf(owner)),

  /** Null if it does not open. */
  open: (ring: KeyRing, owner: Owner, sealed: string): Excerpt | null => {
    const opened = unseal(ring, sealed, bindingOf(owner))
    return opened === null ? null : (JSON.parse(opened.reveal()) as Excerpt)
  },

  reseal: (ring: KeyRing, owner: Owner, sealed: string): string | null =>
    reseal(ring, sealed, bindingOf(owner)),
} as const
