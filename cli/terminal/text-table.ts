import { terminalText } from './terminal-text.ts'

/** Longer cells end with `…`: one of them would push all others out of sight. */
const CELL_LIMIT = 60

/** A heading and rows in aligned columns. No cell can steer the terminal; those of `whole` columns are never cut. */
export function textTable(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  whole: ReadonlySet<string> = new Set(),
): string {
  const limits = headings.map((heading) => (whole.has(heading) ? Infinity : CELL_LIMIT))
  const lines = [headings, ...rows].map((row) => row.map((text, i) => cell(text, limits[i] ?? 0)))
  const widths = headings.map((_, i) => Math.max(...lines.map((line) => (line[i] ?? '').length)))
  return lines
    .map((line) => `${line.map((text, i) => text.padEnd(widths[i] ?? 0)).join('  ')}`.trimEnd())
    .map((line) => `${line}\n`)
    .join('')
}

function cell(text: string, limit: number): string {
  const clean = terminalText(text)
  return clean.length > limit ? `${clean.slice(0, limit - 1)}…` : clean
}
