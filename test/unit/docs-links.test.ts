import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join, normalize } from 'node:path'
import { test } from 'node:test'
import { root } from '../../core/system/root.ts'
import { planIntegrationJobs, planUnitJobs } from '../runner/plan-jobs.ts'

const pages = [
  ...readdirSync(root).filter((name) => name.endsWith('.md')),
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name)),
].map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }))

/** As GitHub makes them: lower case, punctuation removed, blanks as hyphens. */
const anchorsOf = (text: string): string[] =>
  [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-'),
  )

test('every link between documents leads to a page and a heading that exist', () => {
  assert.ok(pages.length > 20)
  for (const { path, text } of pages) {
    for (const [, target = '', anchor = ''] of text.matchAll(/\]\(([^)#\s]*)(?:#([^)\s]*))?\)/g)) {
      if (target.includes('://')) continue
      const file = target === '' ? path : normalize(join(dirname(path), target))
      assert.ok(existsSync(join(root, file)), `${path} links to ${file}, which does not exist`)
      if (anchor === '' || !file.endsWith('.md')) continue
      const { text: linked = '' } = pages.find((page) => page.path === file) ?? {}
      assert.ok(anchorsOf(linked).includes(anchor), `${path}: ${file} has no heading #${anchor}`)
    }
  }
})

const FOLDERS = 'core|ext-proc|admin|envoy|cli|bench|test|docs|proto'

test('every path of this repository that a document names exists', () => {
  for (const { path, text } of pages) {
    const named = text.matchAll(new RegExp(`\`((?:${FOLDERS})/[\\w./-]*)[^\`]*\``, 'g'))
    for (const [, file = ''] of named)
      assert.ok(existsSync(join(root, file)), `${path} names ${file}, which does not exist`)
  }
})

const sources = ['core', 'ext-proc', 'admin', 'envoy', 'cli', 'bench', 'test', 'proto'].flatMap(
  (folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.(?:tsx?|mjs|lua|yaml|proto|css|html)$/.test(name))
      .map((name) => join(folder, name)),
)

test('documents and sources cite nothing outside of the repository', () => {
  for (const path of [...sources, ...pages.map((page) => page.path)]) {
    const text = readFileSync(join(root, path), 'utf8')
    const cited =
      /(?<![\w-])(?:threats|contract|design|envoy|style|house)\.md|contract §|\bof the contract\b/i.exec(
        text,
      )
    assert.equal(path.endsWith('docs-links.test.ts') ? null : (cited?.[0] ?? null), null, path)
  }
})

test('every page of docs/ that a source names exists', () => {
  for (const path of sources)
    for (const [page] of readFileSync(join(root, path), 'utf8').matchAll(
      /(?<![\w./-])docs\/[\w/-]+\.md\b/g,
    ))
      assert.ok(existsSync(join(root, page)), `${path} names ${page}, which does not exist`)
})

test('decisions have numbers of their own, and all are in the index', () => {
  const folder = join(root, 'docs', 'decisions')
  const files = readdirSync(folder)
    .filter((name) => /^\d/.test(name))
    .sort()
  const expected = files.map((name, index) => {
    const [heading = ''] = readFileSync(join(folder, name), 'utf8').split('\n', 1)
    const number = index + 1
    assert.equal(Number(name.slice(0, 3)), number, name)
    assert.ok(heading.startsWith(`# ${number}. `), `${name} begins with ${heading}`)
    return `${number}. [${heading.slice(`# ${number}. `.length)}](${name})`
  })
  const index = readFileSync(join(folder, 'README.md'), 'utf8')
  assert.deepEqual(index.match(/^\d+\. .+$/gm), expected)
})

/** Test files that `npm test` runs, by the name that documents give them. */
function testsThatRun(): Set<string> {
  const names = new Set<string>()
  for (const job of [...planUnitJobs([]), ...planIntegrationJobs([])])
    for (let file = job.next(); file !== null; file = job.next())
      names.add(basename(file, '.test.js'))
  return names
}

test('each invariant names its code and its tests; the code exists, and the tests are run', () => {
  const text = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8')
  const section = /^## Invariants\n(.*?)^## /ms.exec(text)?.[1] ?? ''
  const invariants = [...section.matchAll(/^(\d)\. (?:.|\n(?!\d\. |\n))+/gm)]
  assert.deepEqual(
    invariants.map(([, number]) => Number(number)),
    [1, 2, 3, 4, 5, 6, 7, 8],
  )
  const run = testsThatRun()
  for (const [invariant, number] of invariants) {
    const [, code = '', tests = ''] = /\*Code:([^*]+?)Tests:([^*]+)\*/.exec(invariant) ?? []
    const named = (part: string): string[] =>
      [...part.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name)
    assert.ok(named(code).length > 0 && named(tests).length > 0, `invariant ${number}`)
    for (const path of named(code)) assert.ok(existsSync(join(root, path)), `${number}: ${path}`)
    for (const name of named(tests))
      assert.ok(run.has(name), `invariant ${number}: ${name} is not run`)
  }
})

const threatRules = (): RegExpExecArray[] => {
  const text = readFileSync(join(root, 'docs', 'threat-model.md'), 'utf8')
  return [...text.matchAll(/^(\d+)\. (?:.|\n(?!\d+\. |\n))+/gm)]
}

test('every rule of the threat model names its tests, and they exist', () => {
  const rules = threatRules()
  assert.deepEqual(
    rules.map(([, number]) => Number(number)),
    rules.map((_, index) => index + 1),
  )
  const run = testsThatRun()
  for (const [rule, number] of rules) {
    const held = /\*(?:Tests: ([^*]+)|Not held yet[^*]*)\*/.exec(rule)
    assert.ok(held, `rule ${number} names no test`)
    for (const [, name] of (held[1] ?? '').matchAll(/`([\w-]+)`/g))
      assert.ok(run.has(name ?? ''), `rule ${number} names ${name}`)
  }
})

test('a test that is titled after a rule of the threat model is named there', () => {
  const rules = new Map(threatRules().map(([rule, number]) => [number, rule]))
  let titles = 0
  for (const folder of ['unit', 'integration'])
    for (const name of readdirSync(join(root, 'test', folder))) {
      const source = readFileSync(join(root, 'test', folder, name), 'utf8')
      for (const [, number] of source.matchAll(/\btest\(\s*['"`]threat (\d+):/g)) {
        titles++
        const file = name.replace('.test.ts', '')
        assert.ok(
          rules.get(number)?.includes(`\`${file}\``),
          `rule ${number} does not name ${file}`,
        )
      }
    }
  assert.ok(titles > 100)
})
