import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { outgoingRequest } from '../../core/decision/outgoing-request.ts'
import { removeQueryParameter, replaceQueryParameter } from '../../core/request/query-parameter.ts'
import { fromRoot } from '../../core/system/root.ts'
import { QUERY_TEXTS } from '../kit/query-texts.ts'

/** By spelling: which real readers take the value of that spelling instead of ours. */
const RECORD = JSON.parse(
  readFileSync(fromRoot('test', 'witness', 'query', 'readers.json'), 'utf8'),
) as Record<string, Record<string, string>>

const latin1 = (text: string): string => Buffer.from(text).toString('latin1')

test('the record has every spelling of a parameter', () => {
  assert.deepEqual(Object.keys(RECORD), Object.keys(QUERY_TEXTS))
  assert.ok(Object.values(RECORD).filter(({ theirs }) => theirs !== undefined).length > 20)
})

test('no spelling that a real reader takes for the parameter of the credential goes upstream', () => {
  for (const [name, text] of Object.entries(QUERY_TEXTS)) {
    if (RECORD[name]?.['theirs'] === undefined) continue
    const sent = replaceQueryParameter(latin1(text), 'api_key', 'ours')
    assert.doesNotMatch(sent, /theirs/, name)
    assert.match(sent, /(^|&)api_key=ours$/, name)
  }
})

test('neither does one that servers take which are not in the record: ASP.NET, classic ASP, ColdFusion', () => {
  for (const text of [
    'API_KEY',
    'Api_Key',
    'api_Key',
    'API%5FKEY',
    'API_KEY[]',
    'a;API_KEY',
    'api%u005FKEY',
  ])
    assert.doesNotMatch(removeQueryParameter(`${text}=theirs`, 'api_key') ?? '', /theirs/, text)
})

test('other parameters stay, byte for byte', () => {
  for (const query of [
    'a=1&b=2',
    'a=1;b=2&c',
    'api_keys=1&my_api_key=2&api_key_id=3&apikey=4',
    'q=api_key',
    'q=api_key%3D1',
    'x[api_key]=1',
    'a=%zz&%&=&&b',
    'filter=a;b;c&sort=+x',
    'key=1&api=2',
    '%E2%82%AC=api_key;x',
  ])
    assert.equal(removeQueryParameter(query, 'api_key'), query)
})

test('the parameters of a signature that the caller made are removed in every spelling', () => {
  const owned = {
    kind: 'header',
    name: 'authorization',
    replaced_parameters: new Set(['x-amz-signature', 'x-amz-date']),
  } as const
  const query =
    'a=1&X-Amz-Signature=x&x-amz-date=1&X%2DAmz%2DDate=2&b=2;X-AMZ-DATE=3;c&X-Amz-Meta=1'
  assert.equal(outgoingRequest([], query, [owned]).raw_query, 'a=1&b=2;c&X-Amz-Meta=1')
})
