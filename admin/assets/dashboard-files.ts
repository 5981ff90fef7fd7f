import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { fromRoot } from '../../core/system/root.ts'

export interface DashboardFile {
  readonly path: string
  readonly type: string
  readonly cache: string
  readonly etag: string
  /** As it is, and as the build has compressed it. */
  readonly plain: Buffer
  readonly br: Buffer
  readonly gzip: Buffer
}

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml; charset=utf-8',
}
/** A name with a hash of the content, as esbuild makes it. */
const HASHED = /-[0-9A-Z]{8}\.(?:css|js)$/
const FOR_EVER = 'public, max-age=31536000, immutable'
const REVALIDATED = 'no-cache'
const PAGE = 'index.html'

export interface Dashboard {
  readonly files: readonly DashboardFile[]
  readonly policy: string
}

/** All files of the console, read once. Null if it is not built. */
export function dashboardFiles(folder = fromRoot('dist', 'console')): Dashboard | null {
  if (!existsSync(join(folder, PAGE))) return null
  const names = readdirSync(folder).filter((name) => extname(name) in TYPES)
  return { files: names.map((name) => readFile(folder, name)), policy: POLICY }
}

/** The page may run only its own file, and connect only to this service. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

function readFile(folder: string, name: string): DashboardFile {
  const plain = readFileSync(join(folder, name))
  return {
    path: name === PAGE ? '/' : `/dashboard/${name}`,
    type: TYPES[extname(name)] ?? '',
    cache: HASHED.test(name) ? FOR_EVER : REVALIDATED,
    etag: `"${createHash('sha256').update(plain).digest('base64url').slice(0, 22)}"`,
    plain,
    br: readFileSync(join(folder, `${name}.br`)),
    gzip: readFileSync(join(folder, `${name}.gz`)),
  }
}
