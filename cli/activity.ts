import type { Writable } from 'node:stream'
import type { ActivityEntry } from '../core/activity/activity-entry.ts'
import { isFloodEntry } from '../core/activity/flood-entry.ts'
import { eventRow } from '../core/events.ts'
import { createParser } from 'eventsource-parser'
import { agentsCalled } from './agents-called.ts'
import { type AdminOptions, adminUrl, callAdmin, messageOf } from './call-admin.ts'
import { terminalJson, terminalText } from './terminal-text.ts'

export interface ActivityOptions extends AdminOptions {
  readonly follow?: boolean
  readonly event?: string
  readonly agent?: string
  readonly limit?: number
}

const LIMIT = 50
const RECONNECT_MS = 1000
/** Far beyond an entry; a change of the largest scope is half a megabyte, before and after. */
const EVENT_LIMIT_CHARACTERS = 4 * 1024 * 1024
/** Streams of the service are taken at the moment. */
const TOO_MANY = 429

/**
 * `agw activity`: prints the newest entries, the oldest of them first; with `--follow` also those that come, until it is
 * interrupted. A stream that breaks goes on where it was, so that each entry is printed once.
 * @returns the exit code
 * @throws with a message for the operator when the admin API cannot be asked
 */
export async function runActivity(
  options: ActivityOptions,
  stdout: Writable,
  stderr: Writable,
): Promise<number> {
  const filter = new URLSearchParams()
  if (options.event !== undefined) filter.set('event', options.event)
  if (options.agent !== undefined) filter.set('agent_id', await agentId(options, options.agent))
  const print = (entry: ActivityEntry): void => {
    stdout.write(options.output === 'json' ? `${terminalJson(entry)}\n` : lineOf(entry))
  }
  // The stream is opened first, so that nothing falls between it and the list.
  const stream = options.follow === true ? new ActivityStream(options, filter) : null
  await stream?.open()
  const query = new URLSearchParams([...filter, ['limit', String(options.limit ?? LIMIT)]])
  const answer = await callAdmin(options, 'GET', `/admin/activity?${query.toString()}`)
  if (answer.status !== 200) {
    stream?.close()
    stderr.write(`${messageOf(answer)}\n`)
    return 1
  }
  const newest = (answer.body as { data: ActivityEntry[] }).data.reverse()
  for (const entry of newest) print(entry)
  if (stream === null) return 0
  const printed = new Set(newest.map(({ id }) => id))
  const refusal = await stream.each((entry) => {
    if (!printed.delete(entry.id)) print(entry)
  })
  stderr.write(`the admin API returned ${refusal}\n`)
  return 1
}

/** An id counts as it is, since entries outlive their agent; what no agent has as its id may be a name. */
async function agentId(options: ActivityOptions, agent: string): Promise<string> {
  const { status } = await callAdmin(options, 'GET', `/admin/agents/${encodeURIComponent(agent)}`)
  if (status !== 404) return agent
  const found = await agentsCalled(options, agent)
  if (found.length > 1)
    throw new Error(`${found.length} agents are named "${agent}"; use an id: ${found.join(', ')}`)
  return found[0] ?? agent
}

/** Follows the log through breaks of the connection and restarts of the service. */
class ActivityStream {
  readonly #options: ActivityOptions
  readonly #filter: URLSearchParams
  /** The id of the last event: where the log is gone on with. */
  #last = ''
  #answer: Response | null = null
  /** An unread stream would keep the process running. */
  readonly #closed = new AbortController()

  constructor(options: ActivityOptions, filter: URLSearchParams) {
    this.#options = options
    this.#filter = filter
  }

  async open(): Promise<void> {
    const { token } = this.#options
    const url = `${adminUrl(this.#options)}/admin/activity/stream?${this.#filter.toString()}`
    this.#answer = await fetch(url, {
      redirect: 'error',
      signal: this.#closed.signal,
      headers: {
        authorization: `Bearer ${token ?? process.env['AGW_TOKEN'] ?? ''}`,
        ...(this.#last === '' ? {} : { 'last-event-id': this.#last }),
      },
    }).catch(() => null)
  }

  close(): void {
    this.#closed.abort()
  }

  /** Resolves with the status of an answer that will not be another when it is asked for again. */
  async each(take: (entry: ActivityEntry) => void): Promise<number> {
    for (;;) {
      const answer = this.#answer
      const status = answer?.status ?? 0
      if (status >= 400 && status < 500 && status !== TOO_MANY) return status
      // Without it, what comes between a stream that broke before its first event and the next would be lost.
      this.#last = answer?.headers.get('last-event-id') ?? this.#last
      const parser = createParser({
        maxBufferSize: EVENT_LIMIT_CHARACTERS,
        onEvent: ({ id, data }) => {
          take(JSON.parse(data) as ActivityEntry)
          this.#last = id ?? this.#last
        },
      })
      const decoder = new TextDecoder()
      try {
        for await (const part of status === 200 ? (answer?.body ?? []) : [])
          parser.feed(decoder.decode(part, { stream: true }))
      } catch {
        // The service was restarted, or the network was unavailable.
      }
      await new Promise((resolve) => setTimeout(resolve, RECONNECT_MS))
      await this.open()
    }
  }
}

function lineOf(entry: ActivityEntry): string {
  const columns = [
    entry.timestamp,
    entry.event.padEnd(19),
    (entry.agent_name ?? entry.agent_id ?? '-').padEnd(20),
    String(entry.status ?? '-').padEnd(3),
    entry.reason ?? entry.decision ?? '',
    whatOf(entry),
  ]
  return `${columns.map(terminalText).join('  ').trimEnd()}\n`
}

function whatOf({ event, method, endpoint, data }: ActivityEntry): string {
  if (isFloodEntry({ method, data })) return `${Number(data['suppressed'])} more in this minute`
  const row = eventRow(event)
  return row?.reports_call === false
    ? row.summary
        .map((name) => text(data[name]))
        .filter(Boolean)
        .join(' ')
    : [method, endpoint].filter((part) => part !== null).join(' ')
}

const text = (value: unknown): string =>
  typeof value === 'string' ? value : value == null ? '' : JSON.stringify(value)
