import { type OtlpAttribute, otlpAttribute } from '../../core/otlp/otlp-attribute.ts'
import { ProtobufReader } from '../envoy/protobuf-reader.ts'
import { ENVOY_REQUEST_ID } from './envoy-request-id.ts'
import type { Span } from './span.ts'

/** Tags: field number × 8 + wire type. */
const RESOURCE_SPANS = 0x0a
const SCOPE_SPANS = 0x12
const SPAN = 0x12
const TAG = {
  trace_id: 0x0a,
  span_id: 0x12,
  parent: 0x22,
  name: 0x2a,
  kind: 0x30,
  started: 0x39,
  ended: 0x41,
  attribute: 0x4a,
  status: 0x7a,
} as const
const KEY = 0x0a
const VALUE = 0x12
const STRING = 0x0a
const CODE = 0x18

/** Envoy keeps a fourth of it. */
const SPANS_MAX = 4_096

const NAMES: readonly (readonly [RegExp, string])[] = [
  [/^ingress$/, 'agw.call'],
  [/^router .* egress$/s, 'agw.upstream'],
  [/^async envoy\.service\.ext_proc\.v3\.ExternalProcessor\.Process egress$/, 'agw.ext_proc'],
]
const OTHER_NAME = 'agw.envoy'

/**
 * Envoy's attributes that are passed on, each with its name and the only form that its value may have. Others hold the URL with
 * its query and with a credential that was put there, and headers of the caller.
 */
const ATTRIBUTES: Readonly<Record<string, readonly [name: string, value: RegExp]>> = {
  'http.status_code': ['http.response.status_code', /^\d{3}$/],
  'grpc.status_code': ['rpc.grpc.status_code', /^\d{1,2}$/],
  response_flags: [
    'agw.envoy.response_flags',
    /^[A-Z][A-Za-z0-9]{0,15}(?:,[A-Z][A-Za-z0-9]{0,15}){0,7}$/,
  ],
  'guid:x-request-id': ['agw.request.id', ENVOY_REQUEST_ID],
}

/**
 * The spans of an `ExportTraceServiceRequest` of Envoy, as far as they may be passed on.
 * @throws when the message is malformed
 */
export function readEnvoySpans(bytes: Buffer): readonly Span[] {
  const spans: Span[] = []
  const reader = new ProtobufReader(bytes)
  eachField(reader, RESOURCE_SPANS, () =>
    eachField(reader, SCOPE_SPANS, () =>
      eachField(reader, SPAN, () => {
        const span = readSpan(reader)
        if (span !== null && spans.length < SPANS_MAX) spans.push(span)
      }),
    ),
  )
  return spans
}

function eachField(reader: ProtobufReader, wanted: number, read: () => void): void {
  while (!reader.atEnd) {
    const tag = reader.varint()
    if (tag !== wanted) {
      reader.skip(tag & 7)
      continue
    }
    const outer = reader.enter()
    read()
    reader.leave(outer)
  }
}

/** Null for one without ids. */
function readSpan(reader: ProtobufReader): Span | null {
  let traceId = ''
  let spanId = ''
  let parentSpanId = ''
  let name = ''
  let kind = 0
  let started = 0n
  let ended = 0n
  let code = 0
  const attributes: OtlpAttribute[] = []
  while (!reader.atEnd) {
    const tag = reader.varint()
    switch (tag) {
      case TAG.trace_id:
        traceId = reader.bytes().toString('hex')
        break
      case TAG.span_id:
        spanId = reader.bytes().toString('hex')
        break
      case TAG.parent:
        parentSpanId = reader.bytes().toString('hex')
        break
      case TAG.name:
        name = reader.latin1()
        break
      case TAG.kind:
        kind = reader.varint()
        break
      case TAG.started:
        started = reader.fixed64()
        break
      case TAG.ended:
        ended = reader.fixed64()
        break
      case TAG.attribute:
        attributes.push(...readAttribute(reader))
        break
      case TAG.status:
        code = readStatus(reader)
        break
      default:
        reader.skip(tag & 7)
    }
  }
  if (traceId.length !== 32 || spanId.length !== 16) return null
  return {
    traceId,
    spanId,
    parentSpanId: parentSpanId.length === 16 ? parentSpanId : '',
    name: NAMES.find(([pattern]) => pattern.test(name))?.[1] ?? OTHER_NAME,
    kind: kind <= 5 ? kind : 0,
    startTimeUnixNano: String(started),
    endTimeUnixNano: String(ended),
    attributes,
    status: code === 1 || code === 2 ? { code } : {},
  }
}

function readAttribute(reader: ProtobufReader): readonly OtlpAttribute[] {
  let key = ''
  let value = ''
  const outer = reader.enter()
  while (!reader.atEnd) {
    const tag = reader.varint()
    if (tag === KEY) key = reader.latin1()
    else if (tag === VALUE) value = reader.textIn(STRING) ?? ''
    else reader.skip(tag & 7)
  }
  reader.leave(outer)
  const [name, pattern] = (Object.hasOwn(ATTRIBUTES, key) ? ATTRIBUTES[key] : undefined) ?? []
  if (name === undefined || pattern === undefined || !pattern.test(value)) return []
  return [otlpAttribute(name, name.endsWith('_code') ? Number(value) : value)]
}

/** Without its message. */
function readStatus(reader: ProtobufReader): number {
  let code = 0
  const outer = reader.enter()
  while (!reader.atEnd) {
    const tag = reader.varint()
    if (tag === CODE) code = reader.varint()
    else reader.skip(tag & 7)
  }
  reader.leave(outer)
  return code
}
