import { readString, skipSpace, skipStart } from './json-lexis.ts'
import { skipValue, walkElements, walkMembers } from './walk-json.ts'
import {
  BATCH_PARTS_MAX,
  type BatchPart,
  type FoundBatch,
  foldName,
  listKind,
  type NamedValue,
} from './batch.ts'
import { findOverrides } from './find-overrides.ts'
import { isMethod, overrideField } from './override-field.ts'
import type { Overrides } from './overrides.ts'

/** Batches are at the top of a body, or a few levels below. */
const DEPTH_MAX = 12
/** A longer name is none of those that are looked for. */
const NAME_BYTES_MAX = 128
/** Of values and header names that one part may have. */
const PART_VALUES_MAX = 16
const QUOTE = 0x22
const OPEN_ARRAY = 0x5b
const OPEN_OBJECT = 0x7b

const ADDRESS = /^(?:relative|request|resource|sub|full|absolute|api)*(?:url|uri|path|href)$/
/** Members of these names are also used for something else. */
const MAYBE_ADDRESS = /^(?:to|target|resource|link|route|endpoint)$/
const LOOKS_LIKE_ADDRESS = /^(?:\/|https?:)/i
const METHOD_TOKEN = /^[A-Z]{3,20}$/
/** An element that is a text: `/items/1`, `DELETE /items/1`. */
const TEXT_PART = /^(?:([A-Z]{3,20})\s+)?(\/\S*|https?:\S*)$/i
/** Some batches (FHIR) keep method and URL of a part in a member of it. */
const REQUEST: ReadonlySet<string> = new Set(['request', 'req', 'http', 'httprequest'])
const HEADERS: ReadonlySet<string> = new Set(['headers', 'header', 'httpheaders'])
const BODY: ReadonlySet<string> = new Set([
  'body',
  'data',
  'payload',
  'content',
  'richinput',
  'input',
  'form',
  'formdata',
  'params',
  'resource',
])
/** JSON:API operations name what they do instead of a method. */
const OPERATIONS: Readonly<Record<string, string>> = {
  add: 'POST',
  update: 'PATCH',
  remove: 'DELETE',
}

/** Whether a member of a part is its address. @param folded its name as `foldName` writes it */
export const addressOf = (folded: string, value: string): boolean =>
  ADDRESS.test(folded) || (MAYBE_ADDRESS.test(folded) && LOOKS_LIKE_ADDRESS.test(value))

/** Whether parts may stand under names of their own in an object of this name: in `requests`, not in `request`. */
const mayBeMap = (folded: string): boolean =>
  listKind(folded) !== null && /(?:s|batch)$/.test(folded)

/** A part while its members are read. */
interface Draft {
  readonly methods: NamedValue[]
  readonly addresses: NamedValue[]
  readonly hosts: NamedValue[]
  /** A member that is named like a method and has another value. */
  odd: boolean
  unread: string | null
  /** Whether `op` names what to do: in JSON:API, not in a JSON patch. */
  readonly has_op: boolean
}

interface List {
  readonly name: string
  readonly kind: 'certain' | 'possible' | null
  readonly full: BatchPart[]
  /** Parts without a method or without an address. */
  readonly partial: BatchPart[]
  too_many: boolean
}

/** What the string of a part's body says, read as a form and as JSON. */
export type FieldReader = (text: string) => Overrides

/**
 * Finds lists of calls in JSON: elements with a method and an address, in a list with the name of one (`listKind`) or, if `any`,
 * with any name. @returns whether the body is JSON
 * @param name of the list that the body itself is; empty if it is none
 * @param any whether the call is for a batch endpoint (`isBatchPath`)
 */
export function findJsonBatch(
  body: Buffer,
  found: FoundBatch,
  fields: FieldReader,
  any: boolean,
  name = '',
): boolean {
  const reader = new Reader(body, found, fields, any)
  // Lines of JSON are several texts.
  for (let at = skipStart(body); at < body.length; ) {
    const end = reader.value(at, 0, name, null)
    if (end < 0) return false
    at = skipSpace(body, end)
  }
  return true
}

class Reader {
  readonly #body: Buffer
  readonly #found: FoundBatch
  readonly #fields: FieldReader
  readonly #any: boolean
  #count = 0

  constructor(body: Buffer, found: FoundBatch, fields: FieldReader, any: boolean) {
    this.#body = body
    this.#found = found
    this.#fields = fields
    this.#any = any
  }

