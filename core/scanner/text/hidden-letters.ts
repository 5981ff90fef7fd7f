/** So many words with a hidden letter, each this close to the one before, are no accident: harmless texts hardly have one. */
const NEAR_BYTES = 300
const LOOK_ALIKES = 3
const INVISIBLE_LETTERS = 5
/** A run of invisible characters of two or three kinds is data; what mail programs put before a preview has more kinds. */
const DATA_CHARACTERS = 8
const DATA_KINDS = 3

const FIRST_LOOK_ALIKE = 0x370
const LAST_LOOK_ALIKE = 0x58f
/** Stands inside words of printed text, where a line may break. */
const SOFT_HYPHEN = 0xad
/** The word joiner and the invisible operators of formulas, which stand alone there. */
const FIRST_JOINER = 0x2060
const FIRST_OPERATOR = 0x2061
const LAST_OPERATOR = 0x2064

const isLetter = (byte: number | undefined): boolean => {
  const lower = (byte ?? 0) | 0x20
  return lower >= 0x61 && lower <= 0x7a
}

const countBits = (bits: number): number => {
  let count = 0
  for (let rest = bits; rest !== 0; rest &= rest - 1) count += 1
  return count
}

/** Whether a character is a Greek, Cyrillic or Armenian letter, most of which look like a Latin one. */
export const mayLookAlike = (codePoint: number): boolean =>
  codePoint >= FIRST_LOOK_ALIKE && codePoint <= LAST_LOOK_ALIKE

/** Places of one kind that are close to one another. */
class Cluster {
  readonly #least: number
  #first = -1
  #last = -1
  #count = 0

  constructor(least: number) {
    this.#least = least
  }

  begin(): void {
    this.#last = -1
    this.#count = 0
  }

  /** @returns where the cluster began once it has enough places, or -1 */
  add(at: number): number {
    const isNear = this.#last >= 0 && at - this.#last <= NEAR_BYTES
    this.#count = isNear ? this.#count + 1 : 1
    if (!isNear) this.#first = at
    this.#last = at
    return this.#count >= this.#least ? this.#first : -1
  }
}

/**
 * Finds words of Latin letters with letters of another script or invisible characters inside, and data that is written in
 * invisible characters. People read them as usual words, or not at all; a filter without `fold.ts` reads something else.
 */
export class HiddenLetters {
  /** The source offset of the first of them; -1 if there are none. */
  at = -1
  #runStart = -1
  #runEnd = -1
  #isInWord = false
  #kinds = 0
  #count = 0
  #joiners = 0
  readonly #lookAlikes = new Cluster(LOOK_ALIKES)
  readonly #invisible = new Cluster(INVISIBLE_LETTERS)

  begin(): void {
    this.at = this.#runEnd = -1
    this.#lookAlikes.begin()
    this.#invisible.begin()
  }

  /**
   * Notes a look-alike or invisible character.
   * @param start of the character in the source, or of its escape @param end behind it
   * @param followsLetter whether a Latin letter stands directly before it
   */
  note(
    source: Buffer,
    codePoint: number,
    start: number,
    end: number,
    followsLetter: boolean,
  ): void {
    if (codePoint === SOFT_HYPHEN) return
    if (start !== this.#runEnd) {
      this.#runStart = start
      this.#isInWord = followsLetter
      this.#kinds = this.#count = this.#joiners = 0
    }
    this.#runEnd = end
    const isVisible = mayLookAlike(codePoint)
    if (!isVisible && this.#isData(codePoint) && this.at < 0) this.at = this.#runStart
    if (codePoint >= FIRST_OPERATOR && codePoint <= LAST_OPERATOR) return
    if (!this.#isInWord || !isLetter(source[end])) return
    // One letter on each side is a formula.
    if (isVisible && !isLetter(source[this.#runStart - 2]) && !isLetter(source[end + 1])) return
    const first = (isVisible ? this.#lookAlikes : this.#invisible).add(this.#runStart)
    if (this.at < 0) this.at = first
  }

  /** Whether the run of invisible characters up to this one is data, or the border of a hidden text. */
  #isData(codePoint: number): boolean {
    this.#kinds |= 1 << (codePoint & 31)
    this.#count += 1
    if (codePoint >= FIRST_JOINER && codePoint <= LAST_OPERATOR) this.#joiners += 1
    if (this.#joiners > 1) return true
    const kinds = countBits(this.#kinds)
    return this.#count >= DATA_CHARACTERS && kinds > 1 && kinds <= DATA_KINDS
  }
}
