import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fromRoot } from '../../core/system/root.ts'
import { judgeShape } from '../witness/judge-shape.ts'
import {
  hashOfShapes,
  type OverrideRecord,
  readRanges,
  writeRanges,
} from '../witness/override-record.ts'
import { OVERRIDE_SERVERS } from '../witness/override-servers.ts'
import { type OverrideShape, overrideShapes } from '../witness/override-shapes.ts'

const record: OverrideRecord = JSON.parse(
  readFileSync(fromRoot('test', 'witness', 'overrides.json'), 'utf8'),
)
const shapes = overrideShapes()

test('the record of the real frameworks is of the shapes that are generated now', () => {
  assert.equal(
    hashOfShapes(shapes),
    record.shapes_sha256,
    'run node dist/test/witness/overrides.js --record where all frameworks are installed',
  )
  assert.deepEqual(
    Object.keys(record.servers).sort(),
    OVERRIDE_SERVERS.map(({ name }) => name).sort(),
  )
})

for (const { name } of OVERRIDE_SERVERS)
  test(`threat 28: whatever ${name} takes for a call outside of the scope is refused`, () => {
    const { overridden = '', count = 0 } = record.servers[name] ?? {}
    const places = readRanges(overridden)
    assert.equal(places.length, count)
    assert.ok(count >= 5, `${name} took only ${count} shapes for another call`)
    for (const place of places) {
      const shape = shapes[place]
      assert.ok(shape !== undefined)
      assert.notEqual(judgeShape(shape), 'allowed', JSON.stringify(shape))
    }
  })

test('a member of JSON counts only where a framework of the record reads it', () => {
  const isNamed = (name: string, { body, target, headers }: OverrideShape): boolean =>
    body.startsWith(`{"${name}":"`) &&
    target === '/items/1' &&
    !JSON.stringify(headers).includes('form')
  const readBy = (name: string): string[] =>
    Object.entries(record.servers)
      .filter(([, { overridden }]) =>
        readRanges(overridden).some((place) => {
          const shape = shapes[place]
          return shape !== undefined && isNamed(name, shape)
        }),
      )
      .map(([server]) => server)
  assert.deepEqual(readBy('_method').sort(), ['express', 'flask', 'laravel'])
  assert.deepEqual(readBy('method'), [])
  for (const shape of shapes)
    if (isNamed('method', shape)) assert.equal(judgeShape(shape), 'allowed')
})

test('a shape without an override is allowed', () => {
  const plain = { name: 'plain', method: 'POST', target: '/items/1', headers: [], body: '' }
  assert.equal(judgeShape(plain), 'allowed')
  assert.equal(judgeShape({ ...plain, target: '/items/1/secret' }), 'refused')
  assert.ok(shapes.some((shape) => judgeShape(shape) === 'allowed'))
})

test('places are written as ranges and read back', () => {
  for (const places of [[], [0], [0, 1, 2], [1, 3, 4, 9]])
    assert.deepEqual(readRanges(writeRanges(places)), places)
})
