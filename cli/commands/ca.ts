import type { Writable } from 'node:stream'
import type { CaStep } from '../../admin/certificates/rotate-authority.ts'
import type { AdminOptions } from '../deployment/admin-access.ts'
import { type AdminAnswer, callAdmin, messageOf } from '../deployment/call-admin.ts'
import { terminalJson } from '../terminal/terminal-text.ts'
import { textTable } from '../terminal/text-table.ts'

interface Ca {
  readonly source: 'store' | 'files'
  readonly certificates: readonly {
    readonly role: 'current' | 'next' | 'previous'
    /** Null unless the token is of an admin of the default organization. */
    readonly subject: string | null
    readonly sha256: string
    readonly not_after: string
  }[]
}

/** What the operator does after a step. */
const NEXT_STEPS: Readonly<Record<CaStep, string>> = {
  prepare:
    'Let every client fetch /ca.pem or /ca-bundle.pem again (agw env, agw run). Then run: agw ca rotate activate',
  activate:
    'All certificates are issued with the new CA. When every client trusts it, run: agw ca rotate finish',
  finish: 'Clients need to trust the current CA alone.',
  replace: 'Clients fail until they have fetched /ca.pem or /ca-bundle.pem again.',
}

/**
 * `agw ca show`
 * @returns the exit code: 0 shown, 1 there is no forward proxy
 * @throws with a message for the operator when the admin API cannot be asked
 */
export async function runCaShow(
  options: AdminOptions,
  stdout: Writable,
  stderr: Writable,
): Promise<number> {
  return print(await callAdmin(options, 'GET', '/admin/ca'), options, stdout, stderr)
}

/**
 * `agw ca rotate`: one step of a rotation.
 * @returns the exit code: 0 done, 1 refused
 * @throws with a message for the operator when the admin API cannot be asked
 */
export async function runCaRotate(
  step: CaStep,
  options: AdminOptions,
  stdout: Writable,
  stderr: Writable,
): Promise<number> {
  const answer = await callAdmin(options, 'POST', '/admin/ca/rotate', { step })
  const code = print(answer, options, stdout, stderr)
  if (code === 0) stderr.write(`${NEXT_STEPS[step]}\n`)
  return code
}

function print(
  answer: AdminAnswer,
  options: AdminOptions,
  stdout: Writable,
  stderr: Writable,
): number {
  if (answer.status !== 200) {
    stderr.write(`${messageOf(answer)}\n`)
    return 1
  }
  const { certificates } = answer.body as Ca
  if (options.output === 'json') stdout.write(`${terminalJson(answer.body)}\n`)
  else
    stdout.write(
      textTable(
        ['ROLE', 'SUBJECT', 'ENDS', 'SHA-256'],
        certificates.map(({ role, subject, sha256, not_after }) => [
          role,
          subject?.replace(/^CN=/, '') ?? '',
          not_after,
          sha256.slice(0, 32),
        ]),
      ),
    )
  return 0
}
