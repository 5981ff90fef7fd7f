/** A text that a reader could decode from the source, and the source position of each byte. */
export type DerivedText = {
  readonly via:
    | 'rot13'
    | 'reversed'
    | 'leetspeak'
    | 'typos'
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
    | 'hyphenated'
    | 'joined_lines'
    | 'variation_selectors'
    | 'tag_characters'
    | 'split_values'
    | 'nested_escapes'
  readonly text: Buffer
  /** Source offset of each byte; without it, the text stands for the source from `start` to `end`. */
  readonly offsets?: Int32Array
  /** Where `text` was changed, ascending; a hit without such a place is known already. */
  readonly changed?: readonly number[]
  readonly start: number
  readonly end: number
}
