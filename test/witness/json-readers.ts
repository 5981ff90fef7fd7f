import { join } from 'node:path'
import { JSON_TEXTS } from '../kit/json-texts.ts'
import { askReaders, type Language } from './ask-readers.ts'
import { readerLanguages } from './reader-languages.ts'

/**
 * Asks real readers of JSON, in nine languages, what they make of the texts in `test/kit/json-texts.ts`. The unit tests
 * hold our reader against the record, `json/readers.json`: by text what was seen (method, tool, and whether the note is
 * the attack), and by whom.
 *
 *     node cli/prepare.mjs build && node dist/test/witness/json-readers.js [--record]
 *
 * It needs some of: Python 3 with venv, Ruby, PHP, Perl, Go, Node, Java with Maven, Rust, and g++ with cJSON, json-c,
 * nlohmann and RapidJSON (Debian: libcjson-dev libjson-c-dev nlohmann-json3-dev rapidjson-dev).
 */
const PACKAGES =
  'orjson==3.13.0 ujson==6.1.0 simplejson==4.3.0 python-rapidjson==1.25 msgspec==0.22.0 pydantic-core==2.50.4 json5==0.17.3 hjson==3.1.0 demjson3==3.0.6 pyyaml'

const languages = (work: string): readonly Language[] => {
  const java = `cd ${join(work, 'java')} && java -cp target/classes:$(cat classpath) Readers`
  return [
    ...readerLanguages(work, PACKAGES),
    {
      name: 'C',
      prepare: [['c', 'g++', '-O1', '-o', 'readers', 'readers.cpp', '-lcjson', '-ljson-c']],
      run: [join(work, 'c', 'readers')],
    },
    {
      name: 'Java',
      prepare: [
        [
          'java',
          'mvn',
          '-q',
          'compile',
          'dependency:build-classpath',
          '-Dmdep.outputFile=classpath',
        ],
      ],
      run: ['sh', '-c', java],
    },
    {
      name: 'Rust',
      prepare: [['rust', 'cargo', 'build', '--quiet', '--release']],
      run: [join(work, 'rust', 'target', 'release', 'readers')],
    },
  ]
}

await askReaders({
  folder: 'json',
  texts: JSON_TEXTS,
  languages,
  describe: ({ method, tool, note }) => JSON.stringify([method, tool, note]),
})
