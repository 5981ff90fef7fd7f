/** A string of an event, and the place it has in events of its kind. */
export type EventText = { readonly path: string; readonly text: string }

/** More strings than an event of any API holds; the event as a whole is scanned besides. */
const LARGEST_TEXT_COUNT = 256
const DEEPEST_PATH = 16

/** The `data` of one event, its lines joined as the standard says; null where it has none. */
export const eventData = (event: string): string | null => {
  const lines: string[] = []
  for (const line of event.split(/\r\n|\n|\r/)) {
    if (line.startsWith('data:')) lines.push(line.slice(line[5] === ' ' ? 6 : 5))
    else if (line === 'data') lines.push('')
  }
  return lines.length === 0 ? null : lines.join('\n')
}

const collect = (value: unknown, path: string, depth: number, into: EventText[]): void => {
  if (into.length >= LARGEST_TEXT_COUNT || depth > DEEPEST_PATH) return
  if (typeof value === 'string') {
    if (value !== '') into.push({ path, text: value })
    return
  }
  if (Array.isArray(value)) {
    for (const [index, one] of value.entries()) collect(one, `${path}[${index}]`, depth + 1, into)
    return
  }
  if (typeof value !== 'object' || value === null) return
  // Choices and content blocks are told apart by a member, not by their place.
  const { index } = value as { index?: unknown }
  const here = typeof index === 'number' ? `${path}#${index}` : path
  for (const [key, one] of Object.entries(value)) collect(one, `${here}.${key}`, depth + 1, into)
}

/** The strings of an event by their place; the whole data, if it is not JSON. */
export const eventTexts = (data: string): EventText[] => {
  if (!/^\s*[[{"]/.test(data)) return [{ path: '', text: data }]
  try {
    const texts: EventText[] = []
    collect(JSON.parse(data), '', 0, texts)
    return texts
  } catch {
    return [{ path: '', text: data }]
  }
}
