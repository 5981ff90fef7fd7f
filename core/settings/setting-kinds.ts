import { accessSync, constants } from 'node:fs'
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { EVENT_NAMES, type EventName } from '../catalogue/events.ts'
import { parseUrl } from '../bounded/parse-url.ts'
import { isReferencePrefix, type SecretRefs } from '../credential/secret-reference.ts'
import { readProxyUrl } from '../egress/read-proxy-url.ts'

export type Parsed<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problem: string }

/** The format of a setting: `name` is shown in the table of settings, `parse` never throws. */
export interface SettingKind<T> {
  readonly name: string
  /** The value is a secret or may contain one: it can also come from a file, and no message repeats it. */
  readonly is_secret?: true
  /** The value names a file that must exist where the program runs. */
  readonly is_file?: true
  readonly parse: (text: string) => Parsed<T>
}

const secret = <T>(kind: SettingKind<T>): SettingKind<T> => ({ ...kind, is_secret: true })

const good = <T>(value: T): Parsed<T> => ({ ok: true, value })
const bad = (problem: string): Parsed<never> => ({ ok: false, problem })

const matching = (name: string, pattern: RegExp, problem: string): SettingKind<string> => ({
  name,
  parse: (text) => (pattern.test(text) ? good(text) : bad(problem)),
})

export const integer = (min: number, max: number): SettingKind<number> => ({
  name: `integer, ${min} to ${max}`,
  parse: (text) => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
    return value >= min && value <= max
      ? good(value)
      : bad(`is not a whole number from ${min} to ${max}`)
  },
})

export const percent: SettingKind<number> = {
  name: 'percentage, 0.01 to 100',
  parse: (text) => {
    const value = /^\d{1,3}(\.\d{1,2})?$/.test(text) ? Number(text) : Number.NaN
    return value > 0 && value <= 100
      ? good(value)
      : bad('is not a percentage from 0.01 to 100 with at most two decimals')
  },
}

/** Port 0 lets the operating system choose, which tests use. */
export const port = integer(0, 65_535)

/** Null: off. */
export const portOrOff: SettingKind<number | null> = {
  name: `${port.name}, or off`,
  parse: (text) => {
    const parsed = text === 'off' ? good(null) : port.parse(text)
    return parsed.ok ? parsed : bad(`${parsed.problem}, and not "off"`)
  },
}

export const extProcTransport: SettingKind<'built-in' | 'grpc-js'> = {
  name: 'built-in or grpc-js',
  parse: (text) =>
    text === 'built-in' || text === 'grpc-js' ? good(text) : bad('must be built-in or grpc-js'),
}

export const onOff: SettingKind<boolean> = {
  name: 'on or off',
  parse: (text) =>
    text === 'on' || text === 'off' ? good(text === 'on') : bad('must be "on" or "off"'),
}

export const trueOrFalse: SettingKind<boolean> = {
  name: 'true or false',
  parse: (text) =>
    text === 'true' || text === 'false' ? good(text === 'true') : bad('must be "true" or "false"'),
}