  /** Each of these returns where the value ends, or -1. */
  value(at: number, depth: number, name: string, draft: Draft | null): number {
    const first = this.#body[at]
    if (first === OPEN_OBJECT && depth < DEPTH_MAX)
      return draft === null && mayBeMap(foldName(name))
        ? this.#map(at, depth, name)
        : this.#object(at, depth, name, draft)
    if (first === OPEN_ARRAY && depth < DEPTH_MAX) return this.#array(at, depth, name)
    return skipValue(this.#body, at)
  }

  #array(at: number, depth: number, name: string): number {
    const kind = listKind(foldName(name))
    const isList = kind !== null || this.#any
    if (!isList)
      return walkElements(this.#body, at, (start) => this.value(start, depth + 1, '', null))
    const list: List = { name, kind, full: [], partial: [], too_many: false }
    const isOperations = foldName(name) === 'atomicoperations'
    let index = 0
    const end = walkElements(this.#body, at, (start) => {
      const place = index++
      const draft = newDraft(isOperations)
      if (this.#body[start] === QUOTE) {
        const after = skipValue(this.#body, start)
        if (after > 0 && this.#any) this.#textPart(start, after, draft)
        this.#commit(list, place, draft)
        return after
      }
      const after = this.value(start, depth + 1, '', draft)
      this.#commit(list, place, draft)
      return after
    })
    this.#close(list)
    return end
  }

  /** Parts by their ids instead of in a list. */
  #map(at: number, depth: number, name: string): number {
    const list: List = {
      name,
      kind: listKind(foldName(name)),
      full: [],
      partial: [],
      too_many: false,
    }
    let index = 0
    const end = walkMembers(this.#body, at, ({ key_start, key_end, value_start }) => {
      const isLong = key_end - key_start > NAME_BYTES_MAX
      const key = isLong ? '' : readString(this.#body, key_start, key_end)
      if (this.#body[value_start] !== OPEN_OBJECT)
        return this.value(value_start, depth + 1, key, null)
      const draft = newDraft(false)
      const after = this.value(value_start, depth + 1, key, draft)
      this.#commit(list, index++, draft)
      return after
    })
    this.#close(list)
    return end
  }

  #textPart(start: number, end: number, draft: Draft): void {
    if (end - start > 4_096) return
    const parts = TEXT_PART.exec(readString(this.#body, start, end))
    if (parts === null) return
    const [, method, address = ''] = parts
    draft.methods.push({ value: method ?? 'GET', name: '' })
    draft.addresses.push({ value: address, name: '' })
  }

  #object(at: number, depth: number, name: string, draft: Draft | null): number {
    const isDefaults = /^default/i.test(name)
    return walkMembers(this.#body, at, ({ key_start, key_end, value_start }) => {
      const isLong = key_end - key_start > NAME_BYTES_MAX
      const key = isLong ? '' : readString(this.#body, key_start, key_end)
      const folded = foldName(key)
      if (draft === null) {
        if (isDefaults && this.#body[value_start] === QUOTE) this.#default(key, value_start)
        return this.value(value_start, depth + 1, key, null)
      }
      if (HEADERS.has(folded)) return this.#headers(value_start, key, draft)
      const isContainer = this.#isContainer(value_start)
      if (REQUEST.has(folded) && this.#body[value_start] === OPEN_OBJECT)
        return this.value(value_start, depth + 1, key, draft)
      if (BODY.has(folded) && this.#body[value_start] !== OPEN_ARRAY) {
        if (isContainer) return this.#bodyObject(value_start, depth + 1, key, draft)
        const end = this.#member(key, folded, value_start, draft)
        if (end > 0 && this.#body[value_start] === QUOTE)
          noteOverrides(draft, this.#fields(readString(this.#body, value_start, end)), key)
        return end
      }
      if (isContainer) {
        if (overrideField(key) !== null) draft.odd = true
        return this.value(value_start, depth + 1, key, null)
      }
      return this.#member(key, folded, value_start, draft)
    })
  }

  #isContainer(at: number): boolean {
    return this.#body[at] === OPEN_OBJECT || this.#body[at] === OPEN_ARRAY
  }

  #default(key: string, at: number): void {
    const field = overrideField(key)
    const end = skipValue(this.#body, at)
    if (end < 0 || field === null || field === 'path') return
    if (this.#found.defaults.length >= PART_VALUES_MAX) this.#found.unread ??= 'defaults'
    else
      this.#found.defaults.push({
        value: readString(this.#body, at, end),
        name: `defaults.${key}`,
      })
  }

  #member(key: string, folded: string, at: number, draft: Draft): number {
    const end = skipValue(this.#body, at)
    if (end < 0) return -1
    const field = overrideField(key)
    const isAddress = ADDRESS.test(folded)
    if (field === null && !isAddress && !MAYBE_ADDRESS.test(folded) && !draft.has_op) return end
    if (this.#body[at] !== QUOTE) {
      if (field === 'method' || field === 'maybe_method') draft.odd = true
      return end
    }
    const value = readString(this.#body, at, end)
    if (field === 'method' || field === 'maybe_method') {
      const isKnown = isMethod(value) || (this.#any && METHOD_TOKEN.test(value))
      if (field === 'method' || isKnown) add(draft, draft.methods, { value, name: key })
      else draft.odd = true
    } else if (folded === 'op' && draft.has_op) {
      const method = OPERATIONS[value]
      if (method !== undefined) add(draft, draft.methods, { value: method, name: key })
    } else if (addressOf(folded, value)) {
      add(draft, draft.addresses, { value, name: key })
    }
    return end
  }

  /** Fields of a part's body by which frameworks change its method. */
  #bodyObject(at: number, depth: number, name: string, draft: Draft): number {
    return walkMembers(this.#body, at, ({ key_start, key_end, value_start }) => {
      const isLong = key_end - key_start > NAME_BYTES_MAX
      const key = isLong ? '' : readString(this.#body, key_start, key_end)
      if (this.#body[value_start] === QUOTE && overrideField(key) === 'method') {
        const end = skipValue(this.#body, value_start)
        if (end > 0)
          add(draft, draft.methods, {
            value: readString(this.#body, value_start, end),
            name: `${name}.${key}`,
          })
        return end
      }
      return this.value(value_start, depth + 1, key, null)
    })
  }

  /** An object, or a list of `Name: value` or of `{name, value}`. */
  #headers(at: number, member: string, draft: Draft): number {
    const end = skipValue(this.#body, at)
    if (end < 0) return -1
    if (!this.#isContainer(at)) return end
    if (end - at > 65_536) {
      draft.unread = member
      return end
    }
    for (const [name, value] of pairsOf(JSON.parse(this.#body.toString('utf8', at, end)))) {
      const header = { name: name.trim().toLowerCase(), value: value.trim() }
      if (header.name === 'host')
        add(draft, draft.hosts, { value: header.value, name: `${member}.${name}` })
      else noteOverrides(draft, findOverrides([header], null), `${member}.${name}`)
    }
    return end
  }

  #commit(list: List, index: number, draft: Draft): void {
    const { methods, addresses, hosts, odd, unread } = draft
    if (methods.length === 0 && addresses.length === 0) return
    const place = `${list.name}[${index}]`
    const isFull = methods.length > 0 && addresses.length > 0
    const part: BatchPart = {
      place,
      methods,
      addresses,
      hosts,
      unread: unread ?? (odd ? 'method' : addresses.length === 0 ? 'url' : null),
    }
    const to = isFull ? list.full : list.partial
    if (to.length > BATCH_PARTS_MAX) list.too_many = true
    else to.push(part)
  }

  #close({ name, kind, full, partial, too_many }: List): void {
    const isNamedHere = this.#any && kind !== null
    const rooted = isNamedHere
      ? partial.filter(({ addresses }) => addresses[0]?.value.startsWith('/') === true)
      : []
    const parts = full.length > 0 ? [...full, ...partial] : rooted
    const isOperations = foldName(name) === 'atomicoperations' && partial.length > 0
    if (parts.length === 0 && !isOperations) return
    if (this.#count > BATCH_PARTS_MAX) return
    this.#count += parts.length
    if (too_many || this.#count > BATCH_PARTS_MAX) this.#found.unread ??= name
    this.#found.lists.push({
      is_certain: kind === 'certain' || isNamedHere,
      parts: isOperations ? [...full, ...partial] : parts,
    })
  }
}

const newDraft = (has_op: boolean): Draft => ({
  has_op,
  methods: [],
  addresses: [],
  hosts: [],
  odd: false,
  unread: null,
})

function add(draft: Draft, to: NamedValue[], one: NamedValue): void {
  if (to.length >= PART_VALUES_MAX) draft.unread = one.name
  else to.push(one)
}

function noteOverrides(draft: Draft, { methods, addresses }: Overrides, name: string): void {
  for (const value of methods) add(draft, draft.methods, { value, name })
  for (const { kind, value } of addresses)
    add(draft, kind === 'host' ? draft.hosts : draft.addresses, { value, name })
}

function* pairsOf(headers: unknown): Generator<readonly [name: string, value: string]> {
  if (!Array.isArray(headers)) {
    if (typeof headers === 'object' && headers !== null)
      for (const [name, value] of Object.entries(headers)) yield [name, textOf(value)]
    return
  }
  for (const one of headers as readonly unknown[]) {
    if (typeof one === 'string') {
      const colon = one.indexOf(':')
      if (colon > 0) yield [one.slice(0, colon), one.slice(colon + 1)]
    } else if (typeof one === 'object' && one !== null) {
      const { name, key, value } = one as Readonly<Record<string, unknown>>
      if (typeof (name ?? key) === 'string') yield [textOf(name ?? key), textOf(value)]
      else for (const [given, text] of Object.entries(one)) yield [given, textOf(text)]
    }
  }
}

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value)
