import { join } from 'node:path'
import type { Language } from './ask-readers.ts'

/** The languages whose readers most witnesses ask. `packages` are those of Python, with versions, separated by spaces. */
export const readerLanguages = (work: string, packages: string): readonly Language[] => {
  const python = join(work, 'venv', 'bin', 'python')
  return [
    {
      name: 'Python',
      prepare: [
        ['.', 'python3', '-m', 'venv', 'venv'],
        ['.', python, '-m', 'pip', 'install', '--quiet', ...packages.split(' ')],
      ],
      run: [python, join(work, 'python.py')],
    },
    { name: 'Ruby', prepare: [], run: ['ruby', join(work, 'ruby.rb')] },
    { name: 'PHP', prepare: [], run: ['php', join(work, 'php.php')] },
    { name: 'Perl', prepare: [], run: ['perl', join(work, 'perl.pl')] },
    {
      name: 'Go',
      prepare: [['go', 'go', 'build', '-o', 'readers', '.']],
      run: [join(work, 'go', 'readers')],
    },
    {
      name: 'JavaScript',
      prepare: [['node', 'npm', 'install', '--ignore-scripts', '--no-audit', '--no-fund']],
      run: [process.execPath, join(work, 'node', 'node.mjs')],
    },
  ]
}
