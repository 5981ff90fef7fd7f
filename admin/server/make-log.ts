import { type DestinationStream, type Logger, pino } from 'pino'

/** Nothing of ours logs these; the list is for what an error or a library might carry along. */
const HIDDEN = [
  'authorization',
  'cookie',
  'set-cookie',
  'proxy-authorization',
  'token',
  'api_key',
  'key',
  'password',
  'value',
  'client_secret',
  'secret_access_key',
  'session_token',
  'secret',
  'auth',
]

const below = (names: readonly string[]): string[] =>
  names.flatMap((name) => {
    const member = /^\w+$/.test(name) ? name : `["${name}"]`
    const dotted = member.startsWith('[') ? member : `.${member}`
    return [member, `*${dotted}`, `*.*${dotted}`, `*.*.*${dotted}`]
  })

/** The log of the admin service: one JSON line an event, without secrets. */
export const makeLog = (level: string, destination?: DestinationStream): Logger => {
  const options = {
    level,
    base: { service: 'admin' },
    redact: { paths: below(HIDDEN), censor: '[hidden]' },
  }
  return destination ? pino(options, destination) : pino(options)
}
