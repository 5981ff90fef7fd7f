import { SECRET_MEMBER_NAMES } from './catalogue.ts'

/** The product logs none of these; the list covers errors and libraries that might. */
const HIDDEN: readonly string[] = [
  ...SECRET_MEMBER_NAMES,
  'authorization',
  'cookie',
  'set-cookie',
  'proxy-authorization',
  'token',
  'api_key',
  'key',
  'client_key',
  'page_secret',
  'x-agw-page-secret',
  'secret',
  'auth',
].filter((name, i, all) => all.indexOf(name) === i)

const below = (names: readonly string[]): string[] =>
  names.flatMap((name) => {
    const member = /^\w+$/.test(name) ? name : `["${name}"]`
    const dotted = member.startsWith('[') ? member : `.${member}`
    return [member, `*${dotted}`, `*.*${dotted}`, `*.*.*${dotted}`]
  })

/** Members that the logs of both services redact, in the form of pino. */
export const HIDDEN_MEMBERS = { paths: below(HIDDEN), censor: '[hidden]' }
