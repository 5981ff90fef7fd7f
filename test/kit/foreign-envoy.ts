import { isMap, parseDocument, visit } from 'yaml'

export interface ForeignFilter {
  /** Whether the filter obeys the modes that a processor sends with its answers. */
  readonly allow_mode_override: boolean
  readonly response_header_mode: 'SEND' | 'SKIP'
  readonly response_trailer_mode: 'SEND' | 'SKIP'
  /** What the filter calls itself. */
  readonly authority?: string
}

/**
 * Turns the product's Envoy configuration into one that somebody else wrote: the ext_proc filter has no condition around it
 * and does not claim to be ours unless it is given a name, and its modes are those that are given. Envoy Gateway's policy cannot set a trailer mode,
 * so there it is SKIP.
 */
export const foreignEnvoy =
  (filter: ForeignFilter) =>
  (yaml: string): string => {
    const config = parseDocument(yaml)
    let edited = 0
    visit(config, {
      Map(_key, node) {
        if (node.get('name') !== 'envoy.filters.http.ext_proc') return undefined
        const wrapper = node.get('typed_config')
        const inner = isMap(wrapper) ? wrapper.getIn(['extension_config', 'typed_config']) : null
        if (!isMap(inner)) return undefined
        const { authority } = filter
        if (authority === undefined) inner.deleteIn(['grpc_service', 'envoy_grpc', 'authority'])
        else inner.setIn(['grpc_service', 'envoy_grpc', 'authority'], authority)
        inner.set('allow_mode_override', filter.allow_mode_override)
        inner.setIn(['processing_mode', 'response_header_mode'], filter.response_header_mode)
        inner.setIn(['processing_mode', 'response_trailer_mode'], filter.response_trailer_mode)
        node.set('typed_config', inner)
        edited++
        return visit.SKIP
      },
    })
    if (edited !== 1) throw new Error(`${edited} ext_proc filters found, not 1`)
    return config.toString()
  }
