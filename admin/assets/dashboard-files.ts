import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { fromRoot } from '../../core/root.ts'

export interface DashboardFile {
  readonly path: string
  readonly type: string
  readonly text: string
  readonly etag: string
}

const STILLS = { 'style.css': 'text/css', 'icon.svg': 'image/svg+xml' } as const
const SCRIPT = 'text/javascript'

export interface Dashboard {
  readonly files: readonly DashboardFile[]
  readonly policy: string
}

/** All files of the console, read once. Null if it is not built. */
export function dashboardFiles(): Dashboard | null {
  const built = fromRoot('dist', 'admin', 'console.js')
  if (!existsSync(built)) return null
  const stills = Object.entries(STILLS).map(([name, type]) =>
    file(`/dashboard/${name}`, type, readSource(name)),
  )
  const page = file('/', 'text/html', readSource('index.html'))
  const script = file('/dashboard/main.js', SCRIPT, readFileSync(built, 'utf8'))
  return { files: [page, ...stills, script], policy: POLICY }
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

const readSource = (name: string): string =>
  readFileSync(fromRoot('admin', 'dashboard', name), 'utf8')

function file(path: string, type: string, text: string): DashboardFile {
  const etag = `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`
  return { path, type: `${type}; charset=utf-8`, text, etag }
}
