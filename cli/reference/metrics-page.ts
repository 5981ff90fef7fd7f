import { METRICS } from '../../core/metrics/metric-catalogue.ts'
import { table } from '../terminal/table.ts'

/** Every metric of `GET /metrics`, from the catalogue. */
export const metricsPage = (): string => `# Metrics

\`GET {api_url}/metrics\` returns these in the Prometheus text format. [Monitoring](../guides/monitoring.md) lists the ones to alert on.

${table(
  ['name', 'type', 'labels', 'counted by', 'what'],
  Object.entries(METRICS).map(([name, { type, labels, source, help }]) => [
    `\`${name}\``,
    type,
    labels.map((label) => `\`${label}\``).join(', '),
    source,
    help,
  ]),
)}
`
