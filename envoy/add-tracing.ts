import { type ConfigPart, listAt, partAt } from './config-part.ts'

/** Of a caller, while Envoy decides whether it traces the call. */
const SET_ASIDE = 'x-agw-traceparent'
const TYPE = 'type.googleapis.com/envoy'

/**
 * Adds Envoy's tracing to a bootstrap, in all its listeners for HTTP. Envoy sends its spans to ext-proc, which passes on what may be said of a
 * call: they contain URLs and headers. It sends the APIs no trace context of its own, so a caller's goes on as it came. It
 * also ignores that context: otherwise a caller could have all its calls traced, or none.
 * @param sample percentage of calls
 */
export function addTracing(bootstrap: ConfigPart, sample: number): ConfigPart {
  const resources = partAt(bootstrap, 'static_resources')
  return {
    ...bootstrap,
    layered_runtime: withFlush(partAt(bootstrap, 'layered_runtime')),
    static_resources: {
      ...resources,
      listeners: listAt(resources, 'listeners').map((listener) => ({
        ...listener,
        filter_chains: listAt(listener, 'filter_chains').map((chain) => ({
          ...chain,
          filters: listAt(chain, 'filters').map((filter) =>
            filter['name'] === 'http'
              ? { ...filter, typed_config: traced(partAt(filter, 'typed_config'), sample) }
              : filter,
          ),
        })),
      })),
    },
  }
}

/** Envoy's defaults are five spans, which is less than two calls have, and five seconds. */
const FLUSH = {
  'tracing.opentelemetry.min_flush_spans': 256,
  'tracing.opentelemetry.flush_interval_ms': 1_000,
}

function withFlush(runtime: ConfigPart): ConfigPart {
  const [layer = {}, ...others] = listAt(runtime, 'layers')
  const static_layer = { ...partAt(layer, 'static_layer'), ...FLUSH }
  return { ...runtime, layers: [{ ...layer, static_layer }, ...others] }
}

/** @param http a connection manager */
function traced(http: ConfigPart, sample: number): ConfigPart {
  return {
    ...http,
    tracing: {
      spawn_upstream_span: true,
      no_context_propagation: true,
      // They contain the query, also after the processor has put a credential there.
      max_path_tag_length: 0,
      provider: {
        name: 'envoy.tracers.opentelemetry',
        typed_config: {
          '@type': `${TYPE}.config.trace.v3.OpenTelemetryConfig`,
          service_name: 'agent-access-gateway',
          grpc_service: { envoy_grpc: { cluster_name: 'ext_proc' }, timeout: '1s' },
          // The sampling of the connection manager follows headers of callers, and is done again by the request id, which is no
          // longer there, when the processor has cleared the route cache. This one does not use either.
          sampler: {
            name: 'envoy.tracers.opentelemetry.samplers.trace_id_ratio_based',
            typed_config: {
              '@type': `${TYPE}.extensions.tracers.opentelemetry.samplers.v3.TraceIdRatioBasedSamplerConfig`,
              sampling_percentage: {
                numerator: Math.round(sample * 10_000),
                denominator: 'MILLION',
              },
            },
          },
        },
      },
    },
    early_header_mutation_extensions: listAt(http, 'early_header_mutation_extensions').map(
      (extension) => {
        const config = partAt(extension, 'typed_config')
        const mutations = [...listAt(config, 'mutations'), ...moved('traceparent', SET_ASIDE)]
        return { ...extension, typed_config: { ...config, mutations } }
      },
    ),
    http_filters: [
      {
        name: 'envoy.filters.http.header_mutation',
        typed_config: {
          '@type': `${TYPE}.extensions.filters.http.header_mutation.v3.HeaderMutation`,
          mutations: { request_mutations: moved(SET_ASIDE, 'traceparent') },
        },
      },
      ...listAt(http, 'http_filters'),
    ],
  }
}

const moved = (from: string, to: string): readonly ConfigPart[] => [
  { remove: to },
  {
    append: {
      header: { key: to, value: `%REQ(${from})%` },
      append_action: 'OVERWRITE_IF_EXISTS_OR_ADD',
    },
  },
  { remove: from },
]
