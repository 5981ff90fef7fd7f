import type { Writable } from 'node:stream'
import type { ActivityEntry } from '../../core/activity/activity-entry.ts'
import { entrySummary } from '../../core/activity/entry-summary.ts'
import { REASONS } from '../../core/catalogue/reasons.ts'
import { createParser } from 'eventsource-parser'
import { type AdminOptions, adminAccess } from '../deployment/admin-access.ts'
import { callAdmin, messageOf } from '../deployment/call-admin.ts'
import { type Colour, type Paint, paintFor } from '../terminal/colour.ts'
import { idOf, idsOf } from '../resources/find-resource.ts'
import { terminalJson, terminalText } from '../terminal/terminal-text.ts'

export interface ActivityOptions extends AdminOptions {
  readonly follow?: boolean
  readonly event?: string
  readonly agent?: string
  readonly integration?: string
  readonly decision?: string
  readonly via?: string
  /** `503`, or a class such as `5xx`. */
  readonly status?: string
  readonly requestId?: string
  readonly query?: string
  /** ISO 8601. */
  readonly since?: string
  readonly until?: string
  readonly limit?: number
  /** Whether a table begins with its headings. */
  readonly headers?: boolean
}

const LIMIT = 50
/** A text that no entry contains is looked for in the whole archive otherwise. */
const SEARCH_MS = 60_000
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
  const { filter, hasName } = await filterOf(options)
  const paint = paintFor(stdout)
  const print = (entry: ActivityEntry): void => {
    stdout.write(options.output === 'json' ? `${terminalJson(entry)}\n` : lineOf(entry, paint))
  }
  // The stream is opened first, so that nothing falls between it and the list.
  const stream = options.follow === true ? new ActivityStream(options, filter) : null
  await stream?.open()
  const read = await readNewest(options, filter, hasName, stderr)
  if (read === null) {
    stream?.close()
    return 1
  }
  if (options.output !== 'json' && options.headers !== false)
    stdout.write(`${paint('bold', inColumns(HEADINGS))}\n`)
  for (const entry of read.newest) print(entry)
  // Below the entries, where a terminal still shows them after a long list.
  for (const note of read.notes) stderr.write(`${terminalText(note)}\n`)
  if (stream === null) return 0
  const printed = new Set(read.newest.map(({ id }) => id))
  const refusal = await stream.each((entry) => {
    if (!printed.delete(entry.id) && hasName(entry)) print(entry)
  })
  stderr.write(`the admin API returned ${refusal}\n`)
  return 1
}

interface Page {
  readonly data: readonly ActivityEntry[]
  readonly next_cursor: string | null
  /** Absent from services before 0.3, and so is the next one. */
  readonly searched_to?: string | null
  readonly skipped_hours?: readonly string[]
}

interface Newest {
  /** From old to new. */
  readonly newest: readonly ActivityEntry[]
  /** What may be missing in them, and how to go on. */
  readonly notes: readonly string[]
}

/** A search that takes long ends early, and says where. Null after a refusal, which is printed. */
async function readNewest(
  options: ActivityOptions,
  filter: URLSearchParams,
  hasName: Filter['hasName'],
  stderr: Writable,
): Promise<Newest | null> {
  const limit = options.limit ?? LIMIT
  const end_ms = performance.now() + SEARCH_MS
  const found: ActivityEntry[] = []
  const skipped = new Set<string>()
  for (let cursor: string | null = null; ; ) {
    const query = new URLSearchParams([...filter, ['limit', String(limit - found.length)]])
    if (cursor !== null) query.set('cursor', cursor)
    const answer = await callAdmin(options, 'GET', `/admin/activity?${query.toString()}`)
    if (answer.status !== 200) {
      stderr.write(`${messageOf(answer)}\n`)
      return null
    }
    const page = answer.body as Page
    found.push(...page.data.filter(hasName))
    for (const hour of page.skipped_hours ?? []) skipped.add(hour)
    cursor = page.next_cursor
    const isOver = performance.now() > end_ms
    if (cursor !== null && found.length < limit && !isOver) continue
    const notes = [
      ...(skipped.size > 0
        ? [`Hours of the archive that could not be searched: ${[...skipped].join(', ')}.`]
        : []),
      ...(cursor !== null && found.length < limit
        ? [`Searched down to ${page.searched_to}. Continue with --until ${page.searched_to}.`]
        : []),
    ]
    return { newest: found.reverse(), notes }
  }
}

interface Filter {
  readonly filter: URLSearchParams
  /** What the admin API cannot tell: whether an entry is of an agent that had this name. */
  readonly hasName: (entry: ActivityEntry) => boolean
}

/** A name that no agent or several have is looked for as a text: the log has the name that an agent had then. */
async function filterOf(options: ActivityOptions): Promise<Filter> {
  const { agent, integration } = options
  const ids = agent === undefined ? [] : await idsOf(options, 'agents', agent)
  const isName = agent !== undefined && ids.length !== 1
  const values = {
    event: options.event,
    agent_id: isName ? undefined : ids[0],
    integration_id:
      integration === undefined ? integration : await idOf(options, 'integrations', integration),
    [Object.hasOwn(REASONS, options.decision ?? '') ? 'reason' : 'decision']: options.decision,
    via: options.via,
    status: options.status,
    request_id: options.requestId,
    q: options.query ?? (isName ? agent : undefined),
    from: options.since,
    to: options.until,
  }
  const filter = new URLSearchParams()
  for (const [name, value] of Object.entries(values))
    if (value !== undefined) filter.set(name, value)
  return { filter, hasName: isName ? ({ agent_name }) => agent_name === agent : () => true }
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
    const { url, token } = adminAccess(this.#options)
    this.#answer = await fetch(`${url}/admin/activity/stream?${this.#filter.toString()}`, {
      redirect: 'error',
      signal: this.#closed.signal,
      headers: {
        authorization: `Bearer ${token ?? ''}`,
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

const HEADINGS = ['TIME', 'EVENT', 'AGENT', 'STATUS', 'DECISION', 'CALL OR CHANGE']
/** A table that follows the log cannot know the longest cell. */
const WIDTHS = [24, 19, 20, 6, 20, 0]

const inColumns = (cells: readonly string[]): string =>
  cells
    .map((text, i) => terminalText(text).padEnd(WIDTHS[i] ?? 0))
    .join('  ')
    .trimEnd()

const COLOURS: Readonly<Record<NonNullable<ActivityEntry['decision']>, Colour | null>> = {
  allowed: null,
  blocked: 'red',
  terminated: 'yellow',
}

function lineOf(entry: ActivityEntry, paint: Paint): string {
  const { timestamp, event, agent_name, agent_id, status, reason, decision } = entry
  const line = inColumns([
    timestamp,
    event,
    agent_name ?? agent_id ?? '-',
    String(status ?? '-'),
    reason ?? decision ?? '',
    whatOf(entry),
  ])
  const colour = decision === null ? null : COLOURS[decision]
  return `${colour === null ? line : paint(colour, line)}\n`
}

/** The call and, where there is more to say than its reason, why. */
function whatOf(entry: ActivityEntry): string {
  const { method, endpoint } = entry
  const why = entrySummary(entry)
  if (method === null) return why
  const call = joined(method, endpoint)
  return why === '' ? call : `${call} (${why})`
}

const joined = (...parts: readonly (string | null)[]): string =>
  parts.filter((part) => part !== null).join(' ')
