import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join, matchesGlob, relative } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { readRule } from '../core/catalogue/rule-text.ts'
import { TEMPLATES } from '../core/catalogue/templates/all.ts'
import type { TemplateDescription } from '../core/catalogue/templates/template.ts'
import { tempFolder } from '../test/kit/temp-folder.ts'

/**
 *   npm run bench -- templates [NAME]
 *
 * Compares each method and path of the actions of each template with the public description that it pins: an OpenAPI or discovery
 * document, a service model of AWS, or the source of the API's SDK, from its package. Prints what the description has and what it has not.
 */
interface Operation {
  readonly method: string
  /** `*` for a parameter, `**` for one of several segments. */
  readonly segments: readonly string[]
}

type Described = Exclude<TemplateDescription, { readonly none: string }>

const folder = tempFolder('descriptions')
const unpacked = new Map<string, string>()

/** The unpacked package; each is downloaded once, by the ordinary client of its registry. */
function unpack({ npm, pypi }: Described): string {
  const name = npm ?? pypi ?? ''
  const known = unpacked.get(name)
  if (known !== undefined) return known
  const into = join(folder, String(unpacked.size))
  const inherit = { stdio: ['ignore', 'ignore', 'inherit'] as ['ignore', 'ignore', 'inherit'] }
  execFileSync('mkdir', ['-p', into])
  if (npm === undefined) {
    execFileSync('python3', ['-m', 'pip', 'download', '-q', '--no-deps', '-d', into, name], inherit)
    const [wheel = ''] = readdirSync(into)
    execFileSync('python3', ['-m', 'zipfile', '-e', join(into, wheel), into], inherit)
  } else {
    execFileSync('npm', ['pack', '--silent', '--pack-destination', into, name], inherit)
    const [archive = ''] = readdirSync(into)
    execFileSync('tar', ['xzf', join(into, archive), '-C', into, '--strip-components=1'], inherit)
  }
  unpacked.set(name, into)
  return into
}

function operationsOf(description: Described): readonly Operation[] {
  const root = unpack(description)
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .map((name) => join(root, name))
    .filter((file) => matchesGlob(relative(root, file), description.files))
    .filter((file) => statSync(file).isFile())
  return files.flatMap((file) => {
    const bytes = readFileSync(file)
    const text = (file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString()
    const found = /\.json(?:\.gz)?$/.test(file) ? ofDocument(JSON.parse(text)) : ofSource(text)
    return found.flatMap(([method, path]) => {
      const operation = operationOf(method, path, description.prefix ?? '')
      return operation === null ? [] : [operation]
    })
  })
}

type Found = readonly (readonly [method: string, path: string])[]

interface Document {
  readonly paths?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  readonly operations?: Readonly<
    Record<string, { readonly http: { readonly method: string; readonly requestUri: string } }>
  >
  readonly servicePath?: string
  readonly resources?: Readonly<Record<string, Document>>
  readonly methods?: Readonly<Record<string, DiscoveredMethod>>
}

interface DiscoveredMethod {
  readonly httpMethod: string
  readonly path: string
  readonly mediaUpload?: { readonly protocols: { readonly simple?: { readonly path: string } } }
}

function ofDocument({ paths, operations, ...discovery }: Document, base = ''): Found {
  if (paths !== undefined)
    return Object.entries(paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => [method, path] as const),
    )
  if (operations !== undefined)
    return Object.values(operations).map(({ http }) => [http.method, http.requestUri] as const)
  const { servicePath = base, methods = {}, resources = {} } = discovery
  return [
    ...Object.values(methods).flatMap(({ httpMethod, path, mediaUpload }) => [
      [httpMethod, `/${servicePath}${path}`] as const,
      ...(mediaUpload?.protocols.simple === undefined
        ? []
        : [[httpMethod, mediaUpload.protocols.simple.path] as const]),
    ]),
    ...Object.values(resources).flatMap((resource) => ofDocument(resource, servicePath)),
  ]
}

