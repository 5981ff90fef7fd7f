/** A text that a reader could decode from the source, and the source position of each byte. */
export type DerivedText = {
  readonly via:
    | 'rot13'
    | 'reversed'
    | 'leetspeak'
    | 'spaced_letters'
    | 'joined_words'
    | 'numbers'
    | 'base64'
    | 'hex'
    | 'base32'
    | 'base58'
    | 'base85'
    | 'uuencode'
    | 'rot47'
    | 'broken_words'
    | 'variation_selectors'
    | 'split_values'
    | 'nested_escapes'
  readonly text: Buffer
  /** Source offset of each byte; without it, the text stands for the source from `start` to `end`. */
  readonly offsets?: Int32Array
  readonly start: number
  readonly end: number
}
