/** A spreadsheet interprets a cell that begins with one of these as a formula (threat model, rule 25). */
const FORMULA = /^[=+\-@\t\r]/
const NEEDS_QUOTES = /[",\r\n]/

/** One line of CSV (RFC 4180). A cell that could be a formula is prefixed with a quote, so that it stays text. */
export const csvLine = (cells: readonly string[]): string => `${cells.map(csvCell).join(',')}\r\n`

function csvCell(text: string): string {
  const safe = FORMULA.test(text) ? `'${text}` : text
  return NEEDS_QUOTES.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
