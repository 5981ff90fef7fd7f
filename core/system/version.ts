import { readFileSync } from 'node:fs'
import { fromRoot } from './root.ts'

const { version: ours } = JSON.parse(readFileSync(fromRoot('package.json'), 'utf8')) as {
  readonly version: string
}

/** The version of this program, so that operators can see which processes of a fleet run another. */
export const version: string = ours
