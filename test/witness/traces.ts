import { once } from 'node:events'
import { call } from '../kit/call.ts'
import { makeCollector } from '../kit/make-collector.ts'
import { startAll, stopAll } from '../kit/shared-stack.ts'
import type { ReceivedSpan } from '../kit/start-span-receiver.ts'
import { until } from '../kit/until.ts'

/**
 * Traces of calls and refusals in a real OpenTelemetry Collector, which is not there at first. Reads what its file exporter has written:
 * each call is one whole trace, and nothing that a caller or a credential brought is in any span. The exit code is 1 otherwise.
 * docs/measurements.md says how to build a Collector with these two components.
 *
 *     node cli/prepare.mjs build && node dist/test/witness/traces.js --collector PATH/otelcol
 */

/** Within a second a process traces 100. */
const CALLS = 90
/** Of these one is refused. */
const REFUSED_EACH = 10
const SECRET = 'planted-5ecre7'

const collector = await makeCollector('traces')

const stack = await startAll({
  AGW_TRACE_URL: collector.url,
  AGW_TRACE_SAMPLE: '100',
})
const { headers, base_url } = await stack.operator.makeAccess(stack.ownBaseUrl(), {
  auth: { type: 'query', name: 'key', value: `${SECRET}-credential` },
  rules: [{ methods: ['GET'], paths: ['/**'] }],
})
const ids = new Set<string>()
for (let i = 0; i < CALLS; i++) {
  // The Collector comes late: the first spans wait for it.
  const answer = await call({
    to: stack.proxyUrl,
    method: i % REFUSED_EACH === 0 ? 'DELETE' : 'GET',
    path: `/${base_url}/${SECRET}-path?q=${SECRET}-query`,
    headers: { ...headers, 'user-agent': SECRET, cookie: `a=${SECRET}` },
  })
  ids.add(answer.header('x-agw-request-id') ?? '')
}
const running = collector.start()

interface Line {
  readonly resourceSpans: readonly { scopeSpans: readonly { spans: readonly ReceivedSpan[] }[] }[]
}
const readSpans = (): ReceivedSpan[] =>
  collector
    .written()
    .split('\n')
    .filter((line) => line.endsWith('}'))
    .flatMap((line) =>
      (JSON.parse(line) as Line).resourceSpans.flatMap(({ scopeSpans }) =>
        scopeSpans.flatMap(({ spans }) => spans),
      ),
    )
const valueOf = ({ attributes = [] }: Partial<ReceivedSpan>, name: string): string =>
  attributes.find(({ key }) => key === name)?.value.stringValue ?? ''

/** Whether each span belongs to another one of the trace, and one of Envoy to none. */
const isWhole = (trace: readonly ReceivedSpan[]): boolean => {
  const all = new Set(trace.map(({ spanId }) => spanId))
  const roots = trace.filter(({ parentSpanId }) => parentSpanId === '')
  const decision = trace.find(({ name }) => name === 'agw.decision')
  const hasUpstream = trace.some(({ name }) => name === 'agw.upstream')
  return (
    roots.length === 1 &&
    roots[0]?.name === 'agw.call' &&
    trace.every(({ parentSpanId }) => parentSpanId === '' || all.has(parentSpanId)) &&
    hasUpstream === (valueOf(decision ?? {}, 'agw.decision') === 'allowed')
  )
}
const tracesOf = (spans: readonly ReceivedSpan[]): readonly (readonly ReceivedSpan[])[] => {
  const wanted = spans.filter((span) => ids.has(valueOf(span, 'agw.request.id')))
  const traces = new Set(
    wanted.filter(({ name }) => name === 'agw.decision').map(({ traceId }) => traceId),
  )
  return [...traces].map((id) => spans.filter(({ traceId }) => traceId === id))
}
const traces = await until('every call is a whole trace', () => {
  const found = tracesOf(readSpans())
  return found.length >= CALLS && found.every(isWhole) && found
}).catch(() => tracesOf(readSpans()))
const broken = CALLS - traces.filter(isWhole).length
const leaks = [SECRET, ...stack.operator.secrets].filter((secret) =>
  collector.written().includes(secret),
)
process.stdout.write(
  `${CALLS} calls, a Collector that came after them: ${traces.length} traces of ${traces.flat().length} spans, ${broken} missing or not whole, ${leaks.length} secrets found.\n`,
)
running.kill('SIGTERM')
await once(running, 'exit')
await stopAll(stack)
process.exitCode = broken + leaks.length > 0 ? 1 : 0
