import { connect, type Socket } from 'node:net'
import { once } from 'node:events'
import { type Environment, readSettings } from '../../core/settings/settings.ts'
import { dataDirAt } from '../launcher/data-dir.ts'
import { launcherSocket } from '../launcher/lock-data-dir.ts'
import { sendCommand } from '../launcher/serve-command.ts'

/** `agw restart`: has the launcher restart its processes one after the other. Throws a sentence if that fails. */
export async function runRestart(env: Environment, out: NodeJS.WritableStream): Promise<void> {
  const read = readSettings(env)
  if (!read.ok) throw new Error(read.problems.join('\n'))
  const dataDir = dataDirAt(read.settings.dataDir)
  const socket = await launcherOf(launcherSocket(dataDir))
  if (socket === null)
    throw new Error(
      `No gateway is running with the data directory ${dataDir.path}. Set AGW_DATA_DIR to the one that \`agw start\` uses.`,
    )
  await sendCommand(socket, 'restart', (line) => out.write(`${line}\n`))
}

async function launcherOf(path: string): Promise<Socket | null> {
  const socket = connect(path)
  return await once(socket, 'connect').then(
    () => socket,
    () => null,
  )
}
