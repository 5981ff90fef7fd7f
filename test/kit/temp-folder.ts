import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const made: string[] = []

/** A folder that only the owner may enter (0700), removed when the test process ends. */
export function tempFolder(name = 'test', parent = tmpdir()): string {
  if (made.length === 0) {
    process.once('exit', () => {
      for (const folder of made) {
        try {
          rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
        } catch {
          // A process of the test that is still ending may write there; the rest must run anyway.
        }
      }
    })
  }
  const folder = mkdtempSync(join(parent, `agw-${name}-`))
  made.push(folder)
  return folder
}

/** For the files of a store. `npm test` puts them into memory where there is room. */
export const storeFolder = (name: string): string =>
  tempFolder(name, process.env['TEST_STORE_DIR'] ?? tmpdir())
