/** All escapes of a character below 256 begin with this; most bodies have none. */
const ESCAPE = Buffer.from('\\u00')
/** The JSON escape of a letter, digit or underscore begins with one of these. */
const ESCAPED_LETTERS = ['\\u005', '\\u006', '\\u007', '\\u004', '\\u003'].map((text) =>
  Buffer.from(text),
)

/**
 * Whether a JSON body might have a key that begins with `name`: false only if the name occurs nowhere, plain or escaped. The
 * native search takes a fiftieth of the time of walking the body, and suffices for most bodies.
 */
export const mayHoldKey = (body: Buffer, name: string): boolean =>
  body.includes(name) ||
  (body.includes(ESCAPE) && ESCAPED_LETTERS.some((escape) => body.includes(escape)))