const QUOTED = String.raw`(?:path\s*)?['"${'`'}](/?[^'"${'`'}]*)['"${'`'}]`
/** Of SDKs: `client.get('/models')`, `request('GET', '/v1/charges')`, and a method with a path in one object. */
const CALL = new RegExp(
  String.raw`_client\s*\.(get|post|put|patch|delete|getAPIList)\(\s*${QUOTED}`,
  'g',
)
const REQUEST = new RegExp(
  String.raw`_makeRequest\(\s*'(GET|POST|PUT|PATCH|DELETE)',\s*${QUOTED}`,
  'g',
)
const METHOD = /['"]?\bmethod['"]?\s*:\s*['"](get|post|put|patch|delete)['"]/gi
const PATH = new RegExp(
  String.raw`['"]?\b(?:path|url|uri)['"]?\s*:\s*(?:\([^)]*\)\s*=>\s*)?${QUOTED}`,
  'g',
)
const NAMED = /bindApiCall(?:WithOptionalArgument)?\(this, '([\w.]+)'\)/g

function ofSource(text: string): Found {
  const calls = [...text.matchAll(CALL), ...text.matchAll(REQUEST)]
  const named = [...text.matchAll(NAMED)].flatMap(([, name = '']) =>
    ['GET', 'POST'].map((method) => [method, name] as const),
  )
  const paths = [...text.matchAll(PATH)].map(({ 0: all, 1: path = '', index }) => ({
    path,
    begin: index,
    end: index + all.length,
  }))
  const pairs = [...text.matchAll(METHOD)].flatMap(({ 0: all, 1: method = '', index }) => {
    const found = paths.find(({ begin, end }) => {
      const between = begin > index ? text.slice(index + all.length, begin) : text.slice(end, index)
      return !/[{}]/.test(between)
    })
    return found === undefined ? [] : [[method, found.path] as const]
  })
  return [
    ...calls.flatMap(([, method = '', path = '']) =>
      methodsOf(method, path).map((one) => [one, path] as const),
    ),
    ...named,
    ...pairs,
  ]
}

/** A list is read by GET, or by POST where it is a search. */
const methodsOf = (method: string, path: string): readonly string[] =>
  method !== 'getAPIList' ? [method] : path.endsWith('/search') ? ['GET', 'POST'] : ['GET']

function operationOf(method: string, text: string, prefix: string): Operation | null {
  const path = `/${text.replace(/^\//, '').split('?')[0] ?? ''}`
  if (!path.startsWith(prefix)) return null
  const plain = path
    .slice(prefix.length)
    // A parameter that stands for a path: {name=files/*}.
    .replace(/\{[\w.]+=([^}]*)\}/g, '$1')
    .replace(/\{[^}]*\+\}/g, '**')
    .replace(/\$?\{[^}]*\}/g, '*')
  const segments = plain.split('/').slice(1)
  return {
    method: method.toUpperCase(),
    segments: segments.map((one) => (one !== '**' && one.includes('*') ? '*' : one)),
  }
}

/** A word of a rule is a word of the description; a wildcard may be either. */
function covers(rule: readonly string[], operation: readonly string[]): boolean {
  const [first, ...rest] = rule
  if (first === undefined) return operation.length === 0
  const [word, ...more] = operation
  if (first === '**') return covers(rest, operation) || (word !== undefined && covers(rule, more))
  if (word === undefined) return false
  return (first === '*' || first === word) && covers(rest, more)
}

let [all, missing] = [0, 0]
for (const { name, base_url, actions, oauth, description } of TEMPLATES) {
  if (process.argv[2] !== undefined && process.argv[2] !== name) continue
  if ('none' in description) {
    process.stdout.write(`${name}: not compared: ${description.none}\n`)
    continue
  }
  const operations = operationsOf(description)
  const source = description.npm ?? description.pypi ?? ''
  process.stdout.write(`${name}: ${operations.length} operations in ${source}\n`)
  // A token endpoint that is a method of the API is in its description too.
  const token_path = oauth?.token_url.startsWith(`${base_url}/`)
    ? [`POST ${oauth.token_url.slice(base_url.length)}`]
    : []
  for (const [action, rules] of Object.entries({ ...actions, oauth: token_path })) {
    if (rules.length === 0) continue
    const wanted = rules.flatMap((text) => {
      const { methods = [], paths = [] } = readRule(text) ?? {}
      return methods.flatMap((method) => paths.map((path) => ({ method, path })))
    })
    const misses = wanted.filter(({ method, path }) => {
      const segments = path.split('/').slice(1)
      return !operations.some((one) => one.method === method && covers(segments, one.segments))
    })
    all += wanted.length
    missing += misses.length
    process.stdout.write(`  ${action}: ${wanted.length - misses.length} of ${wanted.length}\n`)
    for (const { method, path } of misses) process.stdout.write(`    no ${method} ${path}\n`)
  }
}
process.stdout.write(`${all - missing} of ${all} are in the descriptions\n`)
