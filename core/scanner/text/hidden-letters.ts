import { CODE_POINT_MASK, foldCodePoint } from './fold.ts'

/** So many words with a letter of another script inside, each this close to the one before, are no accident. */
const LOOK_ALIKES = 3
const NEAR_BYTES = 300
/** Hints for line breaks, ligatures and names that must not be called stand in some words, not in nearly every one. */
const BROKEN_WORDS = 10
const DENSE_BYTES = 60
/** Bits in zero-width characters repeat and change; what mail programs put before a preview alternates, or is of many kinds. */
const DATA_CHARACTERS = 8
const DATA_KINDS = 3
const DATA_TURNS = 2
/** Borders of a hidden text: word joiners and invisible operators stand alone elsewhere. */
const BORDERS = 2

/** Greek letters that look like Latin ones, and stand for no quantity. */
const GREEK = new Set(Array.from('οιΑΒΕΖΗΙΚΜΝΟΡΤΥΧ', (letter) => letter.codePointAt(0)))
const FIRST_GREEK = 0x370
const FIRST_CYRILLIC = 0x400
/** The end of Armenian. */
const LAST_LOOK_ALIKE = 0x58f
/** A longer run of another script is a word of its own. */
const LONGEST_RUN = 2

const ZERO_WIDTH: ReadonlySet<number> = new Set([0x180e, 0x200b, 0x200c, 0x200d, 0x2060, 0xfeff])
const FIRST_JOINER = 0x2060
const FIRST_OPERATOR = 0x2061
const LAST_OPERATOR = 0x2064
const FIRST_TAG = 0xe0020
const LAST_TAG = 0xe007e

const isLetter = (byte: number | undefined): boolean => {
  const lower = (byte ?? 0) | 0x20
  return lower >= 0x61 && lower <= 0x7a
}

const isOperator = (codePoint: number): boolean =>
  codePoint >= FIRST_OPERATOR && codePoint <= LAST_OPERATOR

const isInvisible = (codePoint: number): boolean =>
  ZERO_WIDTH.has(codePoint) ||
  isOperator(codePoint) ||
  (codePoint >= FIRST_TAG && codePoint <= LAST_TAG)

const looksLatin = (codePoint: number): boolean => {
  if (codePoint < FIRST_GREEK || codePoint > LAST_LOOK_ALIKE) return false
  if (codePoint < FIRST_CYRILLIC) return GREEK.has(codePoint)
  return (foldCodePoint(codePoint) & CODE_POINT_MASK) < 0x80
}

/** Whether `HiddenLetters` must know of a character. */
export const mayHide = (codePoint: number): boolean =>
  codePoint >= FIRST_GREEK && (looksLatin(codePoint) || isInvisible(codePoint))

const countBits = (bits: number): number => {
  let count = 0
  for (let rest = bits; rest !== 0; rest &= rest - 1) count += 1
  return count
}

/** Places of one kind that are close to one another. */
class Cluster {
  readonly #least: number
  readonly #near: number
  #first = -1
  #last = -1
  #count = 0

  constructor(least: number, near: number) {
    this.#least = least
    this.#near = near
  }

  begin(): void {
    this.#last = -1
    this.#count = 0
  }

  /** @returns where the cluster began once it has enough places, or -1 */
  add(at: number): number {
    const isNear = this.#last >= 0 && at - this.#last <= this.#near
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
  /** The source offsets of the first of them; `at` is -1 if there are none. */
  at = -1
  end = -1
  readonly #lookAlikes = new Cluster(LOOK_ALIKES, NEAR_BYTES)
  readonly #broken = new Cluster(BROKEN_WORDS, DENSE_BYTES)
  #runStart = -1
  #runEnd = -1
  #runLength = 0
  #followsLetter = false
  #before = -1
  #kinds = 0
  #repeats = 0
  #changes = 0
  #borders = 0

  begin(): void {
    this.at = this.end = -1
    this.beginText()
  }

  /** What is hidden in one string of a body does not add up with another. */
  beginText(): void {
    this.#runEnd = -1
    this.#borders = 0
    this.#lookAlikes.begin()
    this.#broken.begin()
  }

  /**
   * Notes a character of `mayHide`.
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
    if (this.at >= 0) return
    if (start !== this.#runEnd) {
      this.#runStart = start
      this.#followsLetter = followsLetter
      this.#before = -1
      this.#kinds = this.#repeats = this.#changes = this.#runLength = 0
    }
    this.#runEnd = end
    this.#runLength += 1
    const first =
      codePoint <= LAST_LOOK_ALIKE
        ? this.#lookAlike(source, end)
        : this.#unseen(source, codePoint, end)
    if (first < 0) return
    this.at = first
    this.end = end
  }

  #lookAlike(source: Buffer, end: number): number {
    const isInWord =
      this.#followsLetter &&
      this.#runLength <= LONGEST_RUN &&
      isLetter(source[end]) &&
      // One letter on each side is a formula.
      (isLetter(source[this.#runStart - 2]) || isLetter(source[end + 1]))
    return isInWord ? this.#lookAlikes.add(this.#runStart) : -1
  }

  #unseen(source: Buffer, codePoint: number, end: number): number {
    if (codePoint === this.#before) this.#repeats += 1
    else if (this.#before >= 0) this.#changes += 1
    this.#before = codePoint
    this.#kinds |= 1 << (codePoint & 31)
    if (this.#isBorder(codePoint)) {
      this.#borders += 1
      if (this.#borders === BORDERS) return this.#runStart
    }
    if (this.#isData()) return this.#runStart
    const isInWord = this.#followsLetter && !isOperator(codePoint) && isLetter(source[end])
    return isInWord ? this.#broken.add(this.#runStart) : -1
  }

  #isBorder(codePoint: number): boolean {
    const isJoiner = codePoint >= FIRST_JOINER && codePoint <= LAST_OPERATOR
    return isJoiner && this.#repeats === 1 && this.#changes === 0
  }

  #isData(): boolean {
    return (
      this.#runLength >= DATA_CHARACTERS &&
      countBits(this.#kinds) <= DATA_KINDS &&
      this.#repeats >= DATA_TURNS &&
      this.#changes >= DATA_TURNS
    )
  }
}
