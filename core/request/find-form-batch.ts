import { BATCH_PARTS_MAX, type FoundBatch, foldName, listKind, type NamedValue } from './batch.ts'
import { decodeFormText } from './decode-form-text.ts'
import { addressOf, type FieldReader, findJsonBatch } from './find-json-batch.ts'
import { isMethod, overrideField } from './override-field.ts'

const MAY_NAME_LIST = /batch|request|operations|actions|calls|commands|entry|urls|%/i
/** A longer name is none of those that are looked for. */
const NAME_MAX = 192
/** `requests[0][method]`, as PHP and Rack write lists of objects. */
const MEMBER = /^([\w:.$-]{1,64})\[(\d{0,6})\]\[([\w-]{1,64})\]$/
/** Trello: `?urls=/boards/1,/cards/2` is a GET of each. */
const URLS: ReadonlySet<string> = new Set(['urls'])

interface Group {
  readonly place: string
  readonly methods: NamedValue[]
  readonly addresses: NamedValue[]
}

/**
 * Finds lists of calls in the parameters of a query or form (Facebook: `batch=[…]`).
 * @param text one character per byte (latin1)
 * @param any whether the call is for a batch endpoint
 */
export function findFormBatch(
  text: string,
  found: FoundBatch,
  fields: FieldReader,
  any: boolean,
): void {
  if (!MAY_NAME_LIST.test(text)) return
  const groups = new Map<string, Group>()
  for (let start = 0; start < text.length; ) {
    const and = text.indexOf('&', start)
    const end = and === -1 ? text.length : and
    const head = text.slice(start, Math.min(end, start + NAME_MAX))
    const equals = head.indexOf('=')
    if (equals > 0 && MAY_NAME_LIST.test(head.slice(0, equals))) {
      const name = decodeFormText(head.slice(0, equals)).trim()
      notePair(name, text.slice(start + equals + 1, end), { found, fields, any, groups })
    }
    start = end + 1
  }
  const parts = [...groups.values()]
    .filter(({ methods, addresses }) => methods.length > 0 && addresses.length > 0)
    .map((group) => ({ ...group, hosts: [], unread: null }))
  if (parts.length > 0) found.lists.push({ is_certain: false, parts })
}

function notePair(
  name: string,
  raw: string,
  to: {
    readonly found: FoundBatch
    readonly fields: FieldReader
    readonly any: boolean
    readonly groups: Map<string, Group>
  },
): void {
  const { found, fields, any, groups } = to
  const member = MEMBER.exec(name)
  const folded = foldName(member?.[1] ?? name)
  const isUrls = any && member === null && URLS.has(folded)
  if (!isUrls && listKind(folded) === null) return
  const value = decodeFormText(raw).trim()
  if (isUrls) {
    noteUrls(value, name, found)
  } else if (member !== null) {
    noteMember(member[1] ?? '', member[2] ?? '', member[3] ?? '', value, groups, found)
  } else if (value.startsWith('[') || value.startsWith('{')) {
    if (!findJsonBatch(Buffer.from(value), found, fields, any, name)) found.unread ??= name
  }
}

function noteMember(
  list: string,
  index: string,
  key: string,
  value: string,
  groups: Map<string, Group>,
  found: FoundBatch,
): void {
  const isAddress = addressOf(foldName(key), value)
  const isMethodField = overrideField(key) !== null && isMethod(value)
  if (!isAddress && !isMethodField) return
  const place = `${list}[${index}]`
  const group = groups.get(place) ?? { place, methods: [], addresses: [] }
  if (groups.size > BATCH_PARTS_MAX) found.unread ??= list
  else groups.set(place, group)
  const values = isAddress ? group.addresses : group.methods
  if (values.length > BATCH_PARTS_MAX) found.unread ??= place
  else values.push({ value, name: key })
}

function noteUrls(value: string, name: string, found: FoundBatch): void {
  const parts = value.split(',', BATCH_PARTS_MAX + 1).map((url, i) => ({
    place: `${name}[${i}]`,
    methods: [{ value: 'GET', name: '' }],
    addresses: [{ value: url.trim(), name: '' }],
    hosts: [],
    unread: null,
  }))
  if (parts.length > BATCH_PARTS_MAX) found.unread ??= name
  found.lists.push({ is_certain: true, parts })
}
