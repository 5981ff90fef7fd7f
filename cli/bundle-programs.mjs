// Puts each program and all modules that it loads into one file, which replaces what the compiler may have written for the
// first of them: Node starts a file in a third of the CPU time that it needs for hundreds of modules. Without packages at its top,
// since prepare.mjs imports it before any is installed.

import { execFile } from 'node:child_process'
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'

/** What Node is started with: processes and worker threads. */
const PROGRAMS = [
  'admin/main',
  'admin/api-thread',
  'admin/audit/compress-worker',
  'cli/bin',
  'cli/echo-api',
  'core/inspection/scan-worker',
  'ext-proc/main',
  'ext-proc/access-log/main',
]
/** Below dist: what several programs load, and what they load by need. */
const CHUNKS = 'chunks'
/** Compiled for the machine, so it stays a package. */
export const NATIVE = ['re2']
/** Fastify requires them when it is used in ways that the product does not: its own validators, and calls without a socket. */
const UNUSED = [
  '@fastify/ajv-compiler',
  '@fastify/fast-json-stringify-compiler',
  'light-my-request',
]
/** Packages in CommonJS load the modules of Node by it. */
const REQUIRE =
  "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);"

/**
 * @returns (resolves to) the bundler's list of what it has read
 * @throws (rejects) with the messages of esbuild
 */
export async function bundlePrograms(root) {
  const { build } = await import('esbuild')
  rmSync(join(root, 'dist', CHUNKS), { recursive: true, force: true })
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: PROGRAMS.map((name) => `${name}.ts`),
    outdir: 'dist',
    outbase: '.',
    bundle: true,
    splitting: true,
    chunkNames: `${CHUNKS}/[name]-[hash]`,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    external: [...NATIVE, ...UNUSED],
    alias: {
      undici: './cli/bundled-undici.mjs',
      '@opentelemetry/api': './cli/no-tracing.mjs',
    },
    banner: { js: REQUIRE },
    sourcemap: true,
    sourcesContent: false,
    metafile: true,
    logLevel: 'error',
  })
  return metafile
}

/** What the admin service serves of the console. */
const CONSOLE = join('dist', 'console')
/** Beside each file, the forms in which it is sent; the best that either makes, since this is done once. */
const PACKED = {
  br: (bytes) =>
    brotliCompressSync(bytes, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
        [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
      },
    }),
  gz: (bytes) => gzipSync(bytes, { level: constants.Z_BEST_COMPRESSION }),
}

/**
 * The console in a few scripts and one style sheet, whose names have a hash of their content, since a browser would ask for a hundred
 * modules one by one. The page names all scripts of the first view, so that they are loaded at the same time. The source map is for those who read a stack trace; it is neither served nor in the package.
 */
export async function bundleConsole(root) {
  const { build } = await import('esbuild')
  const folder = join(root, CONSOLE)
  rmSync(folder, { recursive: true, force: true })
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: {
      main: 'admin/console/main.tsx',
      preload: 'admin/console/preload.ts',
      style: 'admin/console/style.css',
    },
    outdir: CONSOLE,
    tsconfig: 'admin/console/tsconfig.json',
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    bundle: true,
    splitting: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    sourcemap: 'external',
    sourcesContent: false,
    metafile: true,
    logLevel: 'error',
  })
  const source = join(root, 'admin', 'console')
  let page = readFileSync(join(source, 'index.html'), 'utf8')
  for (const [path, { entryPoint }] of Object.entries(metafile.outputs)) {
    if (!/\/(?:main|preload|style)\./.test(entryPoint)) continue
    const plain = `"/dashboard/${basename(entryPoint).replace(/\.tsx?$/, '.js')}"`
    if (!page.includes(plain)) throw new Error(`index.html does not name ${plain}`)
    page = page.replaceAll(plain, `"/dashboard/${basename(path)}"`)
  }
  page = page.replace('<script', `${preloads(metafile)}<script`)
  writeFileSync(join(folder, 'index.html'), page)
  copyFileSync(join(source, 'icon.svg'), join(folder, 'icon.svg'))
  for (const name of readdirSync(folder)) {
    if (name.endsWith('.map')) continue
    const bytes = readFileSync(join(folder, name))
    for (const [ending, pack] of Object.entries(PACKED))
      writeFileSync(join(folder, `${name}.${ending}`), pack(bytes))
  }
  return metafile
}

/** Links to the scripts that the first one imports, and to those of each part that it loads later, by the part. */
function preloads({ outputs }) {
  const partsOf = new Map()
  for (const [path, { entryPoint }] of Object.entries(outputs))
    if (/\.tsx?$/.test(entryPoint)) {
      const part = basename(entryPoint).replace(/\.tsx?$/, '')
      for (const one of importedBy(outputs, path))
        partsOf.set(one, [...(partsOf.get(one) ?? []), part])
    }
  return [...partsOf]
    .filter(([path]) => !/\/(?:main|preload)-/.test(path))
    .map(([path, parts]) => {
      const when = parts.includes('main') ? 'rel="modulepreload"' : `data-of="${parts.join(' ')}"`
      return `<link ${when} href="/dashboard/${basename(path)}" />`
    })
    .join('')
}

/** A script and what it imports, directly or not, apart from what it loads later. */
function importedBy(outputs, first) {
  const found = new Set([first])
  for (const path of found)
    for (const { path: imported, kind } of outputs[path].imports)
      if (kind === 'import-statement') found.add(imported)
  return found
}

/** Writes the bootstrap of Envoy as JSON, since parsing its YAML is a quarter of what a start of the launcher costs. */
export async function writeBootstrapData(root) {
  const { parse } = await import('yaml')
  const folder = join(root, 'dist', 'envoy')
  mkdirSync(folder, { recursive: true })
  const source = readFileSync(join(root, 'envoy', 'bootstrap.yaml'), 'utf8')
  writeFileSync(
    join(folder, 'bootstrap.json'),
    JSON.stringify(parse(source, { maxAliasCount: -1 })),
  )
}

/** Writes what the scanner needs to know of the words of its patterns. */
export async function writeWordSieve(root) {
  const { build } = await import('esbuild')
  const program = join(root, 'dist', '.build-sieve.mjs')
  await build({
    absWorkingDir: root,
    entryPoints: ['core/scanner/sieve/build-sieve.ts'],
    outfile: program,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    external: NATIVE,
    logLevel: 'error',
  })
  // In a process of its own, since this takes a second.
  await promisify(execFile)(process.execPath, [program])
  rmSync(program)
}

/** Its process would run on for a while. */
export async function endBundler() {
  const { stop } = await import('esbuild')
  await stop()
}
