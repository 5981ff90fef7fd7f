/** A trie over the letters a–z, as rows of 27 numbers: 26 children (0: none) and whether a word ends. */
export type LetterTrie = { readonly rows: Uint16Array }

const ROW = 27

export const buildLetterTrie = (words: Iterable<string>): LetterTrie => {
  let rows = new Uint16Array(ROW << 10)
  let count = 1
  for (const word of words) {
    if (!/^[a-z]+$/.test(word)) continue
    let node = 0
    for (let i = 0; i < word.length; i += 1) {
      const slot = node * ROW + word.charCodeAt(i) - 97
      if (rows[slot] === 0) {
        if (count === 0xffff) throw new Error('the vocabulary is larger than the trie can hold')
        rows[slot] = count
        count += 1
        if (count * ROW > rows.length) {
          const larger = new Uint16Array(rows.length * 2)
          larger.set(rows)
          rows = larger
        }
      }
      node = rows[slot] as number
    }
    rows[node * ROW + 26] = 1
  }
  return { rows: rows.slice(0, count * ROW) }
}

const UNKNOWN_LETTER_COST = 4
/** A word costs one, short words more, because scattered letters spell them by chance. */
const WORD_COST = [0, 3, 2, 1.2, 1, 1]
const LONGEST_WORD = 20

const EITHER = 0x31

/**
 * Splits letters without spaces into words of the vocabulary, at the lowest cost. The byte `1` stands for i or l and is
 * replaced in place by the letter that fits.
 * @returns the offsets where words begin, ascending; runs of unknown letters count as one word
 */
export const segmentLetters = (trie: LetterTrie, letters: Uint8Array): number[] => {
  const { rows } = trie
  const count = letters.length
  const cost = new Float64Array(count + 1).fill(Number.POSITIVE_INFINITY)
  const from = new Int32Array(count + 1)
  const isWord = new Uint8Array(count + 1)
  cost[0] = 0
  const walk = (start: number, at: number, node: number): void => {
    if (rows[node * ROW + 26] === 1) {
      const length = at - start
      const total = (cost[start] as number) + (WORD_COST[Math.min(length, 5)] as number)
      if (total < (cost[at] as number)) {
        cost[at] = total
        from[at] = start
        isWord[at] = 1
      }
    }
    if (at === count || at - start === LONGEST_WORD) return
    const letter = letters[at] as number
    if (letter === EITHER) {
      const asI = rows[node * ROW + 8] as number
      const asL = rows[node * ROW + 11] as number
      if (asI !== 0) walk(start, at + 1, asI)
      if (asL !== 0) walk(start, at + 1, asL)
      return
    }
    const child = rows[node * ROW + letter - 97] ?? 0
    if (child !== 0) walk(start, at + 1, child)
  }
  for (let start = 0; start < count; start += 1) {
    const unknown = (cost[start] as number) + UNKNOWN_LETTER_COST
    if (unknown < (cost[start + 1] as number)) {
      cost[start + 1] = unknown
      from[start + 1] = start
      isWord[start + 1] = 0
    }
    walk(start, start, 0)
  }
  const starts: number[] = []
  let at = count
  while (at > 0) {
    const start = from[at] as number
    const joinsUnknown = isWord[at] === 0 && start > 0 && isWord[start] === 0
    if (!joinsUnknown) starts.push(start)
    if (isWord[at] === 1) settleEither(trie, letters, start, at)
    at = start
  }
  return starts.reverse()
}

/** Writes the letters that made a word of the bytes `1` in it. */
const settleEither = (
  { rows }: LetterTrie,
  letters: Uint8Array,
  start: number,
  end: number,
): void => {
  const settle = (at: number, node: number): boolean => {
    if (at === end) return rows[node * ROW + 26] === 1
    const letter = letters[at] as number
    for (const candidate of letter === EITHER ? [105, 108] : [letter]) {
      const child = rows[node * ROW + candidate - 97] ?? 0
      if (child === 0 || !settle(at + 1, child)) continue
      letters[at] = candidate
      return true
    }
    return false
  }
  settle(start, 0)
}
