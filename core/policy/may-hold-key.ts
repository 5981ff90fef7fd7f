/** What all escapes of a character below 256 begin with; most bodies have none. */
const ESCAPE = Buffer.from('\\u00')
/** How JSON spells a letter, a digit or an underscore that is escaped begins with one of these. */
const ESCAPED_LETTERS = ['\\u005', '\\u006', '\\u007', '\\u004', '\\u003'].map((text) =>
  Buffer.from(text),
)

/**
 * Whether a JSON body might have a key that begins with `name`: false only when the name stands nowhere, plain or
 * escaped. The native search takes a fiftieth of the time that walking the body does, and most bodies end here.
 */
export const mayHoldKey = (body: Buffer, name: string): boolean =>
  body.includes(name) ||
  (body.includes(ESCAPE) && ESCAPED_LETTERS.some((escape) => body.includes(escape)))
