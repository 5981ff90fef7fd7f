import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

const IMPORTED = /(?:\bfrom|\bimport\(|^import)\s*["'](\.[^"']+)["']/gm

/** Which unit tests import a compiled file, directly or through others. */
export class ImportGraph {
  readonly #imports = new Map<string, readonly string[]>()
  readonly #tests: readonly string[]

  /** @param dist the folder of the compiled files */
  constructor(dist: string) {
    const folder = join(dist, 'test', 'unit')
    this.#tests = readdirSync(folder)
      .filter((name) => name.endsWith('.test.js'))
      .map((name) => join(folder, name))
  }

  /** Those that import it most directly first. A test that is not among them cannot find what is wrong with the file. */
  testsOf(file: string): readonly string[] {
    return this.#tests
      .map((test) => ({ test, distance: this.#distance(test, file) }))
      .filter(({ distance }) => distance !== null)
      .sort((a, b) => (a.distance ?? 0) - (b.distance ?? 0) || (a.test < b.test ? -1 : 1))
      .map(({ test }) => test)
  }

  #distance(from: string, to: string): number | null {
    const seen = new Set([from])
    for (let level = [from], distance = 0; level.length > 0; distance++) {
      if (level.includes(to)) return distance
      level = level.flatMap((file) => this.#importsOf(file)).filter((file) => !seen.has(file))
      for (const file of level) seen.add(file)
    }
    return null
  }

  #importsOf(file: string): readonly string[] {
    const known = this.#imports.get(file)
    if (known !== undefined) return known
    const found = [...readFileSync(file, 'utf8').matchAll(IMPORTED)]
      .map(([, specifier = '']) => resolve(dirname(file), specifier))
      .filter((path) => path.endsWith('.js'))
    this.#imports.set(file, found)
    return found
  }
}
