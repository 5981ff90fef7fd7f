import { SESSION_COOKIES } from '../../core/request/drop-own-cookies.ts'

/** A browser accepts the second name only over https and only from and for this host (RFC 6265bis). */
const [NAME, SECURE_NAME] = SESSION_COOKIES
const FORM = /^[\w-]{43}$/

/** The secret of the session that a Cookie header carries; null when there is none that could be one. */
export function readSessionCookie(header: string | undefined): string | null {
  const cookies = new Map(
    (header ?? '').split(';').map((part) => {
      const at = part.indexOf('=')
      return [part.slice(0, at).trim(), part.slice(at + 1).trim()] as const
    }),
  )
  const secret = cookies.get(SECURE_NAME) ?? cookies.get(NAME) ?? ''
  return FORM.test(secret) ? secret : null
}

const ATTRIBUTES = 'Path=/; HttpOnly; SameSite=Strict'

/** The page learns of the session's end by a 401, so the cookie itself may last as long as the browser likes. */
export const sessionCookie = (secret: string, isHttps: boolean): string =>
  isHttps ? `${SECURE_NAME}=${secret}; ${ATTRIBUTES}; Secure` : `${NAME}=${secret}; ${ATTRIBUTES}`

/** Removes the cookie under both names. */
export const NO_SESSION_COOKIE: string[] = [
  `${NAME}=; ${ATTRIBUTES}; Max-Age=0`,
  `${SECURE_NAME}=; ${ATTRIBUTES}; Secure; Max-Age=0`,
]
