import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
} from 'yaml'

/** An error in the file: its position and a message that follows the member's name. */
export interface FileProblem {
  readonly line: number
  /** As `scopes[0].rules[1].paths[0]`; empty for the file as a whole. */
  readonly member: string
  readonly message: string
}

/** Far above any real configuration; a file of another kind is refused before it is read. */
const FILE_LIMIT_CHARACTERS = 64 * 1024 * 1024
/** YAML aliases can expand a few lines to any size. */
const ALIASES_LIMIT = 1000

/** The text of a file in YAML or JSON, with the line of each of its members. */
export class ConfigText {
  readonly value: unknown
  readonly problems: readonly FileProblem[]
  readonly #root: Node | null
  readonly #resolve: (node: unknown) => unknown
  readonly #lines = new LineCounter()

  constructor(text: string) {
    const isTooLong = text.length > FILE_LIMIT_CHARACTERS
    const doc = parseDocument(isTooLong ? '' : text, {
      lineCounter: this.#lines,
      prettyErrors: false,
      stringKeys: true,
    })
    this.#root = doc.contents
    this.#resolve = (node) => (isAlias(node) ? node.resolve(doc) : node)
    const problems: FileProblem[] = [...doc.errors, ...doc.warnings].map(({ pos, message }) => ({
      line: this.#lineAt(pos[0]),
      member: '',
      message: `cannot be parsed: ${message}`,
    }))
    if (isTooLong)
      problems.push({ line: 1, member: '', message: 'is too long for a configuration' })
    this.value = null
    if (problems.length === 0) {
      try {
        this.value = doc.toJS({ maxAliasCount: ALIASES_LIMIT })
      } catch (error) {
        problems.push({ line: 1, member: '', message: (error as Error).message })
      }
    }
    this.problems = problems
  }

  /** @param pointer a JSON pointer; for a missing member, the line of its parent is returned */
  problemAt(pointer: string, message: string): FileProblem {
    const segments = pointer.split('/').slice(1)
    const member = segments
      .map((segment, i) =>
        /^\d+$/.test(segment) ? `[${segment}]` : `${i > 0 ? '.' : ''}${segment}`,
      )
      .join('')
    return { line: this.#lineAt(this.#offsetOf(segments)), member, message }
  }

  #offsetOf(segments: readonly string[]): number {
    let node: unknown = this.#resolve(this.#root)
    let offset = this.#root?.range?.[0] ?? 0
    for (const segment of segments) {
      const found = childOf(node, segment)
      if (found === null) break
      offset = found.offset ?? offset
      node = this.#resolve(found.node)
    }
    return offset
  }

  #lineAt(offset: number): number {
    return Math.max(1, this.#lines.linePos(offset).line)
  }
}

function childOf(
  node: unknown,
  segment: string,
): { readonly node: unknown; readonly offset: number | undefined } | null {
  if (isMap(node)) {
    const pair = (node.items as Pair[]).find(
      ({ key }) => isScalar(key) && String(key.value) === segment,
    )
    return pair === undefined ? null : { node: pair.value, offset: (pair.key as Node).range?.[0] }
  }
  if (!isSeq(node)) return null
  const item = node.items[Number(segment)]
  return item === undefined ? null : { node: item, offset: (item as Node).range?.[0] }
}