export const host: SettingKind<string> = {
  name: 'IP address or host name',
  parse: (text) =>
    isIP(text) > 0 || /^[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$/.test(text)
      ? good(text)
      : bad('is not an IP address or host name'),
}

export const hostPattern = matching(
  'host name, or *.domain',
  /^(\*\.)?[A-Za-z0-9_]([A-Za-z0-9_.-]{0,250}[A-Za-z0-9_])?$/,
  'is neither a host name nor *.domain',
)

/** A domain of a virtual host of Envoy, which is compared with the whole `Host` header. */
export const virtualHostDomain = matching(
  'host name, or *.domain, with or without a port',
  /^(\*\.)?[A-Za-z0-9_]([A-Za-z0-9_.-]{0,250}[A-Za-z0-9_])?(:[1-9][0-9]{0,4})?$/,
  'is neither a host name nor *.domain, with or without a port',
)

export const name = matching(
  'name',
  /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/,
  'is not a name of at most 64 letters, digits, ".", "_" and "-"',
)

export const subjectAltName = matching(
  'DNS name, IP address or URI',
  /^[\x21-\x2b\x2d-\x7e]{1,255}$/,
  'is not a DNS name, IP address or URI',
)

export const email = matching(
  'e-mail address',
  /^[^\s@<>,]{1,64}@[^\s@<>,]{1,190}$/,
  'is not an e-mail address',
)

const visible = matching(
  'text',
  /^\P{Cc}{1,512}$/u,
  'is not a text of at most 512 characters without control characters',
)

export const text: SettingKind<string> = visible

export const secretText: SettingKind<string> = secret(visible)

export const path: SettingKind<string> = {
  name: 'path',
  parse: (text) => (text.includes('\0') ? bad('is not a path') : good(text)),
}

export const readableFile: SettingKind<string> = {
  name: 'file',
  is_file: true,
  parse: (text) =>
    isReadable(text, constants.R_OK)
      ? good(text)
      : bad(`names a file that cannot be read: ${text}`),
}

export const executableFile: SettingKind<string> = {
  name: 'file',
  parse: (text) =>
    isReadable(text, constants.X_OK)
      ? good(text)
      : bad(`names a file that cannot be executed: ${text}`),
}

export const bearerToken = secret(
  matching(
    'token',
    /^[\x21-\x7e]{8,512}$/,
    'is not a token of 8 to 512 visible ASCII characters without spaces',
  ),
)

/** Two are enough for a rotation; one more is left over by a rotation that was interrupted. */
const VERDICT_SECRETS_MAX = 3

/** Newest first: a processor uses the first, Envoy accepts all of them. */
export const verdictSecrets: SettingKind<readonly string[]> = secret({
  name: 'token; comma-separated if several, newest first',
  parse: (text) => {
    const parts = text.split(',').map((part) => part.trim())
    if (parts.length > VERDICT_SECRETS_MAX)
      return bad(`lists more than ${VERDICT_SECRETS_MAX} values`)
    const problem = parts.map((part) => bearerToken.parse(part)).find(({ ok }) => !ok)
    return problem?.ok === false ? problem : good([...new Set(parts)])
  },
})

/** A shorter token chosen by an operator can be guessed; a generated one has 46 characters. */
const ADMIN_TOKEN_MIN_LENGTH = 32

export const adminToken: SettingKind<string> = secret({
  name: `token of at least ${ADMIN_TOKEN_MIN_LENGTH} characters`,
  parse: (text) => {
    const token = bearerToken.parse(text)
    return token.ok && text.length < ADMIN_TOKEN_MIN_LENGTH
      ? bad(
          `has fewer than ${ADMIN_TOKEN_MIN_LENGTH} characters. Generate one with: openssl rand -hex 32`,
        )
      : token
  },
})

const ENCRYPTION_KEY_BYTES = 32
const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/

/** Kept as text: core/keys/seal.ts makes the key ring of it. */
export const encryptionKeys: SettingKind<string> = secret({
  name: '32 bytes in Base64; comma-separated if several, newest first',
  parse: (text) =>
    text.split(',').every((part) => {
      const key = part.trim()
      return BASE64.test(key) && Buffer.from(key, 'base64').length === ENCRYPTION_KEY_BYTES
    })
      ? good(text)
      : bad('is not 32 bytes in Base64, or a comma-separated list of such keys'),
})

export const keyId = matching(
  'key id: 8 hexadecimal digits',
  /^[0-9a-f]{8}$/,
  'is not a key id of 8 hexadecimal digits',
)

const SECRET_REFS_PROBLEM =
  'is not a JSON object of lists of prefixes by organization, such as {"org_default": ["env:AGW_SECRET_", "file:/run/secrets/"]}'
/** Each costs a comparison per call. */
const PREFIXES_LIMIT = 64

export const secretRefs: SettingKind<SecretRefs> = {
  name: 'JSON: prefixes by organization',
  parse: (text) => {
    const refs = parseJson(text)
    if (typeof refs !== 'object' || refs === null || Array.isArray(refs))
      return bad(SECRET_REFS_PROBLEM)
    for (const prefixes of Object.values(refs) as unknown[]) {
      if (!Array.isArray(prefixes) || prefixes.length > PREFIXES_LIMIT)
        return bad(SECRET_REFS_PROBLEM)
      const wrong: unknown = prefixes.find(
        (prefix) => typeof prefix !== 'string' || !isReferencePrefix(prefix),
      )
      if (wrong !== undefined)
        return bad(
          `contains ${JSON.stringify(wrong)}, which is neither env:AGW_SECRET_… nor file:/FOLDER/, vault:PATH/ or aws-sm:NAME/ with a slash at its end`,
        )
    }
    return good(refs as SecretRefs)
  },
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** For retention: from an hour to ten years. */
export const days: SettingKind<number> = {
  name: 'retention: 12h, 30d',
  parse: (text) => {
    const match = /^(\d{1,6})(h|d)$/.exec(text)
    const hours = Number(match?.[1]) * (match?.[2] === 'd' ? 24 : 1)
    return match !== null && hours >= 1 && hours <= 87_600
      ? good(hours * 3_600_000)
      : bad('is not a duration from 1h to ten years, such as 12h or 30d')
  },
}

export const daysOrForever: SettingKind<number | null> = {
  name: 'retention: 12h, 30d, forever',
  parse: (text) => {
    if (text === 'forever') return good(null)
    const parsed = days.parse(text)
    return parsed.ok
      ? parsed
      : bad('is not forever, or a duration from 1h to ten years, such as 12h or 30d')
  },
}

const DURATION_UNITS_MS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 } as const
const LONGEST_DURATION_MS = 7 * 24 * 3_600_000

export const duration: SettingKind<number> = {
  name: 'duration: 500ms, 30s, 15m, 2h',
  parse: (text) => {
    const match = /^(\d{1,9})(ms|s|m|h)$/.exec(text)
    const unit = match?.[2] as keyof typeof DURATION_UNITS_MS | undefined
    const value = unit === undefined ? Number.NaN : Number(match?.[1]) * DURATION_UNITS_MS[unit]
    return value <= LONGEST_DURATION_MS
      ? good(value)
      : bad('is not a duration of at most a week, such as 500ms, 30s, 15m or 2h')
  },
}

export const durationBetween = (min: string, max: string): SettingKind<number> => ({
  name: `duration, ${min} to ${max}`,
  parse: (text) => {
    const [value, least, most] = [text, min, max].map((each) => duration.parse(each))
    return value?.ok &&
      least?.ok &&
      most?.ok &&
      value.value >= least.value &&
      value.value <= most.value
      ? value
      : bad(`is not a duration from ${min} to ${max}`)
  },
})

/**
 * An empty text is an empty list.
 * @param isQuoted whether a message may quote an invalid value; false where a secret may be put by mistake
 */
export const listOf = <T>(
  item: SettingKind<T>,
  limit: number,
  isQuoted = true,
): SettingKind<readonly T[]> => ({
  name: `comma-separated list: ${item.name}`,
  parse: (text) => {
    const parts = text.split(',').flatMap((part) => part.trim() || [])
    if (parts.length > limit) return bad(`lists more than ${limit} values`)
    const values: T[] = []
    for (const [i, part] of parts.entries()) {
      const parsed = item.parse(part)
      if (!parsed.ok)
        return bad(`contains ${isQuoted ? `"${part}"` : `value ${i + 1}`}, which ${parsed.problem}`)
      values.push(parsed.value)
    }
    return good(values)
  },
})

/** Canonical `network/length`; a bare address is a range of one. */
export const cidr: SettingKind<string> = {
  name: 'CIDR range',
  parse: (text) => {
    try {
      const [address, length] = text.includes('/')
        ? ipaddr.parseCIDR(text)
        : singleAddress(ipaddr.parse(text))
      const network =
        address.kind() === 'ipv4'
          ? ipaddr.IPv4.networkAddressFromCIDR(`${address.toString()}/${length}`)
          : ipaddr.IPv6.networkAddressFromCIDR(`${address.toString()}/${length}`)
      return good(`${network.toString()}/${length}`)
    } catch {
      return bad('is not a CIDR range such as 10.1.0.0/16 or fd00:1::/32')
    }
  },
}

const singleAddress = (address: ipaddr.IPv4 | ipaddr.IPv6): [ipaddr.IPv4 | ipaddr.IPv6, number] => [
  address,
  address.kind() === 'ipv4' ? 32 : 128,
]

const HOST_PORT = /^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]+):(\d{1,5})$/

