import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadSync } from '@grpc/proto-loader'
import fc from 'fast-check'
import { fromRoot } from '../../core/system/root.ts'
import { readRequest } from '../../ext-proc/envoy/read-request.ts'
import {
  BODY_MODE,
  NO_NOTES,
  writePass,
  writeRefusal,
  writeTrailers,
} from '../../ext-proc/envoy/write-response.ts'
import { repetitions } from '../kit/repetitions.ts'

interface Codec {
  serialize(value: object): Buffer
  deserialize(bytes: Buffer): Record<string, unknown>
}

const definition = loadSync('envoy/service/ext_proc/v3/external_processor.proto', {
  includeDirs: [fromRoot('proto')],
  keepCase: true,
  defaults: true,
  oneofs: true,
})
const service = definition['envoy.service.ext_proc.v3.ExternalProcessor'] as Record<
  string,
  { requestSerialize: Codec['serialize']; responseDeserialize: Codec['deserialize'] }
>
const process_ = service['Process']
assert.ok(process_)

const latin1 = fc.string({
  unit: fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)),
  maxLength: 400,
})
const headers = fc.array(
  fc.record(
    { name: fc.stringMatching(/^[a-z:-]{1,30}$/), value: latin1 },
    { noNullPrototype: true },
  ),
  { maxLength: 40 },
)
const bytes = fc.uint8Array({ maxLength: 70_000 }).map((array) => Buffer.from(array))
const headerMap = (list: readonly { name: string; value: string }[]) => ({
  headers: list.map(({ name, value }) => ({ key: name, raw_value: Buffer.from(value, 'latin1') })),
})

test('what Envoy sends is read as the definition in proto/ has it', () => {
  fc.assert(
    fc.property(headers, bytes, fc.boolean(), (list, body, end_of_stream) => {
      const head = { headers: headerMap(list), end_of_stream }
      assert.deepEqual(readRequest(process_.requestSerialize({ request_headers: head })), {
        kind: 'request_headers',
        headers: list,
        end_of_stream,
      })
      for (const code_details of ['', 'via_upstream', 'rbac_access_denied']) {
        const fields = {
          'request.size': { numberValue: 1 },
          'response.code_details': { stringValue: code_details },
        }
        const message = process_.requestSerialize({
          response_headers: head,
          ...(code_details === ''
            ? {}
            : { attributes: { 'envoy.filters.http.ext_proc': { fields } } }),
        })
        assert.deepEqual(readRequest(message), {
          kind: 'response_headers',
          headers: list,
          end_of_stream,
          code_details,
        })
      }
      for (const kind of ['request_body', 'response_body'] as const) {
        const message = process_.requestSerialize({ [kind]: { body, end_of_stream } })
        assert.deepEqual(readRequest(message), { kind, body, end_of_stream })
      }
      const trailers = process_.requestSerialize({
        request_trailers: { trailers: headerMap(list) },
      })
      assert.deepEqual(readRequest(trailers), { kind: 'request_trailers', headers: list })
    }),
    { numRuns: repetitions(60) },
  )
})

test('an empty chunked body, which has no body field, is an empty body', () => {
  assert.deepEqual(readRequest(process_.requestSerialize({ request_body: {} })), {
    kind: 'request_body',
    body: Buffer.alloc(0),
    end_of_stream: false,
  })
})

test('a message that is cut short or random is refused or read, and never hangs', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (array) => {
      try {
        readRequest(Buffer.from(array))
      } catch (error) {
        assert.match(String(error), /protobuf/)
      }
    }),
  )
})

interface Option {
  header: { key: string; raw_value: Buffer }
}
const optionsOf = (list: readonly { name: string; value: string }[]): readonly Option[] =>
  list.map(({ name, value }) => ({
    header: { key: name, raw_value: Buffer.from(value, 'latin1') },
  }))
/** Of several headers of one name, the first replaces and the others are appended. */
const appends = (list: readonly { name: string }[]): boolean[] =>
  list.map(({ name }, i) => list[i - 1]?.name === name)
const appended = (options: unknown): boolean[] =>
  (options as { append: { value: boolean } | null }[]).map(({ append }) => append?.value === true)
const plain = (options: unknown): unknown =>
  (options as Option[]).map(({ header: { key, raw_value } }) => ({ header: { key, raw_value } }))

