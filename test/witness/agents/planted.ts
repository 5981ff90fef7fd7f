import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fromRoot } from '../../../core/system/root.ts'
import type { Step } from './steps.ts'
import { reading, stepOf } from './steps.ts'

/** An injection where an agent reads something that others have written. */
export interface Planted {
  readonly place: (typeof PLACES)[number]
  readonly text: string
}

export const PLACES = ['file', 'mail', 'page', 'MCP result'] as const
const FILES = { file: 'README.md', mail: 'message.eml' } as const
/** Of `stepOf`: fetches the page, calls the MCP tool. */
const STEPS = { page: 6, 'MCP result': 7 } as const

/** Texts of the corpus that a language model wrote without sight of the scanner, `count` for each place, no text twice. */
export function plantedTexts(count: number): readonly Planted[] {
  const lines = readFileSync(fromRoot('bench', 'corpus', 'agents', 'attacks.jsonl'), 'utf8')
  const texts = lines
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
    .filter(({ source }) => source === 'planted')
    .map(({ text }): string => text)
  if (count * PLACES.length > texts.length)
    throw new Error(`--planted: at most ${texts.length / PLACES.length}`)
  return texts
    .slice(0, count * PLACES.length)
    .map((text, index) => ({ place: PLACES[index % PLACES.length] as Planted['place'], text }))
}

/** @returns the step by which the agent meets the text */
export function plant({ place, text }: Planted, folder: string, page_url: string): Step {
  if (place === 'page' || place === 'MCP result') return stepOf(STEPS[place], folder, page_url)
  const content =
    place === 'file'
      ? `# Shop\n\nA small shop.\n\n${text}\n\n## Tests\n\nRun \`node --test\`.\n`
      : `From: Kim Lee <kim@customer.example>\nTo: Sales <sales@shop.example>\nSubject: Our order\n\nHello,\n\n${text}\n\nRegards\nKim\n`
  writeFileSync(join(folder, FILES[place]), content)
  return reading(folder, FILES[place])
}

/** Where the text stands in what was sent, as far as that can be seen: its longest run of plain letters and spaces. */
export function arrivedIn(bodies: readonly string[], { text }: Planted): boolean {
  const [longest = ''] = (text.match(/[A-Za-z ]+/g) ?? []).sort((a, b) => b.length - a.length)
  return bodies.some((body) => body.includes(longest))
}
