import { isDeepStrictEqual } from 'node:util'
import { type Document, isAlias, isMap, isSeq, type Node, parseDocument } from 'yaml'
import type { ConfigPart } from './config-part.ts'

/** An operation of a JSON patch (RFC 6902). */
export interface Addition {
  readonly op: 'add'
  readonly path: string
  readonly value: unknown
}

type Path = readonly (string | number)[]

/** Collects what is added to a configuration. Everything that it has stays, in its place. */
export class Additions {
  readonly list: Addition[] = []
  /** With what was added. */
  readonly #config: ConfigPart

  constructor(config: ConfigPart) {
    this.#config = structuredClone(config)
  }

  at(path: Path): unknown {
    return path.reduce<unknown>(
      (part, name) => (part as Record<string | number, unknown> | null | undefined)?.[name],
      this.#config,
    )
  }

  /** A list that is not there has no items. @throws if it is no list */
  itemsAt(path: Path): readonly ConfigPart[] {
    const found = this.at(path) ?? []
    if (!Array.isArray(found))
      throw new Error(`${path.join('.')} of the configuration is not a list.`)
    return found as readonly ConfigPart[]
  }

  /** Adds items with names of their own to a list. @throws if it has one of the same name */
  insertNew(path: Path, items: readonly ConfigPart[], before?: number): void {
    const names = new Set(this.itemsAt(path).map(({ name }) => name))
    const twin = items.find(({ name }) => names.has(name))
    if (twin !== undefined)
      throw new Error(
        `The configuration already has ${String(twin['name'])} in ${path.join('.')}. Merge into your configuration without the gateway, or remove it first.`,
      )
    this.insert(path, items, before)
  }

  /** Adds items at the end of a list, or before the item with this index. */
  insert(path: Path, items: readonly ConfigPart[], before?: number): void {
    if (this.at(path) === undefined || this.at(path) === null) this.set(path, items)
    else
      for (const [i, item] of items.entries())
        this.#add([...path, before === undefined ? '-' : before + i], item)
  }

  /** Sets a member; a map that it is in is made if it is not there. */
  set(path: Path, value: unknown): void {
    const missing = path.findIndex((_, i) => (this.at(path.slice(0, i + 1)) ?? null) === null)
    if (missing === -1) this.#add(path, value)
    else
      this.#add(
        path.slice(0, missing + 1),
        path.slice(missing + 1).reduceRight<unknown>((inner, name) => ({ [name]: inner }), value),
      )
  }

  #add(path: Path, value: unknown): void {
    const escaped = path.map((name) => String(name).replaceAll('~', '~0').replaceAll('/', '~1'))
    this.list.push({ op: 'add', path: `/${escaped.join('/')}`, value })
    const parent = this.at(path.slice(0, -1))
    const added = structuredClone(value)
    const last = path.at(-1) ?? ''
    if (Array.isArray(parent)) parent.splice(last === '-' ? parent.length : Number(last), 0, added)
    else (parent as Record<string, unknown>)[last] = added
  }

  /**
   * The text with the additions; its comments stay.
   * @throws with a message for the operator if a part that is added to is an alias
   */
  appliedTo(text: string): string {
    const document = parseDocument(text)
    for (const { path, value } of this.list) addTo(document, path, value)
    const result = document.toString({ lineWidth: 0 })
    if (!isDeepStrictEqual(parseDocument(result).toJS(), this.#config))
      throw new Error('The configuration has aliases where the gateway is added. Write them out.')
    return result
  }
}

function addTo(document: Document, path: string, value: unknown): void {
  const names = path.split('/').slice(1)
  const last = names.pop() ?? ''
  const parent = names.reduce<unknown>(
    (node, name) => (isMap(node) || isSeq(node) ? node.get(unescaped(name), true) : node),
    document.contents,
  )
  const node = document.createNode(value, { aliasDuplicateObjects: false }) as Node
  if (isAlias(parent)) return
  if (isMap(parent)) parent.set(unescaped(last), node)
  if (!isSeq(parent)) return
  parent.flow = false
  if (last === '-') parent.add(node)
  else parent.items.splice(Number(last), 0, node)
}

const unescaped = (name: string): string => name.replaceAll('~1', '/').replaceAll('~0', '~')
