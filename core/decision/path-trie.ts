import { isEmptySegment } from '../request/decode-path.ts'
import type { PathPattern } from './path-pattern.ts'

/** Steps left for one call. A step is one node of a trie compared with one segment of a path. */
export interface MatchBudget {
  left: number
}

interface Node {
  literals: Map<string, Node> | null
  /** `*` */
  any: Node | null
  /** `**`, which stays active for every further segment. */
  deep: Node | null
  readonly is_deep: boolean
  /** Rules with a pattern that ends here. */
  rules: number[] | null
  /** The last step in which this node was active, so that it is visited once per step. */
  step: number
}

const newNode = (is_deep: boolean): Node => ({
  literals: null,
  any: null,
  deep: null,
  is_deep,
  rules: null,
  step: 0,
})

/**
 * Path patterns of many rules, matched together: the time depends on the path and on the patterns that match its beginning, not
 * on the number of patterns.
 */
export class PathTrie {
  readonly #root = newNode(false)
  #nodes = 0
  #step = 0

  add({ blocks }: PathPattern, rule: number): void {
    let node = this.#root
    for (const [i, block] of blocks.entries()) {
      if (i > 0) node = node.deep ??= this.#made(newNode(true))
      for (const part of block) node = this.#child(node, part)
    }
    node.rules ??= []
    if (node.rules.at(-1) !== rule) node.rules.push(rule)
  }

  /**
   * The rules with a pattern that matches the segments from `from` on, in ascending order; none if the budget is used up, which
   * is then negative.
   */
  match(segments: readonly string[], from: number, budget: MatchBudget): readonly number[] {
    let active: Node[] = []
    this.#step++
    this.#enter(this.#root, active)
    for (let i = from; i < segments.length && active.length > 0; i++) {
      const segment = segments[i] ?? ''
      const isEmpty = isEmptySegment(segment)
      budget.left -= active.length
      if (budget.left < 0) return NONE
      const next: Node[] = []
      this.#step++
      for (const node of active) {
        if (node.is_deep) this.#enter(node, next)
        const literal = node.literals?.get(segment)
        if (literal !== undefined) this.#enter(literal, next)
        if (node.any !== null && !isEmpty) this.#enter(node.any, next)
      }
      active = next
    }
    const found = active.flatMap(({ rules }) => rules ?? NONE)
    return found.length > 1 ? [...new Set(found)].sort((a, b) => a - b) : found
  }

  /** How many nodes it has, of some 300 bytes each. */
  get nodes(): number {
    return this.#nodes
  }

  #child(node: Node, part: string | null): Node {
    if (part === null) return (node.any ??= this.#made(newNode(false)))
    node.literals ??= new Map()
    let literal = node.literals.get(part)
    if (literal === undefined) {
      literal = this.#made(newNode(false))
      node.literals.set(part, literal)
    }
    return literal
  }

  #made(node: Node): Node {
    this.#nodes++
    return node
  }

  /** A `**` also matches no segment. */
  #enter(node: Node, active: Node[]): void {
    for (let entered: Node | null = node; entered !== null; entered = entered.deep) {
      if (entered.step === this.#step) return
      entered.step = this.#step
      active.push(entered)
    }
  }
}

const NONE: readonly number[] = []
