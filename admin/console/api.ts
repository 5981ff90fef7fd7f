import { connection } from './connection.ts'
import { pageSecret } from './page-secret.ts'

export interface Problem {
  /** 0 when the service could not be reached. */
  readonly status: number
  readonly error: string
  readonly message: string
  readonly details: Readonly<Record<string, unknown>>
  /** The response text, if it is not an error of this API. */
  readonly body?: unknown
}

export type ApiAnswer<T> =
  | { readonly ok: true; readonly value: T; readonly etag: string | null }
  | { readonly ok: false; readonly problem: Problem }

export interface AskOptions {
  readonly body?: object
  readonly headers?: Readonly<Record<string, string>>
  /** Background requests of the page do not extend the session. */
  readonly isBackground?: boolean
}

const LIMIT_MS = 30_000
/** What a page reads again by itself has to come before it shows data that are old as if they were new. */
const BACKGROUND_LIMIT_MS = 10_000

export const dashboardHeaders = (isBackground: boolean): Record<string, string> => ({
  'x-agw-client': 'dashboard',
  ...(pageSecret.value === '' ? {} : { 'x-agw-page-secret': pageSecret.value }),
  ...(isBackground ? { 'x-agw-background': '1' } : {}),
})

/** Calls the admin API with both halves of the session. A refusal is a value, not an exception. */
export async function ask<T>(
  method: string,
  path: string,
  { body, headers = {}, isBackground = false }: AskOptions = {},
): Promise<ApiAnswer<T>> {
  let answer: Response
  let text: string
  const { answers } = connection
  const limit = new AbortController()
  const timer = setTimeout(() => limit.abort(), isBackground ? BACKGROUND_LIMIT_MS : LIMIT_MS)
  try {
    answer = await fetch(path, {
      method,
      headers: {
        ...dashboardHeaders(isBackground),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: limit.signal,
    })
    text = await answer.text()
  } catch {
    connection.lost(answers)
    return { ok: false, problem: UNREACHABLE }
  } finally {
    clearTimeout(timer)
  }
  connection.found()
  const value = parse(text)
  if (answer.ok) return { ok: true, value: value as T, etag: answer.headers.get('etag') }
  return { ok: false, problem: refused(path, answer.status, value) }
}

/** The problem of a refused request. If the session is not valid, the sign-in page is shown. */
export function refused(path: string, status: number, value: unknown): Problem {
  if (status === 401 && path !== '/session') connection.sessionOver()
  return problemOf(status, value)
}

export const withQuery = (
  path: string,
  query: Readonly<Record<string, string | undefined>>,
): string => {
  const set = Object.entries(query).filter(([, value]) => value !== undefined && value !== '')
  const text = new URLSearchParams(set as [string, string][]).toString()
  return text === '' ? path : `${path}${path.includes('?') ? '&' : '?'}${text}`
}

export function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

function problemOf(status: number, value: unknown): Problem {
  const { error, message, details } = (value ?? {}) as Partial<Problem>
  return {
    status,
    error: error ?? 'unknown',
    message: message ?? `The admin service returned HTTP ${status}.`,
    details: details ?? {},
    body: value,
  }
}

export const UNREACHABLE: Problem = {
  status: 0,
  error: 'unreachable',
  message: 'The admin service is unreachable.',
  details: {},
}
