import { knownUrl } from '../bounded/parse-url.ts'
/** A host and port of the store, a cluster or a Sentinel. */
export interface StorePlace {
  readonly host: string
  readonly port: number
}

interface Login {
  readonly username: string | null
  readonly password: string | null
  readonly is_tls: boolean
}

/** The parsed REDIS_URL. */
export type StoreAddress =
  | { readonly kind: 'socket'; readonly path: string }
  | (Login & {
      readonly kind: 'single'
      readonly place: StorePlace
      readonly db: number
      /** 4 or 6, to look up only such addresses; 0 for both. */
      readonly family: number
    })
  | (Login & {
      readonly kind: 'sentinel'
      readonly places: readonly StorePlace[]
      readonly primary_name: string
    })
  | (Login & { readonly kind: 'cluster'; readonly places: readonly StorePlace[] })

const DEFAULT_PORTS = { single: 6379, cluster: 6379, sentinel: 26_379 } as const

/**
 * Reads `redis://`, `rediss://`, `unix:///path`, `redis+sentinel://host:port,…/name` and `redis+cluster://host:port,…`, with
 * `rediss` for TLS.
 * @throws when the form is not one of these
 */
export function parseStoreAddress(url: string): StoreAddress {
  if (url.startsWith('unix://')) return { kind: 'socket', path: url.slice('unix://'.length) }
  if (/^rediss?:\/\//.test(url)) return parseSingle(knownUrl(url))
  const several =
    /^(rediss?)\+(sentinel|cluster):\/\/(?:([^:@/]*):([^@/]*)@)?([^/]+)(?:\/([^/]+))?$/.exec(url)
  if (several === null)
    throw new Error(`REDIS_URL has a form that is not known: ${url.split(':')[0]}:…`)
  const [, scheme, form, username = '', password = '', list = '', name = 'mymaster'] = several
  const kind = form === 'sentinel' ? 'sentinel' : 'cluster'
  const places = list.split(',').map((place) => parsePlace(place, DEFAULT_PORTS[kind]))
  const login = {
    username: decodeURIComponent(username) || null,
    password: decodeURIComponent(password) || null,
    is_tls: scheme === 'rediss',
  }
  return kind === 'sentinel'
    ? { kind, places, primary_name: name, ...login }
    : { kind, places, ...login }
}

function parseSingle(url: URL): StoreAddress {
  return {
    kind: 'single',
    place: {
      host: withoutBrackets(url.hostname),
      port: Number(url.port || DEFAULT_PORTS.single),
    },
    db: Number(url.pathname.slice(1) || 0),
    family: Number(url.searchParams.get('family') ?? 0),
    username: decodeURIComponent(url.username) || null,
    password: decodeURIComponent(url.password) || null,
    is_tls: url.protocol === 'rediss:',
  }
}

function parsePlace(place: string, default_port: number): StorePlace {
  const [, host = place, port] = /^(.*):(\d+)$/.exec(place) ?? []
  return { host: withoutBrackets(host), port: Number(port ?? default_port) }
}

const withoutBrackets = (host: string): string => host.replace(/^\[|\]$/g, '')
