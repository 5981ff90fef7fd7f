import type { Upgrade } from '../../core/decision/admission-facts.ts'
import type { Header } from '../../core/request/header.ts'

/** The request headers that affect the decision, read in one pass. Text is latin1, one character per byte. */
export interface RequestHead {
  readonly method: string
  /** Envoy's `:path`: a slash, the target URL, its query. */
  readonly path: string
  /** Envoy's `:authority`: how the caller named this gateway. */
  readonly authority: string
  /** The scheme by which the caller reached this gateway, or the proxy in front that Envoy believes. */
  readonly scheme: 'http' | 'https'
  /** X-Forwarded-Host, if a trusted proxy in front knows the original name. */
  readonly forwarded_host: string | null
  readonly upgrade: Upgrade | null
  readonly content_type: string
  /** Null when the body is not encoded. */
  readonly content_encoding: string | null
  /** Null if the caller did not declare it. */
  readonly content_length: number | null
  /** Values of X-Agw-Agent-Id. */
  readonly agent_ids: readonly string[]
  /** Values of X-Agw-User. */
  readonly users: readonly string[]
}

export function readHead(headers: readonly Header[]): RequestHead {
  let method = ''
  let path = ''
  let authority = ''
  let scheme: 'http' | 'https' = 'http'
  let forwarded_host: string | null = null
  let upgrade: Upgrade | null = null
  let is_framed = false
  let content_type = ''
  let content_encoding: string | null = null
  let content_length: number | null = null
  let agent_ids = NONE
  let users = NONE
  for (const { name, value } of headers) {
    switch (name) {
      case ':method':
        method = value
        break
      case ':path':
        path = value
        break
      case ':authority':
        authority = value
        break
      case ':scheme':
        scheme = value === 'https' ? 'https' : 'http'
        break
      case 'x-forwarded-host':
        forwarded_host = value
        break
      case ':protocol':
      case 'upgrade':
        upgrade = upgrade === null && value.toLowerCase() === 'websocket' ? 'websocket' : 'other'
        break
      case 'transfer-encoding':
        is_framed = true
        break
      case 'content-type':
        // Implementations differ in which of two values they use.
        content_type = content_type === '' ? value : `${content_type}, ${value}`
        break
      case 'content-encoding':
        content_encoding = furtherEncoding(content_encoding, value.trim().toLowerCase())
        break
      case 'content-length':
        content_length = Number(value)
        break
      case 'x-agw-agent-id':
        agent_ids = [...agent_ids, value.trim()]
        break
      case 'x-agw-user':
        users = [...users, value.trim()]
        break
    }
  }
  return {
    method,
    path,
    authority,
    scheme,
    forwarded_host,
    upgrade: isOther(upgrade, method, is_framed || Boolean(content_length)) ? 'other' : upgrade,
    content_type,
    content_encoding,
    content_length,
    agent_ids,
    users,
  }
}

/** A handshake has no body: what follows its headers belongs to the protocol that it asks for. */
const isOther = (upgrade: Upgrade | null, method: string, has_body: boolean): boolean =>
  method === 'CONNECT' || (upgrade !== null && (method !== 'GET' || has_body))

/** Null if the body is not encoded. */
const furtherEncoding = (before: string | null, text: string): string | null =>
  text === '' || text === 'identity' ? before : before === null ? text : `${before}, ${text}`

const NONE: readonly string[] = []
