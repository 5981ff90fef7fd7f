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
}

/** `agw requests approve` and `agw requests deny`. @returns the exit code */
export async function runDecideRequest(
  decision: 'approve' | 'deny',
  request_id: string,
  options: AdminOptions & { readonly comment?: string },
  stdout: Writable,
  stderr: Writable,
): Promise<number> {
  const { comment, output } = options
  const path = `/admin/access-requests/${encodeURIComponent(request_id)}/${decision}`
  const answer = await callAdmin(options, 'POST', path, comment === undefined ? {} : { comment })
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
function describe({ status, approvals, needed, expires_at, agent_name, call }: Decided): string {
  const what = terminalText(`${call.method} ${call.url} of ${agent_name}`)
  switch (status) {
    case 'approved':
      return `${what} is approved: it may be made once, until ${expires_at}.`
    case 'pending':
      return `${what} has ${approvals.length} of ${needed} approvals. Another person has to approve it too.`
    default:
      return `${what} is ${terminalText(status)}.`
  }
}
