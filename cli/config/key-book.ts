import { randomUUID } from 'node:crypto'
import {
  closeSync,
  existsSync,
  fsyncSync,
  lstatSync,
  openSync,
  readFileSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { mintId } from '../../core/api-key.ts'
import { type AdminOptions, adminAccess } from '../access/admin-access.ts'
import { type AdminAnswer, callAdmin, messageOf } from '../call-admin.ts'
import type { Json } from './section-resources.ts'

/** The key of a new agent as it is saved: one line of JSON. */
export interface AgentWithKey {
  readonly agent_name: string
  readonly agent_id: string
  readonly api_key: string
  readonly api_key_id: string
}

/** A creation in progress: all that is needed to repeat the request. */
interface Pending {
  readonly url: string
  readonly idempotency_key: string
  readonly body: Json & { readonly agent_id: string; readonly agent_name: string }
}

const GONE: readonly number[] = [404, 409]

/**
 * Creates agents and keeps their keys, which the gateway shows once. Before a creation, `FILE.pending` records the
 * request; it is removed when the key is in the file and on disk. So a crash in between loses no key: the next run repeats
 * the request with the same Idempotency-Key; if the gateway no longer has the response, it creates another key.
 */
export class KeyBook {
  readonly #options: AdminOptions
  readonly #file: string

  /** @throws when the file is readable by others than its owner */
  constructor(options: AdminOptions, file: string) {
    this.#options = options
    this.#file = file
    refuseOpenFile(file)
    refuseOpenFile(this.#pendingFile)
  }

  get #pendingFile(): string {
    return `${this.#file}.pending`
  }

  /** Completes the creation of an earlier run. @returns its key; null if there was none */
  async recover(): Promise<AgentWithKey | null> {
    if (!existsSync(this.#pendingFile)) return null
    const pending = readPending(this.#pendingFile)
    // The file is truncated, so the request had not been sent.
    if (pending === null) {
      rmSync(this.#pendingFile)
      return null
    }
    if (pending.url !== adminAccess(this.#options).url)
      throw new Error(
        `${this.#pendingFile} belongs to an interrupted run against ${pending.url}. Repeat that run first, or use another --keys-out.`,
      )
    return await this.#finish(pending, await this.#send(pending))
  }

  /** @throws with the message of the gateway when it refuses; then nothing is created */
  async createAgent(wanted: Json): Promise<AgentWithKey> {
    const pending: Pending = {
      url: adminAccess(this.#options).url,
      idempotency_key: randomUUID(),
      // With a chosen id, a repeated request cannot create a second agent.
      body: { agent_id: mintId('agt'), agent_name: String(wanted['agent_name']), ...wanted },
    }
    writeDurably(this.#pendingFile, JSON.stringify(pending), 'w')
    const answer = await this.#send(pending)
    if (answer.status >= 400 && answer.status < 500) {
      rmSync(this.#pendingFile)
      throw new Error(messageOf(answer))
    }
    return await this.#finish(pending, answer)
  }

  async #finish({ body }: Pending, answer: AdminAnswer): Promise<AgentWithKey> {
    const { agent_id, agent_name } = body
    const made = answer.status === 409 ? await this.#anotherKey(agent_id) : answer
    if (made.status !== 201) {
      // Deleted or killed since; a retry would not help.
      if (made !== answer && GONE.includes(made.status)) rmSync(this.#pendingFile)
      throw new Error(`No key was created for ${agent_name} (${agent_id}): ${messageOf(made)}`)
    }
    const { api_key, key, api_key_id, key_id } = made.body as Readonly<Record<string, string>>
    const kept: AgentWithKey = {
      agent_name,
      agent_id,
      api_key: api_key ?? key ?? '',
      api_key_id: api_key_id ?? key_id ?? '',
    }
    const there = existsSync(this.#file) ? readFileSync(this.#file, 'utf8') : ''
    const line = `${JSON.stringify(kept)}\n`
    if (!there.includes(line)) {
      // A line truncated by a crash must not be joined with the next one.
      const gap = there === '' || there.endsWith('\n') ? '' : '\n'
      writeDurably(this.#file, gap + line, 'a')
    }
    rmSync(this.#pendingFile)
    return kept
  }

  #send({ body, idempotency_key }: Pending): Promise<AdminAnswer> {
    return callAdmin(this.#options, 'POST', '/admin/agents', body, {
      'idempotency-key': idempotency_key,
    })
  }

  #anotherKey(agent_id: string): Promise<AdminAnswer> {
    const path = `/admin/agents/${encodeURIComponent(agent_id)}/keys`
    return callAdmin(this.#options, 'POST', path, { name: 'first key, made again' })
  }
}

function refuseOpenFile(file: string): void {
  const found = lstatSync(file, { throwIfNoEntry: false })
  if (found === undefined) return
  if (!found.isFile() || found.uid !== process.getuid?.() || (found.mode & 0o077) !== 0)
    throw new Error(`${file} must be readable by you only: chmod 600 ${file}`)
}

function readPending(file: string): Pending | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Pending
  } catch {
    return null
  }
}

/** The file and its directory entry are on disk when it returns. */
function writeDurably(file: string, text: string, flag: 'w' | 'a'): void {
  const written = openSync(file, flag, 0o600)
  writeSync(written, text)
  fsyncSync(written)
  closeSync(written)
  const folder = openSync(dirname(file), 'r')
  fsyncSync(folder)
  closeSync(folder)
}
