import type { Writable } from 'node:stream'
import type { EdgeReceipt } from '../../core/kill/kill-receipt.ts'
import type { AdminOptions } from '../deployment/admin-access.ts'
import { callAdmin, messageOf } from '../deployment/call-admin.ts'
import { givenSelector } from '../create/given-labels.ts'
import { counted } from '../terminal/counted.ts'
import { describeEdges } from '../terminal/describe-edges.ts'
import { findResource } from '../resources/find-resource.ts'
import { terminalJson, terminalLines, terminalText } from '../terminal/terminal-text.ts'

/** What `agw lock` can name, with the member of the target. */
export const LOCKABLE = {
  agent: 'agent_id',
  agents: 'agent_selector',
  key: 'key_id',
  scope: 'scope_id',
  integration: 'integration_id',
  organization: 'organization_id',
  everything: 'everything',
} as const
export type Lockable = keyof typeof LOCKABLE

export interface LockOptions extends AdminOptions {
  /** In ms. */
  readonly for?: number
  readonly readOnly?: boolean
  readonly message?: string
  readonly reference?: string
  readonly preview?: boolean
}

interface LockAnswer {
  readonly lock_id: string
  readonly mode: string
  readonly expires_at: string | null
  readonly propagation_ms: number
  readonly complete: boolean
  readonly in_flight_requests_terminated: number
  readonly tunnels_terminated: number
  readonly edges: readonly EdgeReceipt[]
  readonly ignored: readonly string[]
}

interface PreviewAnswer {
  readonly agents: number
  readonly in_flight: number | null
  readonly tunnels: number | null
  readonly edges: number
}

/**
 * `agw lock`: creates a lock and prints the result on every edge.
 * @returns the exit code: 0 it is locked, 1 it is not, 2 wrong usage
 * @throws with a message for the operator when the admin API does not answer
 */
export async function runLock(
  kind: Lockable,
  name: string | undefined,
  options: LockOptions,
  stdout: Writable,
  stderr: Writable,
): Promise<number> {
  const { for: for_ms, readOnly, message, reference, preview } = options
  if ((kind === 'everything') !== (name === undefined)) {
    const takes = kind === 'everything' ? 'takes no name' : 'needs a name or an id'
    stderr.write(`agw lock ${kind} ${takes}. Nothing is locked.\n`)
    return 2
  }
  const target = await targetOf(kind, name ?? '', options)
  const answer = await callAdmin(options, 'POST', `/admin/locks${preview ? '?preview=true' : ''}`, {
    target,
    mode: readOnly ? 'read_only' : 'deny',
    ...(message === undefined ? {} : { message }),
    ...(reference === undefined ? {} : { reference }),
    ...(for_ms === undefined ? {} : { expires_at: new Date(Date.now() + for_ms).toISOString() }),
  })
  if (answer.status !== 201 && answer.status !== 200) {
    stderr.write(`${messageOf(answer)}\n`)
    return 1
  }
  if (options.output === 'json') stdout.write(`${terminalJson(answer.body)}\n`)
  else
    stdout.write(
      terminalLines(
        preview
          ? describePreview(answer.body as PreviewAnswer)
          : describe(answer.body as LockAnswer),
      ),
    )
  if (preview) return 0
  const { complete, ignored } = answer.body as LockAnswer
  if (kind === 'agents') {
    const { body } = await callAdmin(options, 'POST', '/admin/locks?preview=true', { target })
    if ((body as Partial<PreviewAnswer>).agents === 0)
      stderr.write(
        'No agent has these labels now. Is the name of an agent meant: agw lock agent?\n',
      )
  }
  if (ignored.length > 0) stderr.write(`Ignored: ${terminalText(ignored.join(', '))}\n`)
  if (!complete)
    stderr.write(
      'Not every edge has acknowledged. A silent edge stops serving when its lease expires; one that is too old lets calls pass.\n',
    )
  return 0
}

/** `agw unlock`: lifts a lock. @returns the exit code */
export async function runUnlock(
  lock_id: string,
  options: AdminOptions & { readonly reason?: string },
  stdout: Writable,
  stderr: Writable,
): Promise<number> {
  const { reason } = options
  const path = `/admin/locks/${encodeURIComponent(lock_id)}`
  const answer = await callAdmin(options, 'DELETE', path, reason === undefined ? {} : { reason })
  if (answer.status !== 204) {
    stderr.write(`${messageOf(answer)}\n`)
    return 1
  }
  if (options.output === 'json') stdout.write(`${terminalJson({ lock_id })}\n`)
  else stdout.write(terminalLines(`${lock_id} lifted on every edge.\n`))
  return 0
}

async function targetOf(kind: Lockable, name: string, options: AdminOptions): Promise<object> {
  const member = LOCKABLE[kind]
  if (kind === 'everything') return { everything: true }
  if (kind === 'agents') return { [member]: givenSelector(name) }
  if (kind === 'agent' || kind === 'scope' || kind === 'integration') {
    const found = await findResource(options, `${kind}s`, name)
    return { [member]: found[member] }
  }
  return { [member]: name }
}

function describe(lock: LockAnswer): string {
  const { lock_id, mode, expires_at, tunnels_terminated: tunnels } = lock
  return [
    `${lock_id} ${mode === 'read_only' ? 'lets only reading pass' : 'lets nothing pass'} ${expires_at === null ? 'until it is lifted' : `until ${expires_at}`}.`,
    `${counted(lock.in_flight_requests_terminated, 'call')} in flight ended, ${tunnels > 0 ? `${counted(tunnels, 'tunnel')} closed, ` : ''}last acknowledgement after ${lock.propagation_ms} ms.`,
    ...describeEdges(lock.edges),
    `Lift it: agw unlock ${lock_id}`,
    '',
  ].join('\n')
}

const describePreview = ({ agents, in_flight, tunnels, edges }: PreviewAnswer): string =>
  `${counted(agents, 'agent')}, ${in_flight ?? 'an unknown number of'} calls in flight, ${tunnels ?? 'an unknown number of'} tunnels, ${counted(edges, 'edge')}. Nothing is locked.\n`
