// Puts each program and all modules that it loads into one file, which replaces what the compiler wrote for the first of
// them: Node starts a file in a third of the CPU time that it needs for hundreds of modules. Without packages at its top,
// since prepare.mjs imports it before any is installed.

import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** What Node is started with: processes and worker threads. */
const PROGRAMS = [
  'admin/main',
  'admin/api-thread',
  'cli/bin',
  'cli/echo-api',
  'core/inspection/scan-worker',
  'ext-proc/main',
  'ext-proc/access-log/main',
]
/** Below dist: what several programs load, and what they load by need. */
const CHUNKS = 'chunks'
/** Compiled for the machine, so it stays a package. */
const NATIVE = ['re2']
/** Fastify requires them when it is used in ways that the product does not: its own validators, and calls without a socket. */
const UNUSED = [
  '@fastify/ajv-compiler',
  '@fastify/fast-json-stringify-compiler',
  'light-my-request',
]
/** Packages in CommonJS load the modules of Node by it. */
const REQUIRE =
  "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);"

/** @throws (rejects) with the messages of esbuild */
export async function bundlePrograms(root) {
  const { build } = await import('esbuild')
  rmSync(join(root, 'dist', CHUNKS), { recursive: true, force: true })
  await build({
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
    logLevel: 'error',
  })
}

/** What the compiler has made of the console, and its packages, in one file: a browser asks for a hundred modules one by one. */
export async function bundleConsole(root) {
  const { build } = await import('esbuild')
  await build({
    absWorkingDir: root,
    entryPoints: ['dist/admin/dashboard/main.js'],
    outfile: 'dist/admin/console.js',
    bundle: true,
    // A sixth fewer bytes on the line.
    minify: true,
    format: 'esm',
    target: 'es2022',
    logLevel: 'error',
  })
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
