/** A run of blanks, line breaks, underscores and control characters as one blank. */
export const withSingleBlanks = (text: string): string => text.replace(/[\s_\p{Cc}]+/gu, ' ')