export const hostPort: SettingKind<string> = {
  name: 'host:port',
  parse: (text) => (isHostPort(text) ? good(text) : bad('is not host:port')),
}

/** The path of a Unix socket has 108 bytes on Linux and 104 on macOS, including a terminating NUL. */
const SOCKET_PATH_LIMIT_BYTES = 103

export const extProcAddress: SettingKind<string> = {
  name: 'unix:/path or host:port',
  parse: (text) => {
    if (!text.startsWith('unix:')) return hostPort.parse(text)
    const socket = text.slice('unix:'.length)
    if (!socket.startsWith('/')) return bad('is not unix: followed by an absolute path')
    return Buffer.byteLength(socket) <= SOCKET_PATH_LIMIT_BYTES
      ? good(text)
      : bad(`has a socket path of more than ${SOCKET_PATH_LIMIT_BYTES} bytes`)
  },
}

const REDIS_FORMS =
  'redis://…, rediss://…, unix:///path/to.sock, redis+sentinel://host:port,host:port/master or redis+cluster://host:port,host:port'

/** It may hold a password. */
export const redisUrl: SettingKind<string> = secret({
  name: REDIS_FORMS,
  parse: (text) => (isRedisUrl(text) ? good(text) : bad(`must be one of ${REDIS_FORMS}`)),
})

