import { type AdminOptions, adminAccess, TOKEN_REQUIRED } from './admin-access.ts'
import { terminalText } from '../terminal/terminal-text.ts'

/** A kill takes at most two seconds; a change may wait for a lease to expire. */
const ANSWER_LIMIT_MS = 90_000

export interface AdminAnswer {
  readonly status: number
  /** Parsed JSON; null if there is none. */
  readonly body: unknown
  /** The ETag of the resource; null if there is none. */
  readonly etag: string | null
}

/**
 * Calls the admin API.
 * @throws with a message for the operator when there is no token or no answer
 */
export async function callAdmin(
  options: AdminOptions,
  method: string,
  path: string,
  body?: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<AdminAnswer> {
  const { url, token } = adminAccess(options)
  if (token === null) throw new Error(TOKEN_REQUIRED)
  const answer = await fetch(url + path, {
    method,
    redirect: 'error',
    signal: AbortSignal.timeout(ANSWER_LIMIT_MS),
    headers: {
      authorization: `Bearer ${token}`,
      'x-agw-client': 'cli',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  }).catch((error: unknown) => {
    const cause = (error as { cause?: { message?: string } }).cause?.message
    throw new Error(`${url} is unreachable: ${cause ?? (error as Error).message}`)
  })
  const text = await answer.text()
  return {
    status: answer.status,
    body: text === '' ? null : parse(text, url),
    etag: answer.headers.get('etag'),
  }
}

function parse(text: string, url: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Error(`${url} is not an admin API: the response is not JSON.`)
  }
}

/** The message of a refusal and its details. */
export function messageOf(answer: Omit<AdminAnswer, 'etag'>): string {
  const { message } = (answer.body ?? {}) as Refused
  if (typeof message !== 'string') return `the admin API returned HTTP ${answer.status}`
  const lines = [message, ...issuesOf(answer).map((issue) => `  ${issue.path} ${issue.message}`)]
  return lines.map(terminalText).join('\n')
}

/** What the gateway finds wrong with single members. */
export function issuesOf({ body }: Pick<AdminAnswer, 'body'>): readonly Issue[] {
  const { details } = (body ?? {}) as Refused
  return Array.isArray(details?.issues) ? (details.issues as readonly Issue[]) : []
}

interface Issue {
  readonly path: string
  readonly message: string
}

interface Refused {
  readonly message?: unknown
  readonly details?: { readonly issues?: unknown }
}
