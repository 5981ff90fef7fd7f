/**
 * Whether an output is what a guide shows: `…` in a line stands for any characters of that line, and a line of it alone for any
 * number of lines.
 */
export function printsAsShown(output: string, shown: readonly string[]): boolean {
  const lines = shown.map((line) =>
    line === '…' ? '(?:[^\\n]*\\n)*?' : `${line.split('…').map(escape).join('[^\\n]*')}\\n`,
  )
  const text = output === '' || output.endsWith('\n') ? output : `${output}\n`
  return new RegExp(`^${lines.join('')}$`).test(text)
}

const escape = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')
