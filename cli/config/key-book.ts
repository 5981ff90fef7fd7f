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
import { mintId } from '../../core/keys/api-key.ts'
import { type AdminOptions, adminAccess } from '../deployment/admin-access.ts'
import { type AdminAnswer, callAdmin, messageOf } from '../deployment/call-admin.ts'
import { type Creation, createAll } from './create-all.ts'
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
  readonly bodies: readonly NewAgent[]
}

type NewAgent = Json & { readonly agent_id: string; readonly agent_name: string }

const GONE: readonly number[] = [404, 409]

/** The members of a created agent that are saved. */
export function agentWithKey(agent: Json): AgentWithKey {
  const { agent_name, agent_id, api_key, api_key_id } = agent as unknown as AgentWithKey
  return { agent_name, agent_id, api_key, api_key_id }
}

/**
 * Creates agents and keeps their keys, which the gateway shows once. Before a creation, `FILE.pending` records the
 * request; it is removed when the keys are in the file and on disk. So a crash in between loses no key: the next run repeats
 * the request with the same Idempotency-Key; if the gateway no longer has the response, it creates other keys.
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

  /** Completes the creation of an earlier run. @returns the names of its agents */
  async recover(): Promise<readonly string[]> {
    if (!existsSync(this.#pendingFile)) return []
    const pending = readPending(this.#pendingFile)
    // The file is truncated, so the request had not been sent.
    if (pending === null) {
      rmSync(this.#pendingFile)
      return []
    }
    if (pending.url !== adminAccess(this.#options).url)
      throw new Error(
        `${this.#pendingFile} belongs to an interrupted run against ${pending.url}. Repeat that run first, or use another --keys-out.`,
      )
    const creation = await this.#send(pending)
    if (creation.kind === 'created') this.#keep(creation.created.map(agentWithKey))
    else if (creation.answer.status === 409) await this.#makeOtherKeys(pending)
    else throw noKey(pending.bodies, creation.answer)
    rmSync(this.#pendingFile)
    return pending.bodies.map(({ agent_name }) => agent_name)
  }

  /** @throws when it is unknown whether they were created; then the next run completes it */
  async createAgents(wanted: readonly Json[]): Promise<Creation> {
    // With chosen ids, a repeated request cannot create further agents. In their order, they are listed in that of the file.
    const ids = wanted.map(() => mintId('agt')).sort()
    const pending: Pending = {
      url: adminAccess(this.#options).url,
      idempotency_key: randomUUID(),
      bodies: wanted.map((one, i) => ({
        agent_id: ids[i] ?? mintId('agt'),
        agent_name: String(one['agent_name']),
        ...one,
      })),
    }
    writeDurably(this.#pendingFile, JSON.stringify(pending), 'w')
    const creation = await this.#send(pending)
    if (creation.kind === 'created') this.#keep(creation.created.map(agentWithKey))
    else if (creation.answer.status >= 500) throw noKey(pending.bodies, creation.answer)
    rmSync(this.#pendingFile)
    return creation
  }

  /** Adds lines to the file; on disk when it returns. */
  #keep(keys: readonly AgentWithKey[]): void {
    const there = existsSync(this.#file) ? readFileSync(this.#file, 'utf8') : ''
    const lines = keys
      .map((key) => `${JSON.stringify(key)}\n`)
      .filter((line) => !there.includes(line))
      .join('')
    // A line truncated by a crash must not be joined with the next one.
    const gap = there === '' || there.endsWith('\n') ? '' : '\n'
    if (lines !== '') writeDurably(this.#file, gap + lines, 'a')
  }

  #send({ bodies, idempotency_key }: Pending): Promise<Creation> {
    return createAll(this.#options, 'agents', bodies, { 'idempotency-key': idempotency_key })
  }

  /** The agents exist, but the gateway has discarded the response with their keys. */
  async #makeOtherKeys({ bodies }: Pending): Promise<void> {
    const failed: { readonly body: NewAgent; readonly answer: AdminAnswer }[] = []
    for (const body of bodies) {
      const { agent_id, agent_name } = body
      const path = `/admin/agents/${encodeURIComponent(agent_id)}/keys`
      const answer = await callAdmin(this.#options, 'POST', path, { name: 'first key, made again' })
      if (answer.status !== 201) {
        if (!GONE.includes(answer.status)) throw noKey([body], answer)
        failed.push({ body, answer })
        continue
      }
      const { key, key_id } = answer.body as Readonly<Record<string, string>>
      this.#keep([{ agent_name, agent_id, api_key: key ?? '', api_key_id: key_id ?? '' }])
    }
    const [first] = failed
    if (first === undefined) return
    // Deleted or killed since; a retry would not help.
    rmSync(this.#pendingFile)
    throw noKey(
      failed.map(({ body }) => body),
      first.answer,
    )
  }
}

function noKey(agents: readonly NewAgent[], answer: AdminAnswer): Error {
  const [first] = agents
  const others = agents.length === 1 ? '' : ` and ${agents.length - 1} more`
  return new Error(
    `No key was created for ${first?.agent_name} (${first?.agent_id})${others}: ${messageOf(answer)}`,
  )
}

function refuseOpenFile(file: string): void {
  const found = lstatSync(file, { throwIfNoEntry: false })
  if (found === undefined) return
  if (!found.isFile() || found.uid !== process.getuid?.() || (found.mode & 0o077) !== 0)
    throw new Error(`${file} must be readable by you only: chmod 600 ${file}`)
}

function readPending(file: string): Pending | null {
  try {
    const read = JSON.parse(readFileSync(file, 'utf8')) as Pending & { readonly body?: NewAgent }
    // Version 0.2 wrote one agent as `body`.
    return read.body === undefined ? read : { ...read, bodies: [read.body] }
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
