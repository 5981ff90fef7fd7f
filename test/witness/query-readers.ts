import { join } from 'node:path'
import { QUERY_TEXTS } from '../kit/query-texts.ts'
import { askReaders, type Language } from './ask-readers.ts'

/**
 * Asks real readers of query strings which of two values of `api_key` they take: the one in a spelling of
 * `test/kit/query-texts.ts`, or the one that the gateway appends. The unit tests compare what the gateway removes with the
 * record, `query/readers.json`.
 *
 *     node cli/prepare.mjs build && node dist/test/witness/query-readers.js [--record]
 *
 * It needs some of: Python 3 with venv, Ruby with Rack, PHP, Perl with CGI and Mojolicious, Go, Node.
 */
const PACKAGES =
  'werkzeug==3.1.3 django==5.2.8 starlette==0.50.0 tornado==6.5.2 bottle==0.13.4 webob==1.8.9 falcon==4.2.0 yarl==1.22.0'

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

await askReaders({
  folder: 'query',
  texts: QUERY_TEXTS,
  languages,
  describe: (value) => (JSON.stringify(value).includes('theirs') ? 'theirs' : null),
})
