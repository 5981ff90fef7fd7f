/** Readers that may look for fields in a body; every API may read it as JSON. */
export interface BodyReaders {
  readonly form: boolean
  readonly multipart: boolean
  /** Types from which no framework reads fields: files, archives, streams of messages. */
  readonly is_inert: boolean
  /** Files: a batch endpoint that ignores the type could still read calls from them. */
  readonly is_binary: boolean
}

/** One media type and its parameters; readers differ in what they accept beyond this. */
const ONE_TYPE = /^\s*([^\s;,]+)\s*(?:;[^,]*)?$/

const ALL: BodyReaders = { form: true, multipart: true, is_inert: false, is_binary: false }
const FORM: BodyReaders = { form: true, multipart: false, is_inert: false, is_binary: false }
const MULTIPART: BodyReaders = { form: false, multipart: true, is_inert: false, is_binary: false }
/** JSON is also sent with text types. */
const JSON_ALONE: BodyReaders = { form: false, multipart: false, is_inert: false, is_binary: false }
const INERT: BodyReaders = { form: false, multipart: false, is_inert: true, is_binary: false }
const BINARY: BodyReaders = { ...INERT, is_binary: true }
/** Messages and streams of them, which are never one JSON text. */
const MESSAGES = /csv|event-stream|protobuf|msgpack|cbor|ndjson|jsonl|dns-message|grpc|connect|git/

const TEXT_TYPE = /^text\/|^application\/(?:json|xml|graphql|javascript)$|\+(?:json|xml)$/
const INERT_TYPE = new RegExp(
  [
    '(?:image|audio|video|font|model)/.*',
    'text/(?:csv|event-stream)',
    'application/(?:x-)?(?:octet-stream|pdf|zip|gzip|tar|bzip2|xz|zstd|7z-compressed|zip-compressed|wasm)',
    'application/(?:x-)?(?:protobuf|msgpack|cbor|ndjson|jsonlines|jsonl|dns-message)',
    'application/(?:vnd\\.google\\.protobuf|grpc.*|connect\\+.*|x-git-.*)',
  ]
    .map((type) => `^${type}$`)
    .join('|'),
)

const BOUNDARY = /boundary="?[^\s";,]/i
/** Recently seen types; each text is tested once. */
const KNOWN_LIMIT = 256
const known = new Map<string, BodyReaders>()

/**
 * PHP cuts a type at `;`, `,` and blanks, Rack at `;` and `,`, others nowhere; without a type Rack reads a form. So if the type
 * is missing, empty, repeated or unknown, every reader is considered. @param content_type the header's value; joined lines are
 * separated by a comma
 */
export function bodyReaders(content_type: string): BodyReaders {
  const before = known.get(content_type)
  if (before !== undefined) return before
  const readers = readersOf(content_type, ONE_TYPE.exec(content_type)?.[1]?.toLowerCase())
  if (known.size >= KNOWN_LIMIT) known.clear()
  known.set(content_type, readers)
  return readers
}

function readersOf(content_type: string, type: string | undefined): BodyReaders {
  if (type === undefined) return ALL
  if (type === 'application/x-www-form-urlencoded') return FORM
  // Rack reads a multipart body without a boundary as a form.
  if (type.startsWith('multipart/')) return BOUNDARY.test(content_type) ? MULTIPART : ALL
  if (INERT_TYPE.test(type)) return MESSAGES.test(type) ? INERT : BINARY
  return TEXT_TYPE.test(type) ? JSON_ALONE : ALL
}
