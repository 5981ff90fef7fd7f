import { isBinary } from '../format/readable-runs.ts'
import type { Source } from '../format/source.ts'
import { eventTexts } from './event-texts.ts'
import { GROWING_TEXTS_MAX, isRepeated, locationAt } from './growing-text.ts'

interface Growing {
  readonly parts: string[]
  last: string
}

/**
 * The texts that grow over the events or JSON lines of a whole body, one for each position, since clients join them
 * whatever type the response declares. Empty for a body that is neither.
 */
export function joinedLines(body: Buffer): Source[] {
  if (isBinary(body)) return []
  const growing = new Map<string, Growing>()
  for (const line of body
    .toString('utf8')
    .replace(/^\ufeff/, '')
    .split(/[\r\n]+/)) {
    const data = /^data:(.*)$/s.exec(line)?.[1] ?? (isJsonLine(line) ? line : null)
    if (data === null) continue
    for (const { path, text } of eventTexts(Buffer.from(data.trim()))) add(growing, path, text)
  }
  return [...growing].flatMap(([path, { parts }]) =>
    parts.length < 2
      ? []
      : [
          {
            bytes: Buffer.from(parts.join('')),
            format: 'text' as const,
            location: locationAt(path),
          },
        ],
  )
}

/** A value on a line of its own, and not the first line of an indented one. */
const isJsonLine = (line: string): boolean => /^\s*(?:\{.*\}|\[.*\])\s*$/s.test(line)

function add(growing: Map<string, Growing>, path: string, text: string): void {
  const place = growing.has(path) || growing.size < GROWING_TEXTS_MAX ? path : ''
  const found = growing.get(place) ?? { parts: [], last: '' }
  growing.set(place, found)
  if (isRepeated(text, found.last)) return
  found.parts.push(text)
  found.last = text
}
