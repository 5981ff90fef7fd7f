/** Class number -1: a gate that one word opens. */
export type CompiledGate = {
  readonly first: number
  readonly within: number
  readonly pattern: number
  /** Symbols of which one stands before the word; null: any. */
  readonly after: Uint8Array | null
}

/**
 * What each word of the lists does, as numbers in one row, since it is read for every second word of a text:
 * the number of its gates; of each the class of the first word, how many words may lie between, the pattern;
 * the number of its classes; the classes. A gate of one word has -1 as class, and instead of the distance
 * where in `symbols` the symbols before it are, or -1.
 */
export type GateProgram = {
  readonly code: Int32Array
  /** Where in `code` the row of each distinct word begins. Words of the same classes share a row. */
  readonly starts: Int32Array
  readonly symbols: readonly Uint8Array[]
}

/**
 * @param classesOf words of the same classes have the same list
 * @param gatesOf gates by the class that closes them; the order of classes and gates is kept
 */
export const buildGateProgram = (
  classesOf: readonly Uint16Array[],
  gatesOf: readonly (readonly CompiledGate[])[],
): GateProgram => {
  const code: number[] = []
  const symbols: Uint8Array[] = []
  const rows = new Map<Uint16Array, number>()
  const starts = classesOf.map((classes) => {
    const known = rows.get(classes)
    if (known !== undefined) return known
    const start = code.length
    rows.set(classes, start)
    const gates = Array.from(classes).flatMap((one) => gatesOf[one] ?? [])
    code.push(gates.length)
    for (const { first, within, pattern, after } of gates) {
      const distance = first >= 0 ? within : after === null ? -1 : symbols.push(after) - 1
      code.push(first, distance, pattern)
    }
    code.push(classes.length, ...classes)
    return start
  })
  return { code: Int32Array.from(code), starts: Int32Array.from(starts), symbols }
}
