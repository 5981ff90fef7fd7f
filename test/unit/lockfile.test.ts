import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fromRoot } from '../../core/system/root.ts'

interface Locked {
  readonly resolved?: string
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

const text = readFileSync(fromRoot('package-lock.json'), 'utf8')
const { packages } = JSON.parse(text) as { packages: Readonly<Record<string, Locked>> }

test('the lockfile lists the packages of every platform, or npm ci would refuse it', () => {
  for (const [path, { optionalDependencies = {} }] of Object.entries(packages))
    for (const name of Object.keys(optionalDependencies))
      assert.ok(
        packages[`${path}/node_modules/${name}`] ?? packages[`node_modules/${name}`],
        `${name} is missing: node .ci/complete-lockfile.mjs`,
      )
})

test('the lockfile names no registry, so that each machine uses its own', () => {
  for (const [path, { resolved }] of Object.entries(packages))
    assert.equal(resolved, undefined, path)
})
