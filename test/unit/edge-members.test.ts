import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EDGE_MEMBERS, isOlderVersion } from '../../core/store/edge-members.ts'
import { STORE_FORMAT, STORE_FORMATS } from '../../core/store/stored-record.ts'
import { version } from '../../core/system/version.ts'

test('versions are compared by their numbers, and a version in development counts as the one it becomes', () => {
  for (const [one, than, isOlder] of [
    ['0.2.0', '0.3.0', true],
    ['0.3.0', '0.3.0', false],
    ['0.3.0-dev', '0.3.0', false],
    ['0.10.0', '0.9.9', false],
    ['0.9.9', '0.10.0', true],
    ['1.0.0', '0.99.0', false],
    ['0.3.1', '0.3.2-rc.1', true],
    ['damaged', '0.0.1', true],
  ] as const)
    assert.equal(isOlderVersion(one, than), isOlder, `${one} ${than}`)
})

test('each format of the store has the version that the store then demands, and this version is one', () => {
  const versions = STORE_FORMATS.map(({ read_from }) => read_from)
  assert.equal(STORE_FORMAT, versions.length)
  for (const [i, read_from] of versions.entries()) {
    assert.equal(isOlderVersion(version, read_from), false)
    assert.ok(i === 0 || isOlderVersion(versions[i - 1] ?? '', read_from), read_from)
  }
})

test('this version knows all of its members', () => {
  for (const since of Object.values(EDGE_MEMBERS))
    assert.equal(isOlderVersion(version, since), false)
})