function isRedisUrl(text: string): boolean {
  const [, scheme, rest = ''] =
    /^(rediss?|unix|rediss?\+(?:sentinel|cluster)):\/\/(.+)$/.exec(text) ?? []
  if (scheme === undefined) return false
  if (scheme === 'unix') return rest.startsWith('/')
  if (!scheme.includes('+')) return (parseUrl(text)?.hostname ?? '') !== ''
  const [hosts = '', master = ''] = rest.slice(rest.lastIndexOf('@') + 1).split('/')
  const namesMaster = !scheme.endsWith('sentinel') || master !== ''
  return namesMaster && hosts.split(',').every(isHostPort)
}

/** It may hold a password. */
export const smtpUrl: SettingKind<string> = secret({
  name: 'smtp://… or smtps://…',
  parse: (text) =>
    /^smtps?:\/\//.test(text) && parseUrl(text) !== null
      ? good(text)
      : bad('is not smtp://… or smtps://…'),
})

/** Kept as text: core/egress/egress-proxy.ts reads it. */
export const proxyUrl: SettingKind<string> = secret({
  name: 'http://host:port or http://user:password@host:port',
  parse: (text) =>
    readProxyUrl(text) === null
      ? bad(
          'is not http://host:port or http://user:password@host:port, with user and password percent-encoded',
        )
      : good(text),
})

const NO_PROXY = /^(?:\*\.|\.)?[a-z0-9_]([a-z0-9_.-]{0,250}[a-z0-9_])?(?::\d{1,5})?$/i

/** As in NO_PROXY: a domain with or without a port, an address, a range, or `*`. */
export const noProxyItem: SettingKind<string> = {
  name: 'domain, domain:port, IP address, CIDR range or *',
  parse: (text) =>
    text === '*' ||
    isIP(text) > 0 ||
    ipaddr.isValidCIDR(text) ||
    isHostPort(text) ||
    NO_PROXY.test(text)
      ? good(text)
      : bad('is not a domain, domain:port, IP address, CIDR range or *'),
}

/** `http://host:port`, with nothing after it. */
export const httpOrigin: SettingKind<string> = {
  name: 'http://host:port',
  parse: (text) =>
    text.startsWith('http://') && isHostPort(text.slice('http://'.length))
      ? good(text)
      : bad('is not http://host:port'),
}

/** With a path, and without a password: that belongs in a header. */
export const httpUrl: SettingKind<string> = {
  name: 'http://… or https://…',
  parse: (text) => {
    const url = /^https?:\/\//.test(text) ? parseUrl(text) : null
    if (url === null) return bad('is not http://… or https://…')
    return url.username === '' && url.password === ''
      ? good(url.href)
      : bad('contains a user name or password, which belong in a header')
  },
}

/** OTLP/HTTP. Earlier versions also sent syslog. */
export const logReceiverUrl: SettingKind<string> = {
  name: httpUrl.name,
  parse: (text) =>
    text.startsWith('syslog')
      ? bad('is not http://… or https://…: an OpenTelemetry Collector can send syslog')
      : httpUrl.parse(text),
}

const HEADERS_MAX = 32
const HEADER = /^([!#$%&'*+.^_`|~0-9A-Za-z-]{1,128})=(.{0,8192})$/
const HEADER_VALUE = /^[\t\x20-\x7e]*$/
const HEADERS_PROBLEM =
  'is not a comma-separated list of name=value with percent-encoded values, such as Authorization=Bearer%20TOKEN'

/** By name in lower case. The form of OTEL_EXPORTER_OTLP_HEADERS. */
export const httpHeaders: SettingKind<Readonly<Record<string, string>>> = secret({
  name: 'comma-separated list: name=value, values percent-encoded',
  parse: (text) => {
    const parts = text.split(',').flatMap((part) => part.trim() || [])
    if (parts.length > HEADERS_MAX) return bad(`lists more than ${HEADERS_MAX} values`)
    const headers: Record<string, string> = {}
    for (const part of parts) {
      const [, header = '', encoded = ''] = HEADER.exec(part) ?? []
      const value = decoded(encoded.trim())
      if (header === '' || value === null || !HEADER_VALUE.test(value)) return bad(HEADERS_PROBLEM)
      headers[header.toLowerCase()] = value
    }
    return good(headers)
  },
})

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}

const eventName: SettingKind<EventName> = {
  name: EVENT_NAMES.join(' | '),
  parse: (text) => {
    const found = EVENT_NAMES.find((event) => event === text)
    return found === undefined ? bad(`is none of ${EVENT_NAMES.join(', ')}`) : good(found)
  },
}

export const events = listOf(eventName, EVENT_NAMES.length)

function isHostPort(text: string): boolean {
  const match = HOST_PORT.exec(text)
  return match !== null && Number(match[2]) <= 65_535
}

function isReadable(file: string, mode: number): boolean {
  try {
    accessSync(file, mode)
    return true
  } catch {
    return false
  }
}
