import { METRICS } from './metric-catalogue.ts'

/** The catalogue as the table of docs/metrics.md. */
export function metricsTable(): string {
  const rows = Object.entries(METRICS).map(
    ([name, { type, labels, source, help }]) =>
      `| \`${name}\` | ${type} | ${labels.map((label) => `\`${label}\``).join(', ')} | ${source} | ${help} |`,
  )
  return ['| name | type | labels | counted by | what |', '|---|---|---|---|---|', ...rows].join(
    '\n',
  )
}
