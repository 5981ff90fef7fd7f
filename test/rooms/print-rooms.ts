import type { Rooms } from './analyse-rooms.ts'

export function printRooms({ stages, stages_of, strict }: Rooms): string {
  const all = Object.entries(stages_of)
  const inOne = all.filter(([, found]) => found.length === 1)
  const inSeveral = all.filter(([, found]) => found.length > 1)
  const lines = [`stages: ${stages.join(' > ')}`, '', 'entered in one stage:']
  for (const [room, [stage]] of inOne) lines.push(`  ${room.padEnd(24)} ${stage}`)
  lines.push('entered in several stages:')
  for (const [room, found] of inSeveral) lines.push(`  ${room.padEnd(24)} ${found.join(', ')}`)
  lines.push('', 'in the order of their first entry, with returns if a call of a helper counts:')
  for (const { room, returns } of strict)
    lines.push(`  ${room.padEnd(24)} ${returns === 0 ? 'none' : returns}`)
  const all_returns = strict.reduce((sum, { returns }) => sum + returns, 0)
  lines.push('', `folders entered: ${strict.length}; returns: ${all_returns}`, '')
  return lines.join('\n')
}
