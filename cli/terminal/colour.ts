import type { Writable } from 'node:stream'
import { WriteStream } from 'node:tty'
import { styleText } from 'node:util'

export type Colour = 'red' | 'green' | 'yellow' | 'bold'
export type Paint = (colour: Colour, text: string) => string

const plain: Paint = (_, text) => text

/** Colours for a terminal that has them; `NO_COLOR` and `FORCE_COLOR` are respected as Node.js does. */
export function paintFor(stdout: Writable): Paint {
  return stdout instanceof WriteStream && stdout.hasColors() ? styleText : plain
}
