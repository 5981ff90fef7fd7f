import type { Header } from '../../core/request/header.ts'
import {
  CALL_FACTS,
  CALL_LOGGED,
  type CallMember,
  HELD_BY,
  JSON_RPC_ID,
  LOOK,
  METADATA_NAMESPACE,
  PREFERENCE,
  RATE_LIMIT,
  RATE_POLICY,
} from './call-metadata.ts'
import { ProtobufWriter } from './protobuf-writer.ts'

/**
 * Header mutations: removals are applied first; a header that is set replaces all headers of that name. Consecutive entries
 * with the same name are set as separate headers.
 */
export interface HeaderChanges {
  readonly set: readonly Header[]
  readonly remove: readonly string[]
}

export interface PassChanges extends HeaderChanges {
  /** Replaces the body; null keeps it. Only in a response to a body. */
  readonly body: Buffer | null
}

/** Numbers of Envoy's BodySendMode. */
export const BODY_MODE = { none: 0, streamed: 1, buffered: 2, buffered_partial: 3 } as const
/** Of its HeaderSendMode, for headers and trailers. */
const SEND = 1

/**
 * How Envoy treats the rest of the call. All modes are set explicitly, because an omitted body mode means NONE and an omitted
 * trailer mode means SKIP, which would close the stream before the response ends.
 */
export interface ModeOverride {
  readonly request_body: number
  readonly response_body: number
}

/** A response of the gateway that replaces that of the upstream (Envoy's term). */
export interface LocalReply {
  readonly status: number
  readonly headers: readonly Header[]
  readonly body: Buffer
  /** Becomes Envoy's response code details; begins with `agw_`. */
  readonly details: string
}

type Phase = 'request_headers' | 'response_headers' | 'request_body' | 'response_body'
const PHASE_FIELD: Readonly<Record<Phase, number>> = {
  request_headers: 1,
  response_headers: 2,
  request_body: 3,
  response_body: 4,
}

/** What Envoy keeps about an allowed call until it has ended. */
export interface PassNotes {
  /** The facts of the call for the access log, in ASCII; null if there are none, empty if the call is already logged. */
  readonly facts: string | null
  /** The rate limit headers of the response; null if the call has no limit. */
  readonly rate: { readonly limit: string; readonly policy: string } | null
  /** Whether Envoy sends the response to the processor regardless of its headers. */
  readonly sees_response: boolean
  /** The id of the JSON-RPC request, as JSON text in ASCII; null for a call that is not MCP. */
  readonly json_rpc_id: string | null
  /** `Preference-Applied`; absent if no preference was followed. */
  readonly preference?: string | null
  /** Why the body is buffered; null if it is not asked for. */
  readonly held_by?: string | null
}

export const NO_NOTES: PassNotes = {
  facts: null,
  rate: null,
  sees_response: false,
  json_rpc_id: null,
}

/** Larger than nearly all messages; it grows if necessary. */
const INITIAL_BYTES = 16_384
const writer = new ProtobufWriter(INITIAL_BYTES)

/** Envoy waits so much longer for the answer to its last message. It takes this once for each message, up to a limit of its own. */
export function writeMoreTime(ms: number): Buffer {
  writer.varintField(1, Math.ceil(ms / 1000))
  writer.close(10, 0)
  return writer.take()
}

/** Continues the call, either with changes, after which Envoy selects the route again, or without. */
export function writePass(
  phase: Phase,
  changes: PassChanges | null,
  mode: ModeOverride | null,
  notes: PassNotes = NO_NOTES,
): Buffer {
  if (mode !== null) writeMode(mode)
  writeNotes(notes)
  const outer = writer.length
  if (changes !== null) {
    // Clearing the route cache applies only to requests; in the response phase Envoy no longer selects a route.
    if (phase.startsWith('request')) writer.varintField(5, 1)
    if (changes.body !== null) {
      const mark = writer.length
      // clear_body, because an empty `body` cannot be distinguished from an absent one.
      if (changes.body.length === 0) writer.varintField(2, 1)
      else writer.bytesField(1, changes.body)
      writer.close(3, mark)
    }
    writeHeaderChanges(changes, 2)
  }
  writer.close(1, outer)
  writer.close(PHASE_FIELD[phase], outer)
  return writer.take()
}

/**
 * Lets a part of a streamed body out.
 * @param body goes out in its place; null: it goes out as it is
 */