test('the notes of a call are one Struct, whichever of them there are', () => {
  const rate = { limit: '"scope";r=4;t=60', policy: '"scope";q=5;w=60' }
  const rows = [
    [{ facts: null, rate: null }, null],
    [{ facts: '{}', rate: null }, { f: '{}' }],
    [{ facts: '', rate: null }, { r: '1' }],
    [
      { facts: null, rate },
      { q: rate.limit, p: rate.policy },
    ],
    [
      { facts: '{"a":1}', rate },
      { f: '{"a":1}', q: rate.limit, p: rate.policy },
    ],
    [
      { facts: '', rate },
      { r: '1', q: rate.limit, p: rate.policy },
    ],
    [
      { facts: '{}', rate: null, sees_response: true },
      { f: '{}', l: '1' },
    ],
    [{ facts: null, rate: null, json_rpc_id: '"a"' }, { j: '"a"' }],
  ] as const
  for (const [notes, expected] of rows) {
    const passed = process_.responseDeserialize(
      writePass('request_headers', null, null, { ...NO_NOTES, ...notes }),
    ) as { dynamic_metadata: { fields: Record<string, { structValue: any }> } | null }
    const noted = passed.dynamic_metadata?.fields['agw']?.structValue.fields ?? null
    const texts =
      noted === null
        ? null
        : Object.fromEntries(
            Object.entries(noted).map(([name, value]: any) => [name, value.stringValue]),
          )
    assert.deepEqual(texts, expected)
  }
})

test('what we send is read by the definition in proto/ as it was meant', () => {
  fc.assert(
    fc.property(
      headers,
      fc.array(fc.stringMatching(/^[a-z-]{1,20}$/)),
      bytes,
      (set, remove, body) => {
        const passed = process_.responseDeserialize(
          writePass(
            'request_body',
            { set, remove, body },
            {
              request_body: BODY_MODE.buffered,
              response_body: BODY_MODE.none,
            },
          ),
        ) as Record<string, unknown>
        const { response } = passed['request_body'] as { response: Record<string, unknown> }
        assert.deepEqual(
          plain((response['header_mutation'] as { set_headers: unknown }).set_headers),
          optionsOf(set),
        )
        assert.deepEqual(
          appended((response['header_mutation'] as { set_headers: unknown }).set_headers),
          appends(set),
        )
        assert.deepEqual(
          (response['header_mutation'] as { remove_headers: unknown }).remove_headers,
          remove,
        )
        assert.equal(response['clear_route_cache'], true)
        const mutation = response['body_mutation'] as { body?: Buffer; clear_body?: boolean }
        if (body.length === 0) assert.equal(mutation.clear_body, true)
        else assert.deepEqual(mutation.body, body)
        assert.deepEqual(passed['mode_override'], {
          ...(passed['mode_override'] as object),
          request_header_mode: 1,
          response_header_mode: 1,
          request_body_mode: 2,
          response_body_mode: 0,
          request_trailer_mode: 1,
          response_trailer_mode: 1,
        })

        const refused = process_.responseDeserialize(
          writeRefusal({ status: 403, headers: set, body, details: 'agw_permission_denied' }),
        ) as { immediate_response: Record<string, unknown> }
        const {
          status,
          headers: mutated,
          body: sent,
          details,
        } = refused.immediate_response as Record<string, unknown>
        assert.equal((status as { code: number }).code, 403)
        assert.deepEqual(plain((mutated as { set_headers: unknown }).set_headers), optionsOf(set))
        assert.deepEqual(sent, body)
        assert.equal(details, 'agw_permission_denied')
      },
    ),
    { numRuns: repetitions(60) },
  )
})

test('trailers that must not go on are named, and others pass without a change', () => {
  const removing = process_.responseDeserialize(writeTrailers('request_trailers', ['x-a', 'x-b']))
  const { header_mutation } = removing['request_trailers'] as {
    header_mutation: { remove_headers: string[] }
  }
  assert.deepEqual(header_mutation.remove_headers, ['x-a', 'x-b'])
  const passing = process_.responseDeserialize(writeTrailers('response_trailers', []))
  assert.deepEqual(passing['response_trailers'], { header_mutation: null })
})
