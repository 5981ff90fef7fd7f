/** A scheme and what follows it up to a blank, a quote or what ends a cell of Markdown. */
const ADDRESS = /[a-z][a-z0-9+.-]{1,15}:(?:\\?\/){0,3}[^\s`'"|<]+/gi
/** Prose around a link is not a payload: `password:`, `note:`. */
const LEADS_SOMEWHERE = /:\/|^https?:/i
/** What a document puts around an address: a Markdown link's end, a sentence's end. */
const TAIL = /(?:\)|\]\(.*|[.,])$/

/** The addresses in a text, each once: lists with one per line, and Markdown or program output around them. */
export function ssrfPayloads(texts: readonly string[]): readonly string[] {
  const found = texts.flatMap((text) =>
    // eslint-disable-next-line no-control-regex -- lists come with the colours of a terminal
    [...text.replace(/\u001b\[[0-9;]*m/g, '\n').matchAll(ADDRESS)].map(([address]) =>
      address.replace(TAIL, ''),
    ),
  )
  return [...new Set(found)].filter((address) => LEADS_SOMEWHERE.test(address))
}
