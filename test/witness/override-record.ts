import { createHash } from 'node:crypto'
import type { OverrideShape } from './override-shapes.ts'

/** What real servers made of the shapes. */
export interface OverrideRecord {
  /** Of the shapes that the places below are of. */
  readonly shapes_sha256: string
  readonly shapes: number
  readonly servers: Readonly<Record<string, ServerRecord>>
}

export interface ServerRecord {
  readonly version: string
  /** How many shapes it took for another call. */
  readonly count: number
  /** The places of those shapes, as ranges: `0-4 7`. */
  readonly overridden: string
}

export const hashOfShapes = (shapes: readonly OverrideShape[]): string =>
  createHash('sha256').update(JSON.stringify(shapes)).digest('hex')

export function writeRanges(places: readonly number[]): string {
  const ranges: [number, number][] = []
  for (const place of places) {
    const last = ranges.at(-1)
    if (last !== undefined && last[1] === place - 1) last[1] = place
    else ranges.push([place, place])
  }
  return ranges.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`)).join(' ')
}

export const readRanges = (text: string): readonly number[] =>
  text === ''
    ? []
    : text.split(' ').flatMap((range) => {
        const [from = 0, to = from] = range.split('-').map(Number)
        return Array.from({ length: to - from + 1 }, (_, i) => from + i)
      })
