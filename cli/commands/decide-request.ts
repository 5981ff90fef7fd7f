import type { Writable } from 'node:stream'
import type { AdminOptions } from '../deployment/admin-access.ts'
import { callAdmin, messageOf } from '../deployment/call-admin.ts'
import { terminalJson, terminalLines, terminalText } from '../terminal/terminal-text.ts'

interface Decided {
  readonly request_id: string
  readonly status: string
  readonly needed: number
  readonly approvals: readonly unknown[]
  readonly expires_at: string
  readonly agent_name: string
  readonly call: { readonly method: string; readonly url: string }
  readonly result: { readonly scope_id: string | null }
}

export interface DecideOptions extends AdminOptions {
  readonly comment?: string
  /** In ms. */
  readonly for?: number
  /** ISO 8601. */
  readonly until?: string
}

/** `agw requests approve` and `agw requests deny`. @returns the exit code */
export async function runDecideRequest(
  decision: 'approve' | 'deny',
  request_id: string,
  options: DecideOptions,
  stdout: Writable,
  stderr: Writable,
): Promise<number> {
  const { comment, output, for: for_ms, until } = options
  if (for_ms !== undefined && until !== undefined) {
    stderr.write('Give --for or --until, not both.\n')
    return 2
  }
  const expires_at = for_ms === undefined ? until : new Date(Date.now() + for_ms).toISOString()
  const path = `/admin/access-requests/${encodeURIComponent(request_id)}/${decision}`
  const answer = await callAdmin(options, 'POST', path, {
    ...(comment === undefined ? {} : { comment }),
    ...(expires_at === undefined ? {} : { expires_at }),
  })
  if (answer.status !== 200) {
    stderr.write(`${messageOf(answer)}\n`)
    return 1
  }
  const decided = answer.body as Decided
  if (output === 'json') stdout.write(`${terminalJson(decided)}\n`)
  else stdout.write(terminalLines(`${describe(decided)}\n`))
  return 0
}

/** The texts of an agent stand in one line each, without anything that a terminal would act on. */
function describe({
  status,
  approvals,
  needed,
  expires_at,
  agent_name,
  call,
  result,
}: Decided): string {
  const what = terminalText(`${call.method} ${call.url} of ${agent_name}`)
  switch (status) {
    case 'approved':
      return result.scope_id === null
        ? `${what} is approved: it may be made once, until ${expires_at}.`
        : `${what} is approved, and all calls by its rule, until ${expires_at} (${result.scope_id}).`
    case 'pending':
      return `${what} has ${approvals.length} of ${needed} approvals. Another person has to approve it too.`
    default:
      return `${what} is ${terminalText(status)}.`
  }
}
