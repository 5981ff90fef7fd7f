import { QUERY_TEXTS } from '../kit/query-texts.ts'
import { askReaders } from './ask-readers.ts'
import { readerLanguages } from './reader-languages.ts'

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

await askReaders({
  folder: 'query',
  texts: QUERY_TEXTS,
  languages: (work) => readerLanguages(work, PACKAGES),
  describe: (value) => (JSON.stringify(value).includes('theirs') ? 'theirs' : null),
})
