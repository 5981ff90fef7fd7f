export interface GuideStep {
  /** As a shell reads it; a command of several lines has them all. */
  readonly command: string
  /** The lines that the guide shows for it. */
  readonly shown: readonly string[]
}

const FENCE = /^```console\n(.*?)^```$/gms

/** The commands of all `console` blocks of a guide, in order: `$ ` begins a command, `> ` continues it, the rest is its output. */
export function guideSteps(markdown: string): readonly GuideStep[] {
  const steps: { command: string; shown: string[] }[] = []
  for (const [, block = ''] of markdown.matchAll(FENCE))
    for (const line of block.trimEnd().split('\n')) {
      const last = steps.at(-1)
      if (line.startsWith('$ ')) steps.push({ command: line.slice(2), shown: [] })
      else if (last === undefined) throw new Error(`a block begins without a command: ${line}`)
      else if (line.startsWith('> ')) last.command += `\n${line.slice(2)}`
      else last.shown.push(line)
    }
  return steps
}
