// What the built files contain of others: their licences and a bill of materials, made from what the bundler has read.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Licences that may be distributed with the product; another one fails the build. */
export const ALLOWED_LICENCES = [
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC0-1.0',
  'ISC',
  'MIT',
  'MIT-0',
  'Python-2.0',
  'Unlicense',
  'Zlib',
]

const LICENCES = join('dist', 'THIRD-PARTY-LICENSES')
const BILL = join('dist', 'sbom.cdx.json')
const NOTICE = /^(?:licen[cs]e|copying|notice)/i
/** Compiled into the native package, each with a licence of its own. */
const VENDORED = { re2: [join('vendor', 're2'), join('vendor', 'abseil-cpp')] }
/** Packages that others have put into their own files: tldts the first, the server of MCP the next ones. */
const INLINED = ['tldts-core', 'ajv', 'ajv-formats', 'content-type', 'json-schema-traverse']
/** The package of a file: the last one that its path names. */
const PACKAGE = /^.*node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/

/**
 * @param metafiles of the bundler, whose inputs name each file that it has read
 * @param native packages that stay as they are
 * @throws if a package has no text of its licence, or one that is not allowed
 */
export function writeThirdParty(root, metafiles, native) {
  const folders = new Set([...native, ...INLINED].map((name) => `node_modules/${name}`))
  for (const { inputs } of metafiles)
    for (const path of Object.keys(inputs)) {
      const [folder] = PACKAGE.exec(path) ?? []
      if (folder !== undefined) folders.add(folder)
    }
  const packages = Array.from(folders, (folder) => readPackage(root, folder))
  packages.sort((a, b) => (a.name < b.name ? -1 : 1))
  writeFileSync(join(root, LICENCES), packages.map(section).join('\n'))
  writeFileSync(join(root, BILL), `${JSON.stringify(billOf(root, packages), null, 2)}\n`)
}

function readPackage(root, folder) {
  const file = join(root, folder, 'package.json')
  const { name, version, license, author } = JSON.parse(readFileSync(file, 'utf8'))
  if (!ALLOWED_LICENCES.includes(license))
    throw new Error(
      `${name} has the licence ${license}, which is not in ALLOWED_LICENCES of cli/third-party.mjs.`,
    )
  const places = [folder, ...(VENDORED[name] ?? []).map((part) => join(folder, part))]
  const texts = places.flatMap((place) => textsIn(join(root, place)))
  if (texts.length === 0) {
    if (license !== 'MIT') throw new Error(`${name} has no file with its licence.`)
    texts.push(mitOf(author?.name ?? author ?? `the authors of ${name}`))
  }
  return { name, version, license, texts }
}

/** For a package that says MIT in its package.json alone. */
const mitOf = (author) => `MIT License

Copyright (c) ${author}

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files (the "Software"), to deal in the Software without restriction, including without limitation the rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.`

const textsIn = (folder) =>
  existsSync(folder)
    ? readdirSync(folder, { withFileTypes: true })
        .filter((entry) => entry.isFile() && NOTICE.test(entry.name))
        .map((entry) => readFileSync(join(folder, entry.name), 'utf8').trim())
    : []

const section = ({ name, version, license, texts }) =>
  `${name} ${version} (${license})\n\n${texts.join('\n\n')}\n\n${'-'.repeat(80)}\n`

/** CycloneDX, without a time and a serial number: the same sources give the same bytes. */
function billOf(root, packages) {
  const own = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: { ...componentOf(own), type: 'application' } },
    components: packages.map((one) => ({ ...componentOf(one), scope: 'required' })),
  }
}

function componentOf({ name, version, license }) {
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`
  return {
    type: 'library',
    'bom-ref': purl,
    name,
    version,
    licenses: [{ license: { id: license } }],
    purl,
  }
}
