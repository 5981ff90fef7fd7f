import { readFileSync } from 'node:fs'
import { fromRoot } from './root.ts'

const { version: ours } = JSON.parse(readFileSync(fromRoot('package.json'), 'utf8')) as {
  readonly version: string
}

/** Of this program, so that an operator sees which processes of a fleet are of another. */
export const version: string = ours
