import { cpSync, readdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../../core/system/root.ts'
import { tempFolder } from '../kit/temp-folder.ts'

/** Everything but packages, with the compiled files: edits are made there and nowhere else. */
export function copyOfPackage(): string {
  const folder = tempFolder('mutations')
  for (const name of readdirSync(root)) {
    if (name === 'node_modules') symlinkSync(join(root, name), join(folder, name))
    else if (!name.startsWith('.'))
      cpSync(join(root, name), join(folder, name), { recursive: true })
  }
  return folder
}
