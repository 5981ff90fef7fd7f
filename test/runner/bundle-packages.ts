import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { fromRoot } from '../../core/system/root.ts'

/** Packages of many modules, which most test processes load, and what is imported from each. */
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  typebox: ['.', './compile', './system'],
  fastify: ['.'],
  ioredis: ['.'],
  nodemailer: ['.'],
  'prom-client': ['.'],
  undici: ['.'],
}

/** Node looks for packages here before it looks in the folder of the repository, for files of `dist` and for no others. */
const folder = fromRoot('dist', 'node_modules')
const stamp = join(folder, '.built-from')

/** Packages in CommonJS load the modules of Node by it. */
const REQUIRE =
  "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);"

const fileOf = (entry: string): string => (entry === '.' ? './main.js' : `${entry}.js`)

/**
 * Puts each package into one file for the test processes, which import the product's modules one by one: of a second of
 * CPU time that it takes to import all of admin, half goes to the thousand modules of these packages. Without this step
 * the packages themselves are used.
 */
export async function bundlePackages(): Promise<void> {
  const hash = createHash('sha256')
  for (const file of [fromRoot('package-lock.json'), fileURLToPath(import.meta.url)])
    hash.update(readFileSync(file))
  const source = hash.digest('hex')
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === source) return
  rmSync(folder, { recursive: true, force: true })
  const entries = fromRoot('dist', 'package-entries')
  mkdirSync(entries, { recursive: true })
  const entryPoints: Record<string, string> = {}
  for (const [name, parts] of Object.entries(PACKAGES))
    for (const part of parts) {
      const out = join(name, fileOf(part).replace(/\.js$/, ''))
      const entry = join(entries, `${out.replaceAll('/', '-')}.mjs`)
      writeFileSync(entry, await exportAll(join(name, part)))
      entryPoints[out] = entry
    }
  await build({
    entryPoints,
    outdir: folder,
    bundle: true,
    splitting: true,
    chunkNames: '.chunks/[hash]',
    platform: 'node',
    format: 'esm',
    target: 'node20',
    banner: { js: REQUIRE },
    logLevel: 'error',
  })
  for (const [name, parts] of Object.entries(PACKAGES)) {
    const exports = Object.fromEntries(parts.map((part) => [part, fileOf(part)]))
    writeFileSync(join(folder, name, 'package.json'), JSON.stringify({ type: 'module', exports }))
  }
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module' }))
  rmSync(entries, { recursive: true })
  writeFileSync(stamp, source)
}

/** A package in CommonJS has no static names: those that Node finds in it are exported. */
async function exportAll(specifier: string): Promise<string> {
  const names = Object.keys((await import(specifier)) as object)
  const plain = names.filter((name) => /^\w+$/.test(name) && name !== '__esModule')
  return `export { ${plain.join(', ')} } from '${specifier}'\n`
}
