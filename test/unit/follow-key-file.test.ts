import { randomBytes } from 'node:crypto'
import { renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { followKeyFile } from '../../core/keys/follow-key-file.ts'
import { parseKeyRing } from '../../core/keys/seal.ts'
import { tempFolder } from '../kit/temp-folder.ts'
import { until } from '../kit/until.ts'

const INTERVAL_MS = 2
const [FIRST = '', SECOND = ''] = [0, 1].map(() => randomBytes(32).toString('base64'))
const idOf = (text: string): string => parseKeyRing(text).primary_id

for (const [name, change, onKeys = async () => undefined] of [
  ['is written in place', (file: string) => writeFileSync(file, SECOND)],
  [
    'is replaced by rename',
    (file: string) => {
      writeFileSync(`${file}.new`, SECOND)
      renameSync(`${file}.new`, file)
    },
  ],
  [
    'is missing for a while',
    async (file: string) => {
      rmSync(file)
      await new Promise((resolve) => setTimeout(resolve, 5 * INTERVAL_MS))
      writeFileSync(file, SECOND)
    },
  ],
  [
    'is empty, and then half written, for a while',
    async (file: string) => {
      for (const part of ['', SECOND.slice(0, 10), SECOND]) {
        writeFileSync(file, part)
        await new Promise((resolve) => setTimeout(resolve, 5 * INTERVAL_MS))
      }
    },
  ],
  [
    'has the old time and length after the change',
    (file: string) => {
      writeFileSync(file, SECOND)
      utimesSync(file, 0, 0)
    },
  ],
  [
    'changes to keys whose first use is rejected',
    (file: string) => writeFileSync(file, SECOND),
    (tries: number) => Promise.reject(new Error(`try ${tries}`)),
  ],
  [
    'changes to keys whose first use throws',
    (file: string) => writeFileSync(file, SECOND),
    (tries: number): Promise<undefined> => {
      throw new Error(`try ${tries}`)
    },
  ],
] as readonly (readonly [
  string,
  (file: string) => void | Promise<void>,
  ((tries: number) => Promise<undefined>)?,
])[])
  test(`the keys of a file are taken when it ${name}`, async () => {
    const file = join(tempFolder('keys'), 'key')
    writeFileSync(file, FIRST)
    const taken: string[] = []
    let tries = 0
    const stop = followKeyFile(
      file,
      (ring) => {
        const isNew = ring.primary_id === idOf(SECOND)
        if (isNew && tries++ < 2) {
          const failed = onKeys(tries)
          if (onKeys.length > 0) return failed
        }
        taken.push(ring.primary_id)
        return Promise.resolve()
      },
      INTERVAL_MS,
    )
    await until('the first keys', () => Promise.resolve(taken.includes(idOf(FIRST))))
    await change(file)
    await until('the second keys', () => Promise.resolve(taken.includes(idOf(SECOND))))
    stop()
  })
