/** Characters that are not seen, or that change the order of others; line feeds and tabs stay. */
const UNSEEN = /[^\P{C}\n\t]|[\u2028\u2029]/gu

/** A text of an agent with its unseen characters written out: who decides has to see what is there. */
export const plainText = (text: string): string =>
  text.replaceAll(UNSEEN, (one) => `\\u{${one.codePointAt(0)?.toString(16) ?? ''}}`)
