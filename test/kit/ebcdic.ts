const EBCDIC_RUNS: readonly (readonly [number, string])[] = [
  [0x40, ' '],
  [0x4b, '.'],
  [0x81, 'abcdefghi'],
  [0x91, 'jklmnopqr'],
  [0xa2, 'stuvwxyz'],
  [0xc1, 'ABCDEFGHI'],
]

/** A text in the characters that all EBCDIC pages share. */
export const ebcdic = (text: string): Buffer =>
  Buffer.from(
    Array.from(text, (character) => {
      const run = EBCDIC_RUNS.find(([, characters]) => characters.includes(character))
      return run === undefined ? 0x6f : run[0] + run[1].indexOf(character)
    }),
  )
