import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { connectRedis } from '../core/redis/connect-redis.ts'
import { cpuMicros, type Product, ROLES } from './subjects.ts'

/** Until the jobs of a start are done. */
const QUIET_AFTER_MS = 30_000
const COMMANDS_SHOWN = 12

/** CPU time of each role, and commands of the store without calls. Commands of scripts count, too. */
export async function measureIdle(
  products: readonly Product[],
  seconds: number,
  print: (line: string) => void,
): Promise<void> {
  await wait(QUIET_AFTER_MS)
  const before = await Promise.all(products.map(sampleOf))
  await wait(seconds * 1_000)
  const after = await Promise.all(products.map(sampleOf))
  print(`\nidle: ms of CPU and commands of the store per second, for ${seconds} s`)
  const columns = ['', ...ROLES, 'whole', 'commands/s']
  for (const cells of [columns, columns.map(() => '---')]) print(`| ${cells.join(' | ')} |`)
  for (const [i, { name }] of products.entries()) {
    const [from, to] = [before[i], after[i]]
    if (from === undefined || to === undefined) continue
    const cpu = ROLES.map((role) => (to.cpu.get(role) ?? 0) - (from.cpu.get(role) ?? 0))
    const whole = cpu.reduce((sum, one) => sum + one, 0)
    const counts = [...to.commands].map(([command, count]) => ({
      command,
      count: (count - (from.commands.get(command) ?? 0)) / seconds,
    }))
    const sum = counts.reduce((all, { count }) => all + count, 0)
    const shown = [...cpu, whole].map((us) => (us / 1_000 / seconds).toFixed(1))
    print(`| ${[name, ...shown, sum.toFixed(0)].join(' | ')} |`)
    const most = counts.toSorted((a, b) => b.count - a.count).slice(0, COMMANDS_SHOWN)
    print(most.map(({ command, count }) => `${command} ${count.toFixed(1)}`).join(', '))
  }
}

async function sampleOf({ folder, pids }: Product) {
  const redis = connectRedis(`unix://${join(folder, 'run', 'valkey.sock')}`, {
    name: 'bench',
    role: 'queue',
  })
  const text = await redis.info('commandstats')
  redis.disconnect()
  const rows = text.matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm)
  const commands = new Map([...rows].map(([, name = '', calls]) => [name, Number(calls)]))
  return { cpu: cpuMicros(pids()), commands }
}
