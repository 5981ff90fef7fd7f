/**
 * Control characters of both sets, and format characters such as those that turn the direction of a line: what callers
 * have chosen must not steer the terminal. Line and paragraph separators, which some take for line ends, and halves of
 * surrogate pairs go with them.
 */
const STEERING = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu

/** Whether a text contains one of these characters. */
export const isSteering = (text: string): boolean => text.search(STEERING) >= 0

/** For a table cell or a word in a sentence. */
export const terminalText = (text: string): string => text.replaceAll(STEERING, '?')

/** The same for text of several lines, such as a message with its issues. */
export const terminalLines = (text: string): string => text.split('\n').map(terminalText).join('\n')

/** JSON for a terminal or a program: the same value, with these characters escaped. They stand only within its strings. */
export const terminalJson = (value: unknown, indent?: number): string =>
  JSON.stringify(value, null, indent)
    .split('\n')
    .map((line) => line.replaceAll(STEERING, escaped))
    .join('\n')

const escaped = (character: string): string =>
  Array.from({ length: character.length }, (_, i) => unitOf(character.charCodeAt(i))).join('')
const unitOf = (code: number): string => `\\u${code.toString(16).padStart(4, '0')}`

/** A line of YAML in which these characters stand within double quotes alone. */
export const terminalYaml = (line: string): string =>
  line.replaceAll(STEERING, (character) => {
    const code = character.codePointAt(0) ?? 0
    return code > 0xffff ? `\\U${code.toString(16).padStart(8, '0')}` : unitOf(code)
  })
