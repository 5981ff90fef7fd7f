import { join } from 'node:path'
import { EVENT_STREAMS } from '../kit/event-streams.ts'
import { askReaders, type Language } from './ask-readers.ts'

/**
 * Asks real readers of event streams what they make of the streams in `test/kit/event-streams.ts`. The unit tests hold
 * our reader against the record, `events/readers.json`: by stream who saw the denied tool in a list, or the attack.
 *
 *     node cli/prepare.mjs build && node dist/test/witness/event-readers.js [--record]
 */
const PACKAGES = 'httpx==0.28.1 httpx-sse==0.4.3 sseclient-py==1.9.0 openai==3.54.0'

const languages = (work: string): readonly Language[] => {
  const python = join(work, 'venv', 'bin', 'python')
  return [
    {
      name: 'Python',
      prepare: [
        ['.', 'python3', '-m', 'venv', 'venv'],
        ['.', python, '-m', 'pip', 'install', '--quiet', ...PACKAGES.split(' ')],
      ],
      run: [python, join(work, 'python.py')],
    },
    {
      name: 'JavaScript',
      prepare: [['node', 'npm', 'install', '--ignore-scripts', '--no-audit', '--no-fund']],
      run: [process.execPath, join(work, 'node', 'node.mjs')],
    },
  ]
}

await askReaders({
  folder: 'events',
  texts: EVENT_STREAMS,
  languages,
  describe: ({ list, attack }) => {
    const seen = [...(list ? ['list'] : []), ...(attack ? ['attack'] : [])]
    return seen.length === 0 ? null : seen.join(' and ')
  },
})
