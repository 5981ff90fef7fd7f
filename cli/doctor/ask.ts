/** Long enough for a busy service. */
const ASK_LIMIT_MS = 5_000

export interface Asked {
  /** 0 if there was no response. */
  readonly status: number
  readonly text: string
  /** Parsed JSON; null if the body is not JSON. */
  readonly body: unknown
  /** Why there was no response. */
  readonly problem: string | null
}

/** Sends a request to a service that may not be running. */
export async function ask(url: string, path: string, token: string | null): Promise<Asked> {
  try {
    const answer = await fetch(url + path, {
      redirect: 'error',
      signal: AbortSignal.timeout(ASK_LIMIT_MS),
      headers: {
        'x-agw-client': 'cli',
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      },
    })
    const text = await answer.text()
    return { status: answer.status, text, body: parse(text), problem: null }
  } catch (error) {
    const { cause, message } = error as Error & { readonly cause?: { readonly message?: string } }
    return { status: 0, text: '', body: null, problem: cause?.message || message }
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
