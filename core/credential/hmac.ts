import { createHash, createHmac } from 'node:crypto'
import { defineCredential } from './credential-type.ts'
import { optionalShown, secret, shown } from './member.ts'

const ALGORITHMS = ['sha1', 'sha256', 'sha384', 'sha512'] as const
const ENCODINGS = ['hex', 'base64', 'base64url'] as const
const KEY_ENCODINGS = ['text', 'hex', 'base64'] as const
const TIMESTAMPS = ['seconds', 'milliseconds', 'iso'] as const

/** What a template may name. */
const IN_TEMPLATE = [
  'method',
  'host',
  'path',
  'query',
  'path_and_query',
  'timestamp',
  'key_id',
  'body',
  'body_sha256',
  'newline',
] as const
const IN_VALUE = ['signature', 'timestamp', 'key_id'] as const
const NAMED = /\{([a-z_0-9]*)\}/g
const OF_BODY = /\{body(?:_sha256)?\}/

const unknownIn = (text: string, known: readonly string[]): string | null =>
  [...text.matchAll(NAMED)].map(([, name = '']) => name).find((name) => !known.includes(name)) ??
  null

/** Puts values in the place of names; one pass, so that a value is never read as a template. */
const fill = (template: string, values: Readonly<Record<string, () => string>>): string =>
  template.replaceAll(NAMED, (_, name: string) => values[name]?.() ?? '')

/** A request that is signed with a shared key (RFC 2104), in the form that the API defines. */
export const hmac = defineCredential({
  type: 'hmac',
  label: 'HMAC signature',
  sends: 'the signature in `header`, and the headers for its time and key id',
  members: {
    header: shown('header_name'),
    algorithm: shown('word', ALGORITHMS),
    key: secret('text'),
    template: shown('template'),
    encoding: optionalShown('word', ENCODINGS),
    key_encoding: optionalShown('word', KEY_ENCODINGS),
    value: optionalShown('text'),
    timestamp: optionalShown('word', TIMESTAMPS),
    timestamp_header: optionalShown('header_name'),
    key_id: optionalShown('text'),
    key_id_header: optionalShown('header_name'),
  },
  check: ({ template, value = '{signature}', header, timestamp_header, key_id_header, key_id }) => {
    const unknown = unknownIn(template, IN_TEMPLATE)
    if (unknown !== null)
      return { member: 'template', message: `may name ${IN_TEMPLATE.join(', ')}, not ${unknown}` }
    const other = unknownIn(value, IN_VALUE)
    if (other !== null || !value.includes('{signature}'))
      return { member: 'value', message: `must name signature, and may name timestamp and key_id` }
    const names = [header, timestamp_header, key_id_header].flatMap((name) => name ?? [])
    if (new Set(names.map((name) => name.toLowerCase())).size < names.length)
      return { message: 'must name a different header for each value' }
    return key_id_header !== undefined && key_id === undefined
      ? { member: 'key_id', message: 'is required if there is a key_id_header' }
      : null
  },
  owned: ({ header, timestamp_header, key_id_header }) => ({
    kind: 'header',
    name: header,
    further: [timestamp_header, key_id_header].flatMap((name) => name ?? []),
  }),
  application: {
    kind: 'signature',
    needsBody: ({ template }) => OF_BODY.test(template),
    payload: ({ template }) =>
      template.includes('{body}')
        ? { kind: 'body' }
        : template.includes('{body_sha256}')
          ? { kind: 'hash' }
          : { kind: 'literal', text: '' },
    signs: () => false,
    sign: (auth, request, now_ms) => {
      const { header, algorithm, key, key_encoding = 'text', encoding = 'hex', template } = auth
      const { key_id = '', timestamp_header, key_id_header, value = '{signature}' } = auth
      const time = timeText(auth.timestamp, now_ms)
      const { method, raw_path, raw_query, payload } = request
      const ofBody = template.includes('{body}') ? sha256 : (hash: string): string => hash
      const text = fill(utf8(template), {
        method: () => method,
        host: () => request.headers.find(({ name }) => name === 'host')?.value ?? '',
        path: () => raw_path,
        query: () => raw_query ?? '',
        path_and_query: () => (raw_query === null ? raw_path : `${raw_path}?${raw_query}`),
        timestamp: () => time,
        key_id: () => utf8(key_id),
        body: () => payload,
        body_sha256: () => ofBody(payload),
        newline: () => '\n',
      })
      const bytes = key_encoding === 'text' ? 'utf8' : (key_encoding as 'hex' | 'base64')
      const signature = createHmac(algorithm, Buffer.from(key.reveal(), bytes))
        .update(text, 'latin1')
        .digest(encoding as (typeof ENCODINGS)[number])
      const values = { signature: () => signature, timestamp: () => time, key_id: () => key_id }
      return [
        { name: header, value: fill(value, values) },
        ...(timestamp_header === undefined ? [] : [{ name: timestamp_header, value: time }]),
        ...(key_id_header === undefined ? [] : [{ name: key_id_header, value: key_id }]),
      ]
    },
  },
})

const sha256 = (text: string): string => createHash('sha256').update(text, 'latin1').digest('hex')
/** One character per byte, as everything that is signed. */
const utf8 = (text: string): string => Buffer.from(text, 'utf8').toString('latin1')

function timeText(format: string | undefined, now_ms: number): string {
  if (format === 'iso') return new Date(now_ms).toISOString()
  return String(format === 'milliseconds' ? now_ms : Math.floor(now_ms / 1000))
}
