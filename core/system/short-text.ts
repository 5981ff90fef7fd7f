/** Half of a character that a cut has divided. */
const HALF = /[\uD800-\uDBFF]$/

/** The text, or its beginning and an ellipsis, so that it has so many characters at most. */
export const shortText = (text: string, length_max: number): string =>
  text.length <= length_max ? text : `${text.slice(0, length_max - 1).replace(HALF, '')}…`
