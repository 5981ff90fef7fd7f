import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The folder that contains package.json, whether this file runs from source or from dist. */
export const root = findRoot(dirname(fileURLToPath(import.meta.url)))

/** An absolute path to a file of the package that is not compiled: Lua, proto, templates, data. */
export const fromRoot = (...parts: readonly string[]): string => join(root, ...parts)

function findRoot(folder: string): string {
  if (existsSync(join(folder, 'package.json'))) return folder
  const parent = dirname(folder)
  if (parent === folder) throw new Error('package.json not found above the running program')
  return findRoot(parent)
}
