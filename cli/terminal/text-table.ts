import { terminalText } from './terminal-text.ts'

/** Longer cells end with `…`: one of them would push all others out of sight. */
const CELL_LIMIT = 60

/** A heading and rows in aligned columns. No cell can steer the terminal. */
export function textTable(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  const lines = [headings, ...rows].map((row) => row.map(cell))
  const widths = headings.map((_, i) => Math.max(...lines.map((line) => (line[i] ?? '').length)))
  return lines
    .map((line) => `${line.map((text, i) => text.padEnd(widths[i] ?? 0)).join('  ')}`.trimEnd())
    .map((line) => `${line}\n`)
    .join('')
}

function cell(text: string): string {
  const clean = terminalText(text)
  return clean.length > CELL_LIMIT ? `${clean.slice(0, CELL_LIMIT - 1)}…` : clean
}