export function writeChunk(kind: 'request_body' | 'response_body', body: Buffer | null): Buffer {
  const outer = writer.length
  if (body !== null) {
    if (body.length === 0) writer.varintField(2, 1)
    else writer.bytesField(1, body)
    writer.close(3, outer)
  }
  writer.close(1, outer)
  writer.close(PHASE_FIELD[kind], outer)
  return writer.take()
}

/** Removes the named trailers; the others are forwarded unchanged. */
export function writeTrailers(
  kind: 'request_trailers' | 'response_trailers',
  remove: readonly string[],
): Buffer {
  const mark = writer.length
  if (remove.length > 0) writeHeaderChanges({ set: [], remove }, 1)
  writer.close(kind === 'request_trailers' ? 5 : 6, mark)
  return writer.take()
}

/**
 * Ends the call; allowed at any time while the stream is open. The caller gets this response only if no response headers were
 * sent. Otherwise Envoy can only end the stream: RST_STREAM over HTTP/2, a closed connection over HTTP/1.1.
 * @param isLogged false: the entry is written from Envoy's access log
 */
export function writeRefusal(refusal: LocalReply, isLogged = true): Buffer {
  if (isLogged) {
    writeMember(CALL_LOGGED, '1')
    closeMetadata(0)
  }
  const mark = writer.length
  writer.latin1Field(5, refusal.details)
  writer.bytesField(3, refusal.body)
  writeHeaderChanges({ set: refusal.headers, remove: [] }, 2)
  const status = writer.length
  writer.varintField(1, refusal.status)
  writer.close(1, status)
  writer.close(7, mark)
  return writer.take()
}

/**
 * What Envoy keeps of the call, for a message that is written already: of a message that is put behind another, protobuf adds
 * the fields to it.
 */
export function writeMembers(members: readonly CallMember[]): Buffer {
  for (const [name, value] of members) writeMember(name, value)
  closeMetadata(0)
  return writer.take()
}

function writeNotes({
  facts,
  rate,
  sees_response,
  json_rpc_id,
  preference = null,
  held_by = null,
}: PassNotes): void {
  const others = [facts, rate, json_rpc_id, preference, held_by]
  if (!sees_response && others.every((note) => note === null)) return
  const outer = writer.length
  if (facts !== null) writeMember(facts === '' ? CALL_LOGGED : CALL_FACTS, facts || '1')
  if (rate !== null) {
    writeMember(RATE_LIMIT, rate.limit)
    writeMember(RATE_POLICY, rate.policy)
  }
  if (preference !== null) writeMember(PREFERENCE, preference)
  if (sees_response) writeMember(LOOK, '1')
  if (json_rpc_id !== null) writeMember(JSON_RPC_ID, json_rpc_id)
  if (held_by !== null) writeMember(HELD_BY, held_by)
  closeMetadata(outer)
}

function writeMember(name: string, value: string): void {
  const pair = writer.length
  writer.latin1Field(3, value)
  writer.close(2, pair)
  writer.latin1Field(1, name)
  writer.close(1, pair)
}

/** dynamic_metadata: {namespace: {name: value, …}} as a Struct, whose maps are lists of pairs. */
function closeMetadata(outer: number): void {
  writer.close(5, outer)
  writer.close(2, outer)
  writer.latin1Field(1, METADATA_NAMESPACE)
  writer.close(1, outer)
  writer.close(8, outer)
}

function writeHeaderChanges({ set, remove }: HeaderChanges, field: number): void {
  const outer = writer.length
  for (let i = remove.length - 1; i >= 0; i--) writer.latin1Field(2, remove[i] ?? '')
  for (let i = set.length - 1; i >= 0; i--) {
    const header = set[i]
    if (header === undefined) continue
    const option = writer.length
    if (set[i - 1]?.name === header.name) {
      writer.varintField(1, 1)
      writer.close(2, option)
    }
    const pair = writer.length
    writer.latin1Field(3, header.value)
    writer.latin1Field(1, header.name)
    writer.close(1, pair)
    writer.close(1, option)
  }
  writer.close(field, outer)
}

function writeMode({ request_body, response_body }: ModeOverride): void {
  const mark = writer.length
  writer.varintField(6, SEND)
  writer.varintField(5, SEND)
  writer.varintField(4, response_body)
  writer.varintField(3, request_body)
  writer.varintField(2, SEND)
  writer.varintField(1, SEND)
  writer.close(9, mark)
}
