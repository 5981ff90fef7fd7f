import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

/** `npm run bench -- NAME [arguments]` runs `bench/NAME.ts`; without a name, CPU time per call of all processes. */
const [name = 'whole', ...rest] = process.argv.slice(2)
const file = join(fileURLToPath(new URL('.', import.meta.url)), `${name}.js`)
if (!/^[a-z-]+$/.test(name) || !existsSync(file)) {
  process.stderr.write(`There is no bench "${name}": see the files in bench/.\n`)
  process.exit(2)
}
process.argv = [process.argv[0] ?? 'node', file, ...rest]
// Each process that a bench starts is ended by a listener of its own.
process.setMaxListeners(0)
await import(pathToFileURL(file).href)
