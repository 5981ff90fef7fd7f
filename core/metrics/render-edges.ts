import type { EdgeSnapshot } from './edge-snapshot.ts'
import { METRICS, type MetricName, STEP_BUCKETS_S } from './metric-catalogue.ts'

type Labels = Readonly<Record<string, string>>

/** The metrics of the edges in the Prometheus text format, with a label per edge. */
export function renderEdges(snapshots: ReadonlyMap<string, EdgeSnapshot>): string {
  const names = (Object.keys(METRICS) as MetricName[]).filter(
    (name) => METRICS[name].source === 'edge',
  )
  return names.map((name) => renderMetric(name, snapshots)).join('')
}

function renderMetric(name: MetricName, snapshots: ReadonlyMap<string, EdgeSnapshot>): string {
  const { help, type } = METRICS[name]
  const lines = [...snapshots].flatMap(([edge, { values, histograms }]) => [
    ...values
      .filter((one) => one.name === name)
      .map(({ labels, value }) => line(name, { edge, ...labels }, value)),
    ...histograms
      .filter((one) => one.name === name)
      .flatMap(({ labels, counts, sum }) => histogram(name, { edge, ...labels }, counts, sum)),
  ])
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines, ''].join('\n')
}

function histogram(
  name: string,
  labels: Labels,
  counts: readonly number[],
  sum: number,
): readonly string[] {
  let total = 0
  const buckets = counts.map((count, i) => {
    total += count
    return line(`${name}_bucket`, { ...labels, le: String(STEP_BUCKETS_S[i] ?? '+Inf') }, total)
  })
  return [...buckets, line(`${name}_sum`, labels, sum), line(`${name}_count`, labels, total)]
}

const line = (name: string, labels: Labels, value: number): string => {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escapeText(text)}"`)
  return `${name}{${pairs.join(',')}} ${value}`
}

const escapeText = (text: string): string =>
  text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
