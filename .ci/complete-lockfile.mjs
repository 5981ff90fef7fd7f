// Adds the packages of other platforms to package-lock.json. `npm install` leaves them out where the registry at hand does
// not have them, and `npm ci` then refuses the lockfile everywhere.
import { readFileSync, writeFileSync } from 'node:fs'

const FILE = new URL('../package-lock.json', import.meta.url)
const PLATFORM =
  /(android|darwin|freebsd|linux|openharmony|win32)-(arm|arm64|ia32|ppc64|riscv64|s390x|x64)(?:-|$)/

const lock = JSON.parse(readFileSync(FILE, 'utf8'))
const { packages } = lock
let added = 0
for (const { dev, optionalDependencies = {} } of Object.values(packages))
  for (const [name, version] of Object.entries(optionalDependencies)) {
    const [, os, cpu] = PLATFORM.exec(name) ?? []
    if (packages[`node_modules/${name}`] !== undefined || os === undefined) continue
    const libc = /musl/.test(name) ? ['musl'] : /gnu/.test(name) ? ['glibc'] : undefined
    const entry = { version, cpu: [cpu], ...(dev ? { dev } : {}), ...(libc ? { libc } : {}) }
    packages[`node_modules/${name}`] = { ...entry, optional: true, os: [os] }
    added++
  }
const sorted = Object.entries(packages).sort(([a], [b]) => (a < b ? -1 : 1))
lock.packages = Object.fromEntries(sorted)
if (added > 0) writeFileSync(FILE, `${JSON.stringify(lock, null, 2)}\n`)
process.stdout.write(`${added} packages of other platforms added to package-lock.json\n`)
