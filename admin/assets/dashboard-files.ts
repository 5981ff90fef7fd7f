import { createHash } from 'node:crypto'
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { fromRoot } from '../../core/root.ts'

export interface DashboardFile {
  readonly path: string
  readonly type: string
  readonly text: string
  readonly etag: string
}

/** Import map: bare names that the compiled pages import, and their files. */
const PACKAGES = ['eventsource-parser', 'preact', 'preact/hooks', 'preact/jsx-runtime'] as const
/** Modules of ours that the pages share with the server; relative to /dashboard, as to dist/admin/dashboard. */
const SHARED = ['core/events.js', 'core/model.js', 'core/reasons.js'] as const
const STILLS = { 'style.css': 'text/css', 'icon.svg': 'image/svg+xml' } as const
const SCRIPT = 'text/javascript'

export interface Dashboard {
  readonly files: readonly DashboardFile[]
  readonly policy: string
}

/** All files of the console, read once. Null if it is not built. */
export function dashboardFiles(): Dashboard | null {
  const built = fromRoot('dist', 'admin', 'dashboard')
  if (!existsSync(built)) return null
  const modules = readdirSync(built, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.js'))
    .sort()
    .map((name) => file(`/dashboard/${name}`, SCRIPT, readFileSync(`${built}/${name}`, 'utf8')))
  const shared = SHARED.map((name) =>
    file(`/${name}`, SCRIPT, readFileSync(fromRoot('dist', name), 'utf8')),
  )
  const packages = PACKAGES.map((name) =>
    file(
      `/dashboard/packages/${name}.js`,
      SCRIPT,
      readFileSync(fileURLToPath(import.meta.resolve(name)), 'utf8'),
    ),
  )
  const stills = Object.entries(STILLS).map(([name, type]) =>
    file(`/dashboard/${name}`, type, readSource(name)),
  )
  const imports = Object.fromEntries(PACKAGES.map((name, i) => [name, packages[i]?.path ?? '']))
  const importMap = JSON.stringify({ imports })
  const preloads = [...packages, ...shared, ...modules].map(
    ({ path }) => `<link rel="modulepreload" href="${path}" />`,
  )
  const page = readSource('index.html')
    .replace('{{import_map}}', () => importMap)
    .replace('{{preloads}}', () => preloads.join('\n    '))
  const files = [file('/', 'text/html', page), ...stills, ...packages, ...shared, ...modules]
  return { files, policy: policyOf(importMap) }
}

/** The page may run only its own files and the import map, and connect only to this service. */
const policyOf = (importMap: string): string =>
  [
    "default-src 'none'",
    `script-src 'self' 'sha256-${createHash('sha256').update(importMap).digest('base64')}'`,
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

/** Without the source map reference, since source maps are not served. */
function file(path: string, type: string, content: string): DashboardFile {
  const text = content.replace(/^\/\/# sourceMappingURL=.*$/m, '')
  const etag = `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`
  return { path, type: `${type}; charset=utf-8`, text, etag }
}
