import { PROBE_HEADER } from '../../core/control/probe-pass.ts'
import { CALL_FACTS, FRAMES, METADATA_NAMESPACE } from '../envoy/call-metadata.ts'
import { findInMap, readStringValue } from '../envoy/find-in-map.ts'
import { ProtobufReader } from '../envoy/protobuf-reader.ts'

/** What Envoy reports about one finished call. */
export interface FinishedCall {
  /** The facts that the processor attached; empty for a call that was not allowed. */
  facts: string
  /** Of a WebSocket: the frames of the client, and of the API if they were read, as `12` or `12,34`; else empty. */
  frames: string
  /** 0 if nothing was sent to the caller. */
  status: number
  /** Of the body alone. */
  bytes_in: number
  bytes_out: number
  /** Envoy's clock; 0 if missing. */
  start_ms: number
  duration_ms: number
  /** Numbers of the fields of ResponseFlags that are set. */
  readonly flags: number[]
  /** `via_upstream`, or why the response does not come from the upstream. */
  details: string
  upstream_failure: string
  route_name: string
  /** What came as the pass of a probe; empty unless it looks like one. */
  probe_pass: string
}

const NAMESPACES = [METADATA_NAMESPACE]
const KEPT = [CALL_FACTS, FRAMES]
const NANOS_PER_MS = 1_000_000

/**
 * A StreamAccessLogsMessage, decoded by hand for the same reason as in read-request.ts: only eight of about sixty fields are
 * needed.
 * @throws if the message is malformed
 */
export function readAccessLog(bytes: Buffer): FinishedCall[] {
  const reader = new ProtobufReader(bytes)
  const calls: FinishedCall[] = []
  within(reader, (tag) => {
    if (tag !== HTTP_LOGS) return false
    return inside(reader, (inner) => inner === LOG_ENTRY && calls.push(readEntry(reader)) > 0)
  })
  return calls
}

const message = (field: number): number => field * 8 + 2
const number = (field: number): number => field * 8
const HTTP_LOGS = message(2)
const LOG_ENTRY = message(1)
const COMMON = message(1)
const REQUEST = message(3)
const RESPONSE = message(4)
const FLAGS = message(16)
const METADATA = message(17)
const UPSTREAM_FAILURE = message(18)
const ROUTE_NAME = message(19)
const START_TIME = message(5)
const DURATION = message(23)
const REQUEST_BODY_BYTES = number(12)
const REQUEST_HEADERS = message(13)
const PAIR_NAME = message(1)
const PAIR_VALUE = message(2)
const RESPONSE_CODE = message(1)
const RESPONSE_BODY_BYTES = number(3)
const RESPONSE_DETAILS = message(6)

function readEntry(reader: ProtobufReader): FinishedCall {
  const outer = reader.enter()
  const call: FinishedCall = {
    facts: '',
    frames: '',
    status: 0,
    bytes_in: 0,
    bytes_out: 0,
    start_ms: 0,
    duration_ms: 0,
    flags: [],
    details: '',
    upstream_failure: '',
    route_name: '',
    probe_pass: '',
  }
  while (!reader.atEnd) {
    const tag = reader.varint()
    if (tag === COMMON) readCommon(reader, call)
    else if (tag === REQUEST) readRequestProperties(reader, call)
    else if (tag === RESPONSE) readResponse(reader, call)
    else reader.skip(tag & 7)
  }
  reader.leave(outer)
  return call
}

function readCommon(reader: ProtobufReader, call: FinishedCall): void {
  const outer = reader.enter()
  while (!reader.atEnd) {
    const tag = reader.varint()
    if (tag === METADATA) readMetadata(reader, call)
    else if (tag === START_TIME) call.start_ms = readMs(reader)
    else if (tag === DURATION) call.duration_ms = readMs(reader)
    else if (tag === FLAGS) readFlags(reader, call)
    else if (tag === UPSTREAM_FAILURE) call.upstream_failure = reader.latin1()
    else if (tag === ROUTE_NAME) call.route_name = reader.latin1()
    else reader.skip(tag & 7)
  }
  reader.leave(outer)
}

function readFlags(reader: ProtobufReader, call: FinishedCall): void {
  const outer = reader.enter()
  while (!reader.atEnd) {
    const tag = reader.varint()
    if ((tag & 7) === 0 && reader.varint() !== 0) call.flags.push(tag >>> 3)
    else if ((tag & 7) !== 0) reader.skip(tag & 7)
  }
  reader.leave(outer)
}

/** A Timestamp or a Duration: both are seconds and nanoseconds. */
function readMs(reader: ProtobufReader): number {
  let ms = 0
  const outer = reader.enter()
  while (!reader.atEnd) {
    const tag = reader.varint()
    if (tag === number(1)) ms += reader.varint() * 1000
    else if (tag === number(2)) ms += reader.varint() / NANOS_PER_MS
    else reader.skip(tag & 7)
  }
  reader.leave(outer)
  return ms
}

function readRequestProperties(reader: ProtobufReader, call: FinishedCall): void {
  const outer = reader.enter()
  while (!reader.atEnd) {
    const tag = reader.varint()
    if (tag === REQUEST_BODY_BYTES) call.bytes_in = reader.varint()
    else if (tag === REQUEST_HEADERS) readRequestHeader(reader, call)
    else reader.skip(tag & 7)
  }
  reader.leave(outer)
}

/** A pair of the headers that Envoy was asked to report. */
function readRequestHeader(reader: ProtobufReader, call: FinishedCall): void {
  const outer = reader.enter()
  let name = ''
  while (!reader.atEnd) {
    const tag = reader.varint()
    if (tag === PAIR_NAME) name = reader.latin1()
    else if (tag === PAIR_VALUE && name === PROBE_HEADER) call.probe_pass = reader.latin1()
    else reader.skip(tag & 7)
  }
  reader.leave(outer)
}

function readResponse(reader: ProtobufReader, call: FinishedCall): void {
  const outer = reader.enter()
  while (!reader.atEnd) {
    const tag = reader.varint()
    if (tag === RESPONSE_CODE) call.status = readWrapped(reader)
    else if (tag === RESPONSE_BODY_BYTES) call.bytes_out = reader.varint()
    else if (tag === RESPONSE_DETAILS) call.details = reader.latin1()
    else reader.skip(tag & 7)
  }
  reader.leave(outer)
}

function readWrapped(reader: ProtobufReader): number {
  const outer = reader.enter()
  let value = 0
  while (!reader.atEnd) {
    const tag = reader.varint()
    if (tag === number(1)) value = reader.varint()
    else reader.skip(tag & 7)
  }
  reader.leave(outer)
  return value
}

/** metadata.filter_metadata[namespace].fields[name].string_value; maps are lists of pairs of key and value. */
function readMetadata(reader: ProtobufReader, call: FinishedCall): void {
  findInMap(reader, NAMESPACES, () =>
    findInMap(reader, KEPT, (name) => {
      if (name === CALL_FACTS) call.facts = readStringValue(reader)
      else call.frames = readStringValue(reader)
    }),
  )
}

/** Reads a message to its end. `take` reads the field of a tag, or returns false so that it is skipped. */
function within(reader: ProtobufReader, take: (tag: number) => boolean): void {
  while (!reader.atEnd) {
    const tag = reader.varint()
    if (!take(tag)) reader.skip(tag & 7)
  }
}

function inside(reader: ProtobufReader, take: (tag: number) => boolean): true {
  const outer = reader.enter()
  within(reader, take)
  reader.leave(outer)
  return true
}
