import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { fromRoot } from '../../core/system/root.ts'

const { ALLOWED_LICENCES } = (await import(
  pathToFileURL(fromRoot('cli', 'third-party.mjs')).href
)) as { ALLOWED_LICENCES: readonly string[] }

const jsonOf = (...path: string[]): any => JSON.parse(readFileSync(fromRoot(...path), 'utf8'))
const licences = readFileSync(fromRoot('dist', 'THIRD-PARTY-LICENSES'), 'utf8')
const bill = jsonOf('dist', 'sbom.cdx.json')

/** From the source maps of what is built, so independent of how the licences are collected. */
function bundledPackages(): Set<string> {
  const maps = ['chunks', 'console', 'admin', 'cli', 'core/inspection', 'ext-proc'].flatMap(
    (folder) =>
      readdirSync(fromRoot('dist', folder), { recursive: folder === 'ext-proc', encoding: 'utf8' })
        .filter((name) => name.endsWith('.js.map'))
        .map((name) => join('dist', folder, name)),
  )
  const names = new Set<string>()
  for (const map of maps)
    for (const source of jsonOf(map).sources as string[]) {
      const [, name] = /^.*node_modules\/((?:@[^/]+\/)?[^/.@][^/]*)\//.exec(source) ?? []
      // A package may name in its own map what it was made from.
      if (name !== undefined && existsSync(fromRoot('node_modules', name))) names.add(name)
    }
  return names
}

test('the licences and the bill of materials have each package that is bundled, and re2', () => {
  const names = bundledPackages()
  for (const one of ['preact', 'fastify', 'undici']) assert.ok(names.has(one), one)
  for (const name of [...names, 're2']) {
    const version = jsonOf('node_modules', ...name.split('/'), 'package.json').version
    assert.ok(licences.includes(`\n${name} ${version} (`) || licences.startsWith(`${name} `), name)
    const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`
    assert.ok(
      bill.components.some((one: any) => one.purl === purl && one.licenses.length === 1),
      purl,
    )
  }
  // Compiled into re2.
  assert.match(licences, /The RE2 Authors/)
  assert.match(licences, /Apache License\s+Version 2\.0/)
})

test('the bill of materials is one of CycloneDX for this version', () => {
  const { version } = jsonOf('package.json')
  assert.deepEqual([bill.bomFormat, bill.specVersion, bill.version], ['CycloneDX', '1.6', 1])
  assert.equal(bill.metadata.component.purl, `pkg:npm/agent-access-gateway@${version}`)
  const refs = bill.components.map((one: any) => one['bom-ref'])
  assert.equal(new Set(refs).size, refs.length)
})

test('both are in the package and in the image', () => {
  const { files } = jsonOf('package.json')
  const dockerfile = readFileSync(fromRoot('Dockerfile'), 'utf8')
  for (const file of ['dist/THIRD-PARTY-LICENSES', 'dist/sbom.cdx.json']) {
    assert.ok(files.includes(file), file)
    assert.ok(dockerfile.includes(` ${file} `), file)
  }
})

test('every package that is installed with the product has a licence that is allowed', () => {
  const { packages } = jsonOf('package-lock.json')
  const installed = Object.entries<any>(packages).filter(([path, { dev }]) => path !== '' && !dev)
  assert.ok(installed.length > 50)
  for (const [path, { license }] of installed)
    assert.ok(ALLOWED_LICENCES.includes(license), `${path}: ${license}`)
})
