import { useEffect, useRef, useState } from 'preact/hooks'
import { ask, type ApiAnswer } from '../api.ts'
import type { Who } from '../api-types.ts'
import { pageSecret } from '../page-secret.ts'
import { TextField } from '../parts/fields.tsx'
import { ProblemNotice } from '../parts/notices.tsx'
import { useAction } from '../use-action.ts'

type Opened = Who & { readonly page_secret: string }

/**
 * The token is sent once, in a header, and not stored; from then on the cookie and the page's half identify the session.
 */
export function SignInPage({
  isOver,
  onSignedIn,
}: {
  isOver: boolean
  onSignedIn: (who: Who) => void
}) {
  const [token, setToken] = useState('')
  const page = useRef<HTMLElement>(null)
  // A browser focuses a field by its attribute only in a page that is new.
  useEffect(() => page.current?.querySelector('input')?.focus(), [])
  const { isBusy, problem, run } = useAction(
    async (): Promise<ApiAnswer<Opened>> => {
      const text = token.trim()
      if (!/^[\x21-\x7e]+$/.test(text)) return NO_TOKEN
      const answer = await ask<Opened>('POST', '/session', {
        headers: { authorization: `Bearer ${text}` },
      })
      return answer.ok || answer.problem.status !== 401 ? answer : UNKNOWN_TOKEN
    },
    ({ page_secret, ...who }) => {
      pageSecret.keep(page_secret)
      onSignedIn(who)
    },
  )
  return (
    <main class="sign-in" ref={page}>
      <h1>
        <img src="/dashboard/icon.svg" alt="" width="32" height="32" /> Agent Access Gateway
      </h1>
      {isOver && (
        <div class="notice warn" role="alert">
          <p>
            Your session has ended: it was inactive for an hour, is twelve hours old, or its token
            no longer exists. Sign in again to continue.
          </p>
        </div>
      )}
      <form
        onSubmit={(event) => {
          event.preventDefault()
          run()
        }}
      >
        <TextField
          label="Admin token"
          type="password"
          autocomplete="current-password"
          value={token}
          onValue={setToken}
          required
          hint="The first token is in the file admin-token in the data directory (.agw)."
        />
        <ProblemNotice problem={problem} />
        <button type="submit" class="main" disabled={isBusy}>
          {isBusy ? 'Signing in …' : 'Sign in'}
        </button>
      </form>
    </main>
  )
}

const refusal = (message: string): ApiAnswer<never> => ({
  ok: false,
  problem: { status: 401, error: 'unauthorized', message, details: {} },
})
const NO_TOKEN = refusal('Invalid token: it contains characters that tokens do not have.')
const UNKNOWN_TOKEN = refusal('Unknown or expired token.')
